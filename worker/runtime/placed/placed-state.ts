/** How often each content was said, as a checkpoint keeps it, and at what time of events. */
export type SavedIds = readonly (readonly [digest: string, time: number, count: number])[];

/** The format of states from which ids of received events are saved by batch, and without what all of their source have in common. */
export const COMPACT_RECEIPTS_FORMAT = 5;
/** The format of states from which a worker makes ids with the index at which the placement came. */
export const CREATION_STATE_FORMAT = 5;

/** Ids of events of a source: whole in earlier formats, else by batch, with a space between two. */
export interface SavedReceipt {
  readonly epoch: number;
  readonly ids?: readonly string[];
  readonly batches?: readonly (readonly [sequence: number, keys: string])[];
}

/** What a checkpoint keeps of each source of batches; how far it is, stands in the positions of sources. */
export type SavedReceipts = Readonly<Record<string, SavedReceipt>>;

/** What the checkpoint of a placed pipeline has besides that of any other. */
export interface PlacedState {
  /** When the placement came, by which its outputs have other ids than those of one before it; absent of one that was told nothing. */
  readonly createdIndex?: number;
  readonly ids: SavedIds;
  readonly receipts: SavedReceipts;
  /** Outputs for other placements that have not all of them in a checkpoint of their own. */
  readonly routed: unknown;
}
