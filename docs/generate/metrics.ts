import { type MetricDescriptor, metrics } from '../../shared/telemetry/metrics-table.ts';
import { code, codes, page, table } from './markdown.ts';

/** `docs/metrics.md`: every metric with its labels. */
export function metricsPage(): string {
  const rows = Object.entries(metrics as Readonly<Record<string, MetricDescriptor>>).map(([name, { type, labels, help, buckets }]) => [
    code(name),
    type,
    codes(labels),
    buckets === undefined ? help : `${help} Buckets up to ${buckets.join(', ')}.`,
  ]);
  return page({
    title: 'Metrics',
    source: 'shared/telemetry/metrics-table.ts',
    blocks: [
      'A server that is started with `--metrics` shows these at `/metrics`, in the format of Prometheus: on a port of their own (`--metrics-port`), ' +
        'and on that of the API to whoever has the key of the server. Metrics of the process stand behind them. Units are seconds and bytes. ' +
        'Numbers of a pipeline may be a quarter of a second old: a scrape waits for nobody and holds nobody up.',
      table(['metric', 'type', 'labels', ''], rows),
    ],
  });
}
