import type { WorkerProcess } from '../liveness/process-map.ts';
import type { PlacementStrategy } from '../placement/choose-worker.ts';
import type { ClusterState, Migration, Placement, Worker } from '../state/cluster-state.ts';
import type { HeldPlacement } from '../workers-client/worker-client.ts';

/** A placement as its worker has told of it. */
export type Observed = Pick<HeldPlacement, 'epoch' | 'status'> & Partial<HeldPlacement>;

/** `problem`: why the program cannot run there. */
export interface Prepared {
  readonly problem?: string;
}

/** What is wanted, and what is known of how things are. */
export interface View {
  readonly state: ClusterState;
  readonly strategy: PlacementStrategy;
  /** Placements given away before. */
  readonly turn: number;
  /** What the process of a worker has; undefined while it was not heard of by this leader. */
  readonly held: (worker: Worker) => ReadonlyMap<string, Observed> | undefined;
  /** All that the process was granted has ended. */
  readonly isOver: (process: WorkerProcess) => boolean;
  /** It has been silent for so long that nobody waits for it any more. */
  readonly isForgotten: (worker: Worker) => boolean;
  /** It may also be taken for lost. */
  readonly mayBeReplaced: (worker: Worker) => boolean;
  /** Whether something that has failed may be tried again already. */
  readonly isDue: (what: string) => boolean;
  /** What came of having the target of a migration ready; undefined while that is not known. */
  readonly prepared: (migration: Migration) => Prepared | undefined;
  /** Whether the source of a migration was closed for it. What was only heard may be of an earlier close, which is over. */
  readonly isClosed: (migration: Migration) => boolean;
  /** Whether it is known which states all workers read: a last checkpoint is to be one of these. */
  readonly isFormatKnown: () => boolean;
  /** How long it is known here that a placement is to leave, ms. */
  readonly leavingMs: (placement: Placement) => number;
  /** Of what the worker of a placement is to have. */
  readonly revisionOf: (placement: Placement) => string;
}
