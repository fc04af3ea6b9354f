import { counted, tenths, thousands } from '../counts.ts';
import type { ClusterMetricsAnswer, GroupEntry, WorkerEntry } from './cluster-api.ts';
import { replicaText } from './group-text.ts';
import { tableText } from './table.ts';
import { heardText, pipelinesText } from './worker-text.ts';

/** What a cluster looks like at one moment, by the clock of this machine. */
export interface ClusterLook {
  /** Epoch ms. */
  readonly time: number;
  readonly workers: readonly WorkerEntry[];
  readonly groups: readonly GroupEntry[];
  readonly metrics: ClusterMetricsAnswer;
}

const columns = [
  { title: 'WORKER / PIPELINE' },
  { title: 'STATUS' },
  { title: 'EVENTS/S', isNumber: true },
  { title: 'ALERTS/S', isNumber: true },
  { title: 'EVENTS', isNumber: true },
  { title: 'ALERTS', isNumber: true },
  { title: 'PIPELINES', isNumber: true },
  { title: 'HEARD', isNumber: true },
];

const NOWHERE = 'on no worker';

type Counts = ClusterMetricsAnswer['pipelines'][number];

interface Deployed {
  readonly name: string;
  readonly status: string;
  readonly worker: string | null;
  readonly counts: Counts | undefined;
  readonly before: Counts | undefined;
}

export function clusterTopHead({ workers, groups, metrics: { totals } }: ClusterLook): string {
  const ready = workers.filter(({ status }) => status === 'ready').length;
  return `${ready} of ${counted(workers.length, 'worker')} ready, ${counted(groups.length, 'group')}, ${counted(totals.events_processed, 'event')}`;
}

/** Each worker, and what it runs below it; what runs nowhere stands first. Rates are those between two looks. */
export function clusterTopText(now: ClusterLook, before: ClusterLook): string {
  const deployed = deployedOf(now, before);
  const seconds = (now.time - before.time) / 1_000;
  const on = (worker: string | null): readonly string[][] =>
    deployed.filter((one) => one.worker === worker).map((one) => deployedRow(one, seconds));
  const nowhere = on(null);
  const rows = [...(nowhere.length > 0 ? [[NOWHERE, ...Array<string>(columns.length - 1).fill('')], ...nowhere] : [])];
  for (const worker of now.workers) rows.push(workerRow(worker, now.time), ...on(worker.id));
  return tableText(columns, rows);
}

function workerRow(worker: WorkerEntry, nowMs: number): string[] {
  const { id, status, events_per_second: perSecond, events_processed: events } = worker;
  return [id, status, tenths(perSecond), '', thousands(events), '', pipelinesText(worker), heardText(worker, nowMs)];
}

function deployedRow({ name, status, counts, before }: Deployed, seconds: number): string[] {
  const rate = (count: (counts: Counts) => number): string =>
    counts === undefined || before === undefined || seconds <= 0 ? '-' : tenths(Math.max(0, count(counts) - count(before)) / seconds);
  const rates = [rate((one) => one.events_in), rate((one) => one.events_out)];
  const totals = counts === undefined ? ['-', '-'] : [thousands(counts.events_in), thousands(counts.events_out)];
  return [`  ${name}`, status, ...rates, ...totals, '', ''];
}

function deployedOf(now: ClusterLook, before: ClusterLook): readonly Deployed[] {
  const [counts, countsBefore] = [byPlace(now), byPlace(before)];
  return now.groups.flatMap(({ name: group, deployments }) =>
    deployments.map((deployment) => {
      const { pipeline_name: pipeline, replica, status, worker_id: worker } = deployment;
      const place = placeOf({ group, pipeline, replica });
      const name = `${group}/${replicaText(deployment)}`;
      return { name, status, worker, counts: counts.get(place), before: countsBefore.get(place) };
    }),
  );
}

function byPlace({ metrics }: ClusterLook): ReadonlyMap<string, Counts> {
  return new Map(metrics.pipelines.map((one) => [placeOf(one), one]));
}

function placeOf({ group, pipeline, replica }: Pick<Counts, 'group' | 'pipeline' | 'replica'>): string {
  return JSON.stringify([group, pipeline, replica]);
}
