import { thousands } from '../counts.ts';
import type { WorkerEntry } from './cluster-api.ts';
import { tableText, uptimeText } from './table.ts';

const columns = [
  { title: 'WORKER' },
  { title: 'STATUS' },
  { title: 'PIPELINES', isNumber: true },
  { title: 'EVENTS', isNumber: true },
  { title: 'PER SECOND', isNumber: true },
  { title: 'HEARD', isNumber: true },
  { title: 'ADDRESS' },
];

export function workersText(workers: readonly WorkerEntry[], nowMs: number): string {
  const rows = workers.map((worker) => [
    worker.id,
    worker.status,
    pipelinesText(worker),
    thousands(worker.events_processed),
    thousands(Math.round(worker.events_per_second)),
    heardText(worker, nowMs),
    worker.address,
  ]);
  return tableText(columns, rows);
}

/** `3`, or `3 of 10` where there is a limit. */
export function pipelinesText({ pipelines, max_pipelines: max }: WorkerEntry): string {
  return max === 0 ? thousands(pipelines.length) : `${thousands(pipelines.length)} of ${thousands(max)}`;
}

/** By the clock of this machine, which need not be that of the coordinator. */
export function heardText({ last_heartbeat: last }: WorkerEntry, nowMs: number): string {
  return last === null ? 'not yet' : `${uptimeText(Math.max(0, nowMs - last) / 1_000)} ago`;
}
