/**
 * What may follow what, for everything in the cluster that has a status. The state refuses any other change. Staying what it is is no
 * change, and always allowed.
 */
export const transitions = {
  /** `registering`: known, and not heard of since. A new incarnation of a worker begins there again, whatever the old one was. */
  worker: {
    registering: ['ready', 'unhealthy', 'removed'],
    ready: ['unhealthy', 'draining', 'removed'],
    unhealthy: ['ready', 'removed'],
    draining: ['drained', 'removed'],
    drained: ['removed'],
    removed: [],
  },
  /** `pending`: no worker has it. `assigned`: one is to run it, under the epoch of that decision, and has not said that it does. */
  placement: {
    pending: ['assigned'],
    assigned: ['running', 'degraded', 'failed', 'pending'],
    running: ['degraded', 'failed', 'assigned', 'pending'],
    degraded: ['running', 'failed', 'assigned', 'pending'],
    failed: ['assigned', 'pending'],
  },
  /** `moved` is the point after which it only goes forward: the target has the placement. */
  migration: {
    started: ['moved', 'failed'],
    moved: ['completed'],
    completed: [],
    failed: [],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

type Kind = keyof typeof transitions;
type StatusOf<K extends Kind> = keyof (typeof transitions)[K] & string;

export type WorkerStatus = StatusOf<'worker'>;
export type PlacementStatus = StatusOf<'placement'>;
export type MigrationStatus = StatusOf<'migration'>;

export function mayBecome<K extends Kind>(kind: K, from: StatusOf<K>, to: StatusOf<K>): boolean {
  const following = transitions[kind][from] as readonly string[];
  return from === to || following.includes(to);
}
