import { tenths, thousands } from '../counts.ts';
import type { TenantMetricsAnswer } from './server-api.ts';
import { tableText } from './table.ts';

const columns = [
  { title: 'PIPELINE' },
  { title: 'STATUS' },
  { title: 'EVENTS/S', isNumber: true },
  { title: 'ALERTS/S', isNumber: true },
  { title: 'EVENTS', isNumber: true },
  { title: 'ALERTS', isNumber: true },
  { title: 'RUNS', isNumber: true },
  { title: 'PROBLEMS', isNumber: true },
];

/** Those that somebody should look at come first; others stay in the order of the server, whatever they do. */
const toLookAt = ['failed', 'degraded', 'stopped'];
const rankOf = (status: string): number => (toLookAt.includes(status) ? toLookAt.indexOf(status) : toLookAt.length);

/** Rates are those between two looks at a server; of a pipeline that was not there before, none. */
export function topText(now: TenantMetricsAnswer, before: TenantMetricsAnswer | undefined): string {
  const known = new Map(before?.pipelines.map((pipeline) => [pipeline.id, pipeline]));
  const seconds = before === undefined ? 0 : (now.time - before.time) / 1_000;
  const rows = now.pipelines
    .toSorted((a, b) => rankOf(a.status) - rankOf(b.status))
    .map((pipeline) => {
      const last = known.get(pipeline.id);
      const rate = (count: number, from: number | undefined): string =>
        from === undefined || seconds <= 0 ? '-' : tenths(Math.max(0, count - from) / seconds);
      return {
        pipeline,
        events: rate(pipeline.events_processed, last?.events_processed),
        alerts: rate(pipeline.output_events_emitted, last?.output_events_emitted),
      };
    });
  return tableText(
    columns,
    rows.map(({ pipeline, events, alerts }) => [
      pipeline.name,
      pipeline.status,
      events,
      alerts,
      thousands(pipeline.events_processed),
      thousands(pipeline.output_events_emitted),
      thousands(pipeline.active_runs),
      thousands(pipeline.events_invalid + pipeline.events_late + pipeline.dlq_events),
    ]),
  );
}
