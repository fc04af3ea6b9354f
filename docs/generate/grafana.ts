import { type MetricDescriptor, metrics } from '../../shared/telemetry/metrics-table.ts';

type Metric = readonly [name: string, descriptor: MetricDescriptor];

/** What stands together; each metric is shown where the first prefix fits it. */
interface Row {
  readonly title: string;
  readonly prefixes: readonly string[];
}

const serverRows: readonly Row[] = [
  {
    title: 'Events',
    prefixes: [
      'cep_events_',
      'cep_requests_',
      'cep_output_',
      'cep_processing_',
      'cep_stream_queue',
      'cep_active_',
      'cep_tap_',
      'cep_lookups_',
      'cep_source_',
    ],
  },
  { title: 'Delivery', prefixes: ['cep_dlq_', 'cep_connector_', 'cep_smtp_'] },
  { title: 'State', prefixes: ['cep_runs_', 'cep_state_', 'cep_checkpoint_', 'cep_wal_', 'cep_storage_'] },
  { title: 'Engine', prefixes: ['cep_queue_', 'cep_engine_'] },
  { title: 'Process', prefixes: ['cep_loop_', 'cep_http_', 'cep_rate_', 'cep_stream_', 'cep_trace_', 'cep_log_'] },
];

const clusterRows: readonly Row[] = [
  { title: 'Cluster', prefixes: ['cep_cluster_'] },
  { title: 'Workers', prefixes: ['cep_worker_'] },
  { title: 'Coordinators', prefixes: ['cep_raft_'] },
];

/** `deploy/grafana/server.json`: everything that a server or a worker measures. */
export function serverDashboard(): string {
  return dashboard({ uid: 'cep-server', title: 'cep: servers and workers', rows: serverRows, filters: ['instance', 'tenant', 'pipeline'] });
}

/** `deploy/grafana/cluster.json`: the coordinators, and what they know of workers. */
export function clusterDashboard(): string {
  return dashboard({ uid: 'cep-cluster', title: 'cep: the cluster', rows: clusterRows, filters: ['instance'] });
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Labels that the viewer may choose values of. */
  readonly filters: readonly string[];
}

function dashboard({ uid, title, rows, filters }: Dashboard): string {
  const shown = rows.flatMap((row) => [{ row }, ...metricsOf(row).map((metric) => ({ metric }))]);
  let [x, y] = [0, 0];
  const panels = shown.map((item, at) => {
    if ('row' in item) {
      if (x > 0) y += height;
      x = 0;
      const panel = { type: 'row', id: at + 1, title: item.row.title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] };
      y += 1;
      return panel;
    }
    const panel = { ...panelOf(item.metric, filters), id: at + 1, gridPos: { x, y, w: width, h: height } };
    x += width;
    if (x === 24) [x, y] = [0, y + height];
    return panel;
  });
  const head = {
    uid,
    title,
    tags: ['cep'],
    editable: true,
    schemaVersion: 39,
    version: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
  };
  return `${JSON.stringify({ ...head, templating: { list: [datasource, ...filters.map(variableOf)] }, panels }, null, 1)}\n`;
}

const width = 8;
const height = 8;
const allRows = [...serverRows, ...clusterRows];

/** @throws when a metric is nowhere. */
function metricsOf(row: Row): Metric[] {
  const all = Object.entries(metrics as Readonly<Record<string, MetricDescriptor>>);
  for (const [name] of all) if (rowOf(name) === undefined) throw new Error(`no dashboard shows the metric ${name}`);
  return all.filter(([name]) => rowOf(name) === row);
}

function rowOf(name: string): Row | undefined {
  return allRows.find(({ prefixes }) => prefixes.some((prefix) => name.startsWith(prefix)));
}

function panelOf(metric: Metric, filters: readonly string[]): Readonly<Record<string, unknown>> {
  const [name, { help, type }] = metric;
  return {
    type: 'timeseries',
    title: help.replace(/\.$/, ''),
    description: `${name} (${type})`,
    datasource: { type: 'prometheus', uid: '$datasource' },
    fieldConfig: { defaults: { unit: unitOf(name, type), min: 0, custom: { fillOpacity: 8, lineWidth: 1 } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: targetsOf(metric, filters),
  };
}

function targetsOf([name, { type, labels }]: Metric, filters: readonly string[]): readonly object[] {
  const chosen = filters.filter((label) => label === 'instance' || labels.includes(label)).map((label) => `${label}=~"$${label}"`);
  const selector = `{${chosen.join(',')}}`;
  const by = ['instance', ...labels];
  const legend = by.map((label) => `{{${label}}}`).join(' ');
  if (type === 'gauge') return [{ refId: 'A', expr: `${name}${selector}`, legendFormat: legend }];
  if (type === 'counter') {
    return [{ refId: 'A', expr: `sum by (${by.join(', ')}) (rate(${name}${selector}[$__rate_interval]))`, legendFormat: legend }];
  }
  return [0.5, 0.99].map((quantile, at) => ({
    refId: 'AB'.charAt(at),
    expr: `histogram_quantile(${quantile}, sum by (${['le', ...by].join(', ')}) (rate(${name}_bucket${selector}[$__rate_interval])))`,
    legendFormat: `p${quantile * 100} ${legend}`,
  }));
}

function unitOf(name: string, type: MetricDescriptor['type']): string {
  if (name.endsWith('_seconds')) return 's';
  if (name.endsWith('_bytes')) return 'bytes';
  return type === 'counter' ? 'cps' : 'short';
}

const datasource = { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' };

/** What the values of a label may be, `All` among them; one that only some series have limits those only. */
function variableOf(label: string): object {
  const of = label === 'instance' ? 'cep_log_lines_total' : 'cep_events_processed';
  const query = `label_values(${of}, ${label})`;
  return {
    ...{ name: label, label, type: 'query', datasource: { type: 'prometheus', uid: '$datasource' }, query, refresh: 2 },
    ...{ multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
  };
}
