import { CepError } from '../../shared/errors/error.ts';
import { withConnectors } from '../../shared/language/connectors/with-connectors.ts';
import type { HeartbeatReport } from '../membership/membership.ts';
import type { BatchIntake, DeliveryResult } from './batch-intake.ts';
import type { Delivery } from './delivery-body.ts';
import { type HeldPlacement, Placement, type PlacementRequest, type PlacementWorld } from './placement.ts';
import { Preparations } from './preparations.ts';

/** How long a heartbeat waits for the numbers of one pipeline. */
const METRICS_WAIT_MS = 50;

type Reported = NonNullable<HeartbeatReport['pipelines']>[number];

interface Acknowledgement {
  readonly sentAt: number;
  readonly leaseMs: number;
  readonly fenced: readonly string[];
  /** @default what it was */
  readonly stateFormat?: number | undefined;
}

/** What the cluster has placed here, by id. */
export class PlacementTable {
  readonly #world: PlacementWorld;
  readonly #preparations: Preparations;
  readonly #placements = new Map<string, Placement>();
  /** What is under way of those that were deleted: another one of the same id waits for it. */
  readonly #ending = new Map<string, Promise<unknown>>();
  /** Undefined until it is known what the others read: then all of them read what is written. */
  #stateFormat: number | undefined;
  /** This process has no place in the cluster any more, or leaves it. */
  #isClosed = false;

  constructor(world: Omit<PlacementWorld, 'preparations'>) {
    this.#preparations = new Preparations(world.host, world.now);
    this.#world = { ...world, preparations: this.#preparations };
  }

  list(): readonly HeldPlacement[] {
    return Array.from(this.#placements.values(), (placement) => placement.view());
  }

  /** @throws CepError `stale_epoch`, `not_ready` */
  put(id: string, request: PlacementRequest): HeldPlacement {
    this.#requireOpen();
    const known = this.#placements.get(id);
    known?.put(request);
    const placement = known ?? this.#begin(id, request);
    this.#placements.set(id, placement);
    return placement.view();
  }

  #begin(id: string, request: PlacementRequest): Placement {
    return new Placement(id, request, this.#world, { stateFormat: this.#stateFormat, before: this.#ending.get(id) });
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new CepError('not_ready', 'this worker takes no placements any more', { retryAfterSeconds: 5 });
  }

  /** What is about to be put here need not wait for its program then. @throws CepError what is wrong with it */
  async prepare(id: string, { source, connectors }: Pick<PlacementRequest, 'source' | 'connectors'>): Promise<{ readonly prepared: true }> {
    this.#requireOpen();
    await this.#preparations.prepare(id, withConnectors(source, connectors));
    return { prepared: true };
  }

  /** @throws CepError `pipeline_not_found` */
  get(id: string): Placement {
    const placement = this.#placements.get(id);
    if (placement !== undefined) return placement;
    throw new CepError('pipeline_not_found', `the cluster has placed no '${id}' here`, {
      hint: 'GET /api/v1/worker/placements lists those that there are',
    });
  }

  /** Batches of one source, in its order whichever of them comes first. @throws CepError what the placement refuses them with */
  async deliver(id: string, delivery: Delivery): Promise<DeliveryResult> {
    const intake = (): BatchIntake => this.get(id).intake(delivery.epoch);
    await intake().turn(delivery);
    // It may be another one by now, or none.
    return intake().deliver(delivery);
  }

  /**
   * Whether there was one. `flushMs`: nobody goes on with it, and it has so long to do what it was given.
   * @throws CepError `stale_epoch` when it is held under a newer epoch, or is by then
   */
  async delete(id: string, epoch: number, flushMs?: number): Promise<boolean> {
    const placement = this.#placements.get(id);
    placement?.requireNotOlder(epoch);
    if (placement === undefined) return false;
    if (flushMs !== undefined) {
      await placement.leave(flushMs);
      placement.requireNotOlder(epoch);
      if (this.#placements.get(id) !== placement) return true;
    }
    this.#end(id, placement);
    this.#world.changed();
    return this.#placements.delete(id);
  }

  #end(id: string, placement: Placement): void {
    const ending = placement.drop().finally(() => {
      if (this.#ending.get(id) === ending) this.#ending.delete(id);
    });
    this.#ending.set(id, ending);
  }

  // ---------------------------------------------------------------------------------------------- leases

  acknowledged({ pipelines = [] }: HeartbeatReport, { sentAt, leaseMs, fenced, stateFormat = this.#stateFormat }: Acknowledgement): void {
    this.#stateFormat = stateFormat;
    for (const placement of this.#placements.values()) placement.writeStatesIn(stateFormat);
    for (const { placement_id: id, epoch } of pipelines) {
      const placement = id === undefined ? undefined : this.#placements.get(id);
      if (placement === undefined || fenced.includes(placement.id)) continue;
      placement.acknowledged(epoch, sentAt, leaseMs);
    }
    for (const id of fenced) this.#drop(id, pipelines);
  }

  /** Unless it is there under another epoch than was reported: then it is another one. */
  #drop(id: string, reported: readonly Reported[]): void {
    const placement = this.#placements.get(id);
    const epoch = reported.find((one) => one.placement_id === id)?.epoch;
    if (placement === undefined || placement.epoch !== epoch) return;
    // It stays in the table: asked for again under the same epoch it would begin a second time. Who knows that it is gone deletes it.
    if (placement.status === 'fenced') return;
    placement.fence();
    this.#world.report({ level: 'warn', message: 'Placement is not here any more', fields: { placement: id, epoch } });
  }

  /** To be called often: stops what has no lease any more. */
  look(): void {
    this.#preparations.look();
    for (const placement of this.#placements.values()) placement.look();
  }

  /** Another process has taken the place of this one, or it ends: nothing runs any more. */
  close(): void {
    this.#isClosed = true;
    this.#preparations.close();
    for (const placement of this.#placements.values()) void placement.drop();
    this.#placements.clear();
  }

  /** Of those that run; null when none does. */
  get leaseRemainingMs(): number | null {
    const running = [...this.#placements.values()].filter(({ status }) => status === 'running' || status === 'degraded');
    return running.length === 0 ? null : Math.min(...running.map(({ leaseRemainingMs }) => leaseRemainingMs));
  }

  get fencedCount(): number {
    return [...this.#placements.values()].filter(({ status }) => status === 'fenced').length;
  }

  get size(): number {
    return this.#placements.size;
  }

  // ---------------------------------------------------------------------------------------------- heartbeats

  report(): Pick<HeartbeatReport, 'pipelines' | 'pipeline_metrics'> {
    const all = [...this.#placements.values()];
    return { pipelines: all.map(reported), pipeline_metrics: all.flatMap((placement) => this.#metricsOf(placement)) };
  }

  readonly #metrics = new WeakMap<object, NonNullable<HeartbeatReport['pipeline_metrics']>[number]>();

  /** What was last heard: a busy engine holds up no heartbeat. */
  #metricsOf({ pipeline, request: { group, pipeline: name, replica } }: Placement): NonNullable<HeartbeatReport['pipeline_metrics']> {
    if (pipeline === undefined) return [];
    void pipeline.metrics(METRICS_WAIT_MS).then((metrics) => {
      const { eventsProcessed, outputEventsEmitted, eventsInvalid, eventsLate, dlqEvents, activeRuns, stateBytes } = metrics;
      this.#metrics.set(pipeline, {
        ...{ group, pipeline: name, replica, events_in: eventsProcessed, events_out: outputEventsEmitted },
        ...{
          events_invalid: eventsInvalid,
          events_late: eventsLate,
          dlq_events: dlqEvents,
          active_runs: activeRuns,
          state_bytes: stateBytes,
        },
      });
    });
    const known = this.#metrics.get(pipeline);
    return known === undefined ? [] : [known];
  }
}

function reported(placement: Placement): Reported {
  const { checkpoint: _checkpoint, ...view } = placement.view();
  const { group, pipeline, replica } = placement.request;
  return { ...view, group, pipeline, replica };
}
