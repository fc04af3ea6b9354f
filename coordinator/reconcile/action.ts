import type { FormerHolder, LogIndex, Placement, Worker } from '../state/cluster-state.ts';
import type { Command } from '../state/commands.ts';

/** One step from what is to what is wanted. Doing it twice is as doing it once. */
export type Action = { readonly key: string } & (
  | { readonly kind: 'propose'; readonly command: Command }
  | { readonly kind: 'put'; readonly worker: Worker; readonly placement: Placement }
  /** Has the target of a migration ready, while the source runs. */
  | { readonly kind: 'prepare'; readonly worker: Worker; readonly placement: Placement; readonly migrationId: string }
  /** `isForGood`: nobody goes on with it. */
  | {
      readonly kind: 'delete';
      readonly worker: Worker;
      readonly placementId: string;
      readonly epoch: LogIndex;
      readonly isForGood: boolean;
    }
  /** Ends a placement for good, once it has done what it was given. */
  | { readonly kind: 'leave'; readonly worker: Worker; readonly placement: Placement }
  | { readonly kind: 'close'; readonly worker: Worker; readonly placement: Placement; readonly migrationId: string }
  | { readonly kind: 'reopen'; readonly worker: Worker; readonly placement: Placement }
  /** Has a process that may still run a placement stop it, or shows that it is not there. */
  | { readonly kind: 'stop'; readonly holder: FormerHolder; readonly placement: Placement }
);

/** Of one thing at most one action is under way at a time. */
export function placementKey(id: string): string {
  return `placement ${id}`;
}

export function workerKey(id: string): string {
  return `worker ${id}`;
}

/** Gives back a placement to be given away anew. */
export function release({ id, epoch }: Placement): Action {
  return { key: placementKey(id), kind: 'propose', command: { type: 'ReleasePlacement', payload: { id, epoch } } };
}
