import type { LaneSetup } from './lane.ts';
import type { LaneRecord } from './lane-record.ts';

/** What a lane's thread is started with. */
export interface LaneThreadSetup extends LaneSetup {
  readonly number: number;
  readonly programPaths: readonly string[];
  /** Digest of the program's sources: a thread that finds others does nothing. */
  readonly program: string;
}

/** So many records may be made, those made before included. */
export type ToLaneThread = number;

export type FromLaneThread = { readonly kind: 'record'; readonly record: LaneRecord } | { readonly kind: 'lost' };
