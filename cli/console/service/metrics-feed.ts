import { askPages } from './paging.ts';
import { type Polled, usePoll } from './poll.ts';
import { History } from './rates.ts';
import type { AllMetrics, PipelineEntry } from './shapes.ts';

type Totals = AllMetrics['totals'];

/** Kept while the console is open, so that rates are there when a page is come back to. */
export const totalsHistory = new History<Totals>();
const histories = new Map<string, History<PipelineEntry>>();

const everyMs = { few: 2_000, many: 5_000 };
const fewMax = 200;

export function historyOf(id: string): History<PipelineEntry> {
  const known = histories.get(id) ?? new History<PipelineEntry>();
  histories.set(id, known);
  return known;
}

let isMany = false;

/** The counts of all pipelines, with what they were before. */
export function useAllMetrics(): Polled<AllMetrics> {
  return usePoll('metrics', loadAll, isMany ? everyMs.many : everyMs.few);
}

async function loadAll(signal: AbortSignal): Promise<AllMetrics> {
  const all = await askPages<AllMetrics>('/api/v1/metrics', 'pipelines', signal);
  isMany = all.total > fewMax;
  totalsHistory.add({ timeMs: all.time, counts: all.totals });
  for (const pipeline of all.pipelines) historyOf(pipeline.id).add({ timeMs: all.time, counts: pipeline });
  const known = new Set(all.pipelines.map(({ id }) => id));
  for (const id of histories.keys()) if (!known.has(id)) histories.delete(id);
  return all;
}
