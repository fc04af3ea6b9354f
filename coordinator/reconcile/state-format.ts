import type { ClusterState, Worker } from '../state/cluster-state.ts';
import type { WorkerStatus } from '../state/transitions.ts';
import type { Observations } from './observations.ts';

/** What every worker reads, and all that one reads that says nothing of formats. */
const FIRST_STATE_FORMAT = 1;

/** From here on a worker takes the index at which a placement came, and its former program. One that reads no later format refuses a member that it does not know. */
const CREATION_STATE_FORMAT = 5;
/** What reads this one lets placements do what they were given before they go. */
const LEAVING_STATE_FORMAT = 5;

const givenNothing: ReadonlySet<WorkerStatus> = new Set<WorkerStatus>(['unhealthy', 'drained', 'removed']);

/**
 * The latest format of states that every worker reads: in it checkpoints are written, so that any of them can go on with what any other has
 * saved. Undefined while one that may be given something was not heard: one that is lost or drained is given nothing. It is in no log: each
 * leader hears it anew.
 */
export function agreedStateFormat(state: ClusterState, observations: Observations): number | undefined {
  let agreed: number | undefined;
  for (const worker of state.workers.values()) {
    if (givenNothing.has(worker.status)) continue;
    const report = observations.of(worker);
    if (report === undefined) return undefined;
    agreed = Math.min(agreed ?? Number.POSITIVE_INFINITY, report.heartbeat.state_format ?? FIRST_STATE_FORMAT);
  }
  return agreed;
}

/** Whether a worker is told of which program the state of a placement is. */
export function isToldOfFormer(observations: Observations, worker: Worker): boolean {
  return ownFormat(observations, worker) >= CREATION_STATE_FORMAT;
}

/**
 * Whether a worker is told at what index its placements came. While one of an earlier version is there nobody is: a placement that went on
 * there would give what it says again other ids.
 */
export function isToldOfCreation(state: ClusterState, observations: Observations, worker: Worker): boolean {
  const own = ownFormat(observations, worker);
  return own >= CREATION_STATE_FORMAT && (agreedStateFormat(state, observations) ?? own) >= CREATION_STATE_FORMAT;
}

/** Whether a worker can be asked to let a placement do what it was given before it goes. */
export function knowsLeaving(observations: Observations, worker: Worker): boolean {
  return ownFormat(observations, worker) >= LEAVING_STATE_FORMAT;
}

/** The same before it was heard: one of a version before refuses it, and is asked in its own way once it was heard. */
export function mayKnowLeaving(observations: Observations, worker: Worker): boolean {
  return observations.of(worker) === undefined || knowsLeaving(observations, worker);
}

function ownFormat(observations: Observations, worker: Worker): number {
  return observations.of(worker)?.heartbeat.state_format ?? FIRST_STATE_FORMAT;
}
