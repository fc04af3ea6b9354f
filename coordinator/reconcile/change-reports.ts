import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { GroupMember } from '../cluster/group-member.ts';
import type { WorkerLeases } from '../liveness/worker-leases.ts';
import { type ClusterState, ingressKey } from '../state/cluster-state.ts';
import type { ClusterEvent } from '../state/commands/outcome.ts';
import { placementsOn } from '../state/queries.ts';

export interface ChangeReportsOptions {
  readonly group: GroupMember;
  readonly leases: Pick<WorkerLeases, 'isOver' | 'isProvenDead' | 'silentMs'>;
  readonly telemetry: Telemetry;
}

/** A change of the state by one command. */
interface Change {
  readonly before: ClusterState;
  readonly after: ClusterState;
  /** What it happened to. */
  readonly id: string;
}

/**
 * Says what has become of workers, placements and migrations. Every member applies the same log, some of it again after a restart; only the
 * member that leads in the term of an entry speaks of it, so each change is reported once.
 */
export class ChangeReports {
  readonly #options: ChangeReportsOptions;
  #before: ClusterState;
  /** Placements that wait for another worker because theirs was lost, and which one that was. */
  readonly #bereft = new Map<string, string>();

  constructor(options: ChangeReportsOptions) {
    this.#options = options;
    this.#before = options.group.state;
    options.group.onChange((state, events) => this.#take(state, events));
  }

  #take(after: ClusterState, events: readonly ClusterEvent[]): void {
    const before = this.#before;
    this.#before = after;
    for (const { type, id } of events) {
      const report = this.#byType[type];
      if (report !== undefined && this.#isOurs(after)) report({ before, after, id });
    }
  }

  #isOurs({ term }: ClusterState): boolean {
    const status = this.#options.group.status();
    return status.role === 'leader' && status.term === term;
  }

  readonly #byType: Readonly<Record<string, (change: Change) => void>> = {
    WorkerStatusChanged: (change) => this.#workerChanged(change),
    PlacementReleased: (change) => this.#released(change),
    PlacementAssigned: (change) => this.#assigned(change),
    PlacementReported: (change) => this.#said(change),
    GroupUpdated: (change) => this.#sayGivenUp(change),
    PlacementRemoved: (change) => this.#sayGivenUp(change),
    GroupDeleted: (change) => {
      this.#sayGivenUp(change);
      this.#forget(change.after);
    },
    MigrationStarted: (change) => this.#migrationStarted(change),
    MigrationEnded: (change) => this.#migrationEnded(change),
  };

  #workerChanged({ after, id }: Change): void {
    const worker = after.workers.get(id);
    if (worker?.status !== 'unhealthy') return;
    const { leases, telemetry } = this.#options;
    const reason = leases.isProvenDead(worker)
      ? 'its process has ended'
      : `nothing was heard of it for ${(leases.silentMs(worker) / 1_000).toFixed(1)} s`;
    telemetry.report('WorkerLost', { worker: id, reason, placements: placementsOn(after, id).length });
  }

  #released({ before, id }: Change): void {
    const worker = before.workers.get(before.placements.get(id)?.workerId ?? '');
    if (worker && this.#options.leases.isOver(worker)) this.#bereft.set(id, worker.id);
  }

  /** It had a worker that is lost, removed, or replaced by another process. */
  #assigned({ before, after, id }: Change): void {
    const had = before.placements.get(id);
    const former = had?.workerId ?? had?.formerHolder?.workerId ?? this.#bereft.get(id);
    this.#bereft.delete(id);
    const worker = after.placements.get(id)?.workerId;
    if (worker === undefined || former === undefined || former === worker) return;
    this.#options.telemetry.report('PlacementReplaced', { placement: id, worker });
  }

  #said({ before, after, id }: Change): void {
    const placement = after.placements.get(id);
    const isNew = placement?.status === 'running' && before.placements.get(id)?.status === 'assigned';
    if (!isNew || placement.workerId === undefined) return;
    this.#options.telemetry.report('PlacementDeployed', { placement: id, worker: placement.workerId, epoch: placement.epoch });
  }

  /** Events that were accepted for a placement that is gone, and that no checkpoint has. */
  #sayGivenUp({ before, after }: Change): void {
    if (before.ingressLogs === after.ingressLogs) return;
    for (const { placementId: placement, first, last } of before.ingressLogs.values()) {
      if (first > last || after.ingressLogs.has(placement)) continue;
      let events = 0;
      for (const { eventCount } of before.ingress.between(ingressKey(placement, first), ingressKey(placement, last))) events += eventCount;
      this.#options.telemetry.report('InjectedEventsGivenUp', { placement, events });
    }
  }

  #forget({ placements }: ClusterState): void {
    for (const id of this.#bereft.keys()) if (!placements.has(id)) this.#bereft.delete(id);
  }

  #migrationStarted({ after, id }: Change): void {
    const migration = after.migrations.get(id);
    if (migration === undefined) return;
    const { placementId: placement, sourceWorker: source, targetWorker: target } = migration;
    this.#options.telemetry.report('MigrationStarted', { migration: id, placement, source, target });
  }

  #migrationEnded({ after, id }: Change): void {
    const migration = after.migrations.get(id);
    if (migration === undefined) return;
    const { placementId: placement, status: result, startedAtMs } = migration;
    const seconds = (after.nowMs - startedAtMs) / 1_000;
    this.#options.telemetry.report('MigrationEnded', { migration: id, placement, result, seconds });
  }
}
