/** How often each content was said, as a checkpoint keeps it, and at what time of events. */
export type SavedIds = readonly (readonly [digest: string, time: number, count: number])[];

/** What a checkpoint keeps of each source of batches; how far it is, stands in the positions of sources. */
export type SavedReceipts = Readonly<Record<string, { readonly epoch: number; readonly ids: readonly string[] }>>;

/** What the checkpoint of a placed pipeline has besides that of any other. */
export interface PlacedState {
  readonly ids: SavedIds;
  readonly receipts: SavedReceipts;
  /** Outputs for other placements that have not all of them in a checkpoint of their own. */
  readonly routed: unknown;
}
