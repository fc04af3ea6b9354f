import { CepError } from '../../shared/errors/error.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import { RaftRefusal } from '../raft/group.ts';
import type { Controller } from '../reconcile/controller.ts';
import type { Heartbeat, HeartbeatAnswer } from '../reconcile/heartbeat.ts';
import { idOf } from '../reconcile/observations.ts';
import { agreedStateFormat } from '../reconcile/state-format.ts';
import type { ClusterState, Worker } from '../state/cluster-state.ts';
import type { ClusterClock } from './cluster-clock.ts';

export interface HeartbeatsOptions {
  readonly group: Pick<GroupMember, 'confirmed'>;
  readonly controller: Pick<Controller, 'leases' | 'observations' | 'isLeading' | 'changed'>;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly clusterClock: Pick<ClusterClock, 'heard'>;
  /** Epoch ms; undefined while it is not known. */
  readonly clusterTime: () => number | undefined;
}

interface KeptFormat {
  /** Of these workers. */
  readonly workers: ClusterState['workers'];
  readonly format: number | undefined;
}

/** Takes heartbeats on the member that leads. They are not in the log; each answer is a lease. */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  /** Undefined once a worker has said another one than before. */
  #format: KeptFormat | undefined;

  constructor(options: HeartbeatsOptions) {
    this.#options = options;
  }

  /**
   * That this member leads is confirmed after the heartbeat came in: a leader that was replaced grants nothing that its successor, which
   * gives everybody a full time first, does not know of.
   * @throws RaftRefusal; CepError `worker_not_found`, `stale_incarnation`
   */
  async take(workerId: string, heartbeat: Heartbeat): Promise<Omit<HeartbeatAnswer, 'coordinators'>> {
    const { group, controller, now, clock, clusterClock, clusterTime } = this.#options;
    const { leases, observations } = controller;
    const atMs = now();
    const { state } = await group.confirmed();
    if (!controller.isLeading) throw new RaftRefusal('noLeader');
    const worker = requireProcess(state, workerId, heartbeat.incarnation);
    // What was granted has ended and may be another's by the time that this is heard, so nothing of it goes on.
    const wasOver = leases.isOver(worker);
    leases.heard(worker, atMs);
    const before = observations.of(worker);
    if (before === undefined || before.heartbeat.state_format !== heartbeat.state_format) this.#format = undefined;
    observations.heard(worker, heartbeat, clock());
    if (heartbeat.clock_ms !== undefined) clusterClock.heard(worker, heartbeat.clock_ms, atMs);
    const fenced = (heartbeat.pipelines ?? []).filter(
      (told) => wasOver || !isGranted(state, worker, { id: idOf(told), epoch: told.epoch }),
    );
    // Of a lease that is over nothing runs, and what has stopped is still there until it is deleted or given another epoch. Anything else
    // runs until the worker hears of this.
    if (wasOver) for (const told of fenced) if (told.status !== 'fenced') observations.gone(worker, idOf(told));
    controller.changed();
    const time = clusterTime();
    const format = this.#formatIn(state);
    return {
      ...{ acknowledged: true, lease_ms: leases.leaseMs, fenced: fenced.map(idOf) },
      ...(time !== undefined && { clock_ms: time }),
      ...(format !== undefined && { state_format: format }),
    };
  }

  #formatIn(state: ClusterState): number | undefined {
    const { workers } = state;
    if (this.#format?.workers !== workers) {
      this.#format = { workers, format: agreedStateFormat(state, this.#options.controller.observations) };
    }
    return this.#format.format;
  }
}

/** While a program is changed its worker has it under the epoch before. */
function isGranted({ placements }: ClusterState, worker: Worker, told: { readonly id: string; readonly epoch: number }): boolean {
  const placement = placements.get(told.id);
  return placement?.workerId === worker.id && told.epoch <= placement.epoch && told.epoch >= placement.tenure;
}

function requireProcess({ workers }: ClusterState, id: string, incarnation: string): Worker {
  const worker = workers.get(id);
  const isFenced = worker !== undefined && (worker.fenced.includes(incarnation) || worker.incarnation !== incarnation);
  if (isFenced) {
    throw new CepError(
      'stale_incarnation',
      `incarnation '${incarnation}' of worker '${id}' was removed, or another process has taken its place`,
      {
        hint: 'restart it',
      },
    );
  }
  if (worker === undefined || worker.status === 'removed') {
    throw new CepError('worker_not_found', `the cluster has no worker '${id}'`, { hint: 'register it again' });
  }
  return worker;
}
