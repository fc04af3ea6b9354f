import { Command, Option } from 'clipanion';
import { ClientCommand } from './client/client-command.ts';
import type { PipelineEntry, PipelineMetricsAnswer, ServerApi } from './client/server-api.ts';
import { factsText, tableText, uptimeText } from './client/table.ts';
import { thousands } from './counts.ts';
import { visible } from './event-text.ts';

const streamColumns = [
  { title: 'STREAM' },
  { title: 'IN', isNumber: true },
  { title: 'OUT', isNumber: true },
  { title: 'LATE', isNumber: true },
  { title: 'FAILURES', isNumber: true },
  { title: 'SUPPRESSED', isNumber: true },
  { title: 'RUNS', isNumber: true },
  { title: 'DROPPED', isNumber: true },
];

export class PipelineCommand extends ClientCommand {
  static override paths = [['pipeline']];
  static override usage = Command.Usage({
    category: 'Client',
    description: 'Show a pipeline: its status, what it has counted, its streams',
    details: 'PIPELINE is an id or a name.',
    examples: [
      ['By name', '$0 pipeline rules'],
      ['The program that is running', '$0 pipeline rules --source'],
    ],
  });

  source = Option.Boolean('--source', false, { description: 'Print the program, behind it what it imports, and nothing else' });
  pipeline = Option.String({ name: 'PIPELINE', required: true });

  protected override async ask(api: ServerApi): Promise<undefined> {
    const entry = await api.pipeline(this.pipeline);
    if (this.source) {
      this.print(programText(entry));
      return;
    }
    const metrics = await api.metrics(entry.id);
    if (this.json) this.printJson({ ...entry, metrics });
    else this.print(factsText(factsOf(entry, metrics)) + streamsText(metrics));
  }
}

/** Each imported file begins with a comment that names it. */
function programText({ source, files = {} }: PipelineEntry): string {
  const lines = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  const imports = Object.entries(files).map(([path, text]) => `\n# ${visible(path)}\n${lines(text)}`);
  return lines(source) + imports.join('');
}

function factsOf(entry: PipelineEntry, metrics: PipelineMetricsAnswer): readonly (readonly [string, string])[] {
  const { latency } = metrics;
  const labels = Object.entries(entry.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    ['Name', entry.name],
    ['Id', entry.id],
    ['Status', entry.error === undefined ? entry.status : `${entry.status}: ${entry.error}`],
    ...(labels.length === 0 ? [] : ([['Labels', labels.join(', ')]] as const)),
    ...(entry.files === undefined ? [] : ([['Imports', Object.keys(entry.files).map(visible).join(', ')]] as const)),
    ['Version', String(entry.version)],
    ['Created', timeText(entry.created_at)],
    ['Updated', timeText(entry.updated_at)],
    ['Up', uptimeText(entry.uptime_secs)],
    ['Events', `${thousands(metrics.events_processed)}${exceptions(metrics)}`],
    ['Alerts', thousands(metrics.alerts_generated)],
    ['Latency', `p50 ${microseconds(latency.p50_us)}, p95 ${microseconds(latency.p95_us)}, p99 ${microseconds(latency.p99_us)}`],
    ['State', `${thousands(metrics.state_bytes)} bytes, ${thousands(metrics.active_runs)} open runs`],
    ...(metrics.dlq_events === 0 ? [] : ([['Dead letters', thousands(metrics.dlq_events)]] as const)),
  ];
}

/** Events that were not as they should be, when there were any. */
function exceptions(metrics: PipelineMetricsAnswer): string {
  const kinds = [
    [metrics.events_invalid, 'invalid'],
    [metrics.events_incomplete, 'incomplete'],
    [metrics.events_late, 'late'],
    [metrics.events_unread, 'of types that no stream reads'],
    [metrics.events_refused, 'refused'],
    [metrics.requests_refused, 'requests refused unread'],
  ] as const;
  const counts = kinds.filter(([count]) => count > 0).map(([count, kind]) => `${thousands(count)} ${kind}`);
  return counts.length === 0 ? '' : ` (${counts.join(', ')})`;
}

function streamsText({ streams }: PipelineMetricsAnswer): string {
  if (streams.length === 0) return '';
  const rows = streams.map((stream) => [
    stream.name,
    ...[stream.events_in, stream.events_out, stream.late, stream.failures, stream.suppressed, stream.runs_active, dropped(stream)].map(
      thousands,
    ),
  ]);
  return `\n${tableText(streamColumns, rows)}`;
}

/** Partial matches that went over a budget, whichever. */
function dropped({ runs_dropped: byReason }: PipelineMetricsAnswer['streams'][number]): number {
  return Object.values(byReason).reduce((sum, count) => sum + count, 0);
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function microseconds(us: number): string {
  return us >= 10_000 ? `${thousands(us / 1000)} ms` : `${thousands(us)} us`;
}
