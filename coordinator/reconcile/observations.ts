import type { WorkerProcess } from '../liveness/process-map.ts';
import { placementId, type Worker } from '../state/cluster-state.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Observed } from './view.ts';

type PipelineMetrics = NonNullable<Heartbeat['pipeline_metrics']>[number];

interface WorkerReport {
  readonly incarnation: string;
  readonly heartbeat: Heartbeat;
  readonly held: Map<string, Observed>;
  /** Epoch ms. */
  readonly atMs: number;
  /** Since the heartbeat before; undefined with the first. */
  readonly eventsPerSecond: number | undefined;
}

/** What workers have told the member that leads. It is never in the log: the next leader hears it anew. */
export class Observations {
  readonly #reports = new Map<string, WorkerReport>();

  clear(): void {
    this.#reports.clear();
  }

  heard(worker: Worker, heartbeat: Heartbeat, atMs: number): void {
    const before = this.of(worker);
    const held = new Map<string, Observed>();
    for (const told of heartbeat.pipelines ?? []) held.set(idOf(told), told);
    const seconds = before && (atMs - before.atMs) / 1_000;
    const eventsPerSecond = before && seconds ? moreEvents(before.heartbeat, heartbeat) / seconds : undefined;
    this.#reports.set(worker.id, { incarnation: worker.incarnation, heartbeat, held, atMs, eventsPerSecond });
  }

  /** What a worker answered of a placement. False when it is not kept: before its first heartbeat it is not known what else it has. */
  told(worker: Worker, id: string, observed: Observed): boolean {
    return this.of(worker)?.held.set(id, observed) !== undefined;
  }

  /** A worker does not have it any more. */
  gone(worker: WorkerProcess, id: string): void {
    this.of(worker)?.held.delete(id);
  }

  /** Nothing that it reported counts any more: its lease has ended. */
  forget(worker: Worker): void {
    this.of(worker)?.held.clear();
  }

  of({ id, incarnation }: WorkerProcess): WorkerReport | undefined {
    const report = this.#reports.get(id);
    return report?.incarnation === incarnation ? report : undefined;
  }
}

/** Events that were processed between two heartbeats. A pipeline that came meanwhile brought its counts along with its state. */
function moreEvents(before: Heartbeat, after: Heartbeat): number {
  const known = new Map(before.pipeline_metrics?.map((one) => [replicaKey(one), one.events_in]));
  const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0);
  const ofPlacements =
    after.pipeline_metrics?.map((one) => Math.max(0, one.events_in - (known.get(replicaKey(one)) ?? one.events_in))) ?? [];
  const ofOthers = (beat: Heartbeat): number =>
    (beat.events_processed ?? 0) - sum(beat.pipeline_metrics?.map((one) => one.events_in) ?? []);
  return sum(ofPlacements) + (bringsUncounted(before, after) ? 0 : Math.max(0, ofOthers(after) - ofOthers(before)));
}

/** Whether a placement has come of which nothing is said yet: what it brought along is among the events of the process, and is not of now. */
function bringsUncounted(before: Heartbeat, after: Heartbeat): boolean {
  const counted = new Set(after.pipeline_metrics?.map(replicaKey));
  const told = new Map(before.pipelines?.map((one) => [replicaKey(one), one.status]));
  return (after.pipelines ?? []).some((one) => !counted.has(replicaKey(one)) && told.get(replicaKey(one)) !== one.status);
}

/** Tells a replica of a pipeline from others by the names that workers report. */
export function replicaKey({ group, pipeline, replica = 0 }: Pick<PipelineMetrics, 'group' | 'pipeline' | 'replica'>): string {
  return JSON.stringify([group, pipeline, replica]);
}

/** Workers name placements; one that does not has only the parts. */
export function idOf(told: NonNullable<Heartbeat['pipelines']>[number]): string {
  return told.placement_id ?? placementId(told.group, told.pipeline, told.replica ?? 0);
}
