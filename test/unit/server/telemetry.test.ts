import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../shared/security/redaction.ts';
import { internalEvents, Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { logText } from '../../../shared/telemetry/log-text.ts';
import { createLogger, type LoggerOptions, silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import { metrics } from '../../../shared/telemetry/metrics-table.ts';

const owner = { tenant: 't', pipeline: 'p' } as const;
/** The lines of series that are not there from the start, and those that say what their metrics are. */
const linesOf = async (registry: MetricRegistry) => {
  const fromStart = new Set((await new MetricRegistry().render()).split('\n').filter((line) => !line.startsWith('#')));
  const lines = (await registry.render()).split('\n').filter((line) => !fromStart.has(line));
  const names = new Set(lines.filter((line) => /^[^#]/.test(line)).map((line) => line.split(/[{ ]/)[0]));
  return lines.filter((line) => line !== '' && (!line.startsWith('#') || names.has(line.split(' ')[2])));
};

describe('the registry of metrics', () => {
  it('renders counters and gauges with the labels of the table', async () => {
    const registry = new MetricRegistry();
    registry.count('cep_events_total', { ...owner, event_type: 'A' }, 3);
    registry.add(registry.series('cep_events_total', { ...owner, event_type: 'A' }));
    registry.set(registry.series('cep_active_streams', owner), 2);
    expect(await linesOf(registry)).toEqual([
      '# HELP cep_events_total Events taken, by event type; "other" are those of types beyond 1,000.',
      '# TYPE cep_events_total counter',
      'cep_events_total{tenant="t",pipeline="p",event_type="A"} 4',
      '# HELP cep_active_streams Streams of running pipelines.',
      '# TYPE cep_active_streams gauge',
      'cep_active_streams{tenant="t",pipeline="p"} 2',
    ]);
  });

  it('has the series that can be foreseen from the start, so that the first step is an increase', async () => {
    const lines = (await new MetricRegistry().render()).split('\n');
    expect(lines).toContain('cep_worker_fenced_total 0');
    expect(lines.filter((line) => line.startsWith('cep_cluster_migrations_total{'))).toEqual([
      'cep_cluster_migrations_total{result="completed"} 0',
      'cep_cluster_migrations_total{result="failed"} 0',
    ]);
  });

  it('adds the buckets of a histogram up; a value on a bound belongs below it', async () => {
    const registry = new MetricRegistry();
    const { buckets } = metrics.cep_processing_latency_seconds;
    const series = registry.series('cep_processing_latency_seconds', { ...owner, stream: 'S' });
    for (const value of [0.0001, 0.0002, 0.01, 1, 1.5]) registry.observe(series, value, buckets);
    const values = (await linesOf(registry)).filter((line) => !line.startsWith('#')).map((line) => Number(line.split(' ').at(-1)));
    expect(values).toEqual([1, 2, 2, 2, 3, 3, 3, 3, 4, 5, 0.0001 + 0.0002 + 0.01 + 1 + 1.5, 5]);
  });

  it('shows what is collected at the time of the scrape, besides what is counted', async () => {
    const registry = new MetricRegistry();
    let value = 1;
    registry.collect('cep_queue_depth', () => [{ labels: ['t', 'p'], value }]);
    registry.collect('cep_queue_depth', () => [{ labels: ['t', 'q'], value: 9 }]);
    registry.collect('cep_processing_latency_seconds', () => [
      { labels: ['t', 'p', 'S'], value: { counts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 2], sum: 7 } },
    ]);
    await registry.render();
    value = 2;
    const text = await registry.render();
    expect(text).toContain('cep_queue_depth{tenant="t",pipeline="p"} 2\ncep_queue_depth{tenant="t",pipeline="q"} 9\n');
    expect(text).toContain('stream="S",le="1"} 1\n');
    expect(text).toContain('stream="S",le="+Inf"} 3\ncep_processing_latency_seconds_sum{tenant="t",pipeline="p",stream="S"} 7\n');
  });

  it('escapes what a label may hold', async () => {
    const registry = new MetricRegistry();
    registry.count('cep_events_total', { ...owner, event_type: 'a"b\\c\nd' });
    expect((await linesOf(registry)).at(-1)).toBe('cep_events_total{tenant="t",pipeline="p",event_type="a\\"b\\\\c\\nd"} 1');
  });

  it('says once of each metric what it is, whether it has a value or not', async () => {
    const registry = new MetricRegistry();
    registry.count('cep_events_total', { ...owner, event_type: 'A' });
    const lines = (await registry.render()).split('\n').filter((line) => line.startsWith('#'));
    expect(lines).toEqual(
      Object.entries(metrics).flatMap(([name, { help, type }]) => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]),
    );
  });

  it('counts series beyond 20,000 of one metric together', async () => {
    const registry = new MetricRegistry();
    for (let i = 0; i < 20_010; i++) registry.count('cep_events_total', { ...owner, event_type: `T${i}` });
    const lines = (await linesOf(registry)).filter((line) => !line.startsWith('#'));
    expect(lines).toHaveLength(20_001);
    expect(lines.at(-1)).toBe('cep_events_total{tenant="_other",pipeline="_other",event_type="_other"} 10');
  });

  it('lets others have their turn whenever it has worked for a while', async () => {
    let ms = 0;
    const registry = new MetricRegistry(() => ms++);
    for (let i = 0; i < 3_200; i++) registry.count('cep_events_total', { ...owner, event_type: `T${i}` });
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await registry.render();
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(30);
  });
});

describe('the table of metrics', () => {
  it.each(Object.entries(metrics))('names %s and its labels as Prometheus takes them', (name, { type, labels, help, ...rest }) => {
    expect(name).toMatch(/^cep_[a-z0-9_]+$/);
    for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
    expect(help).toMatch(/^[A-Z].*\.$/);
    expect('buckets' in rest).toBe(type === 'histogram');
  });
});

const logging = (changes: Partial<LoggerOptions> = {}) => {
  const lines: string[] = [];
  const metrics = new MetricRegistry();
  const logger = createLogger({
    level: 'info',
    format: 'json',
    timestamps: true,
    redactor: new Redactor(),
    metrics,
    write: (line) => lines.push(line),
    ...changes,
  });
  return { lines, logger, metrics };
};

describe('a logger', () => {
  it('writes one JSON object per line', () => {
    const { lines, logger } = logging();
    logger.child({ request_id: 'r' }).log('warn', 'DLQ write', { connector: 'c' });
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      request_id: 'r',
      connector: 'c',
      message: 'DLQ write',
    });
    expect(lines[0]?.endsWith('}\n')).toBe(true);
  });

  it('writes no line below its level', () => {
    const { lines, logger } = logging({ level: 'warn' });
    logger.log('info', 'quiet');
    logger.log('error', 'loud');
    expect(lines).toHaveLength(1);
    expect([logger.isEnabled('info'), logger.isEnabled('warn')]).toEqual([false, true]);
  });

  it('counts each line that it writes, whoever writes it, and no other', () => {
    const { lines, logger, metrics } = logging({ level: 'warn' });
    const telemetry = new Telemetry(logger, metrics);
    logger.log('error', 'of the logger');
    logger.child({ request_id: 'r' }).log('error', 'of its child');
    telemetry.with({ request_id: 'r' }).report('CertificatesNotReloaded', { error: 'of telemetry' });
    telemetry.log.log('warn', 'of its log');
    telemetry.log.log('info', 'quiet');
    expect(lines).toHaveLength(4);
    const counts = (['error', 'warn', 'info'] as const).map((level) => metrics.valueOf('cep_log_lines_total', { level }));
    expect(counts).toEqual([3, 1, 0]);
  });

  it('leaves the time out without timestamps', () => {
    const { lines, logger } = logging({ timestamps: false });
    logger.log('info', 'now');
    expect(lines).toEqual(['{"level":"info","message":"now"}\n']);
  });

  it('writes text for people', () => {
    const { lines, logger } = logging({ format: 'text', timestamps: false });
    logger.log('info', 'Pipeline deployed', { pipeline: 'p 1', size: 3, ok: true });
    expect(lines).toEqual(['INFO  Pipeline deployed pipeline="p 1" size=3 ok=true\n']);
  });

  it('hides secrets wherever they stand', () => {
    const redactor = new Redactor();
    redactor.add('hunter-2-hunter');
    const { lines, logger } = logging({ redactor });
    logger.log('error', 'failed with hunter-2-hunter', {
      url: 'amqp://user:pw1234@host/x',
      query: '?api_key=abcdef&x=1',
      nested: { a: ['hunter-2-hunter'] },
    });
    expect(lines[0]).not.toMatch(/hunter|pw1234|abcdef/);
    expect(lines[0]).toContain('amqp://user:[REDACTED]@host/x');
  });
});

describe('a log line as text', () => {
  it.each([
    ['a line end', 'a\nlevel=error', String.raw`a\\nlevel=error`],
    ['an escape of a terminal', '\u001b[31mred', String.raw`\\u001b[31mred`],
    ['a mark that turns the direction', 'abc\u202edef', String.raw`abc\u{202e}def`],
    ['a line separator', 'a\u2028b', String.raw`a\u{2028}b`],
  ])('shows %s harmlessly', (_what, value, shown) => {
    const text = logText(`${JSON.stringify({ level: 'info', message: 'x', value })}\n`);
    expect(text.split('\n')).toHaveLength(2);
    expect(text).toMatch(/^[\x20-\x7e]*\n$/);
    expect(text).toContain(shown.replaceAll('\\\\', '\\'));
  });

  it('cuts a value that is long', () => {
    expect(logText(JSON.stringify({ level: 'info', message: 'x', value: 'y'.repeat(10_000) })).length).toBeLessThan(2_100);
  });
});

describe('telemetry', () => {
  it('writes the line of an internal event and moves its metric', () => {
    const { lines, logger, metrics } = logging();
    const telemetry = new Telemetry(logger, metrics);
    telemetry.report('ServerListening', { url: 'http://a', version: '1' });
    telemetry.report('ClientMissedEvents', { transport: 'sse', skipped: 5 });
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(['Server listening']);
    expect(telemetry.metrics.valueOf('cep_stream_gap_events_total', { transport: 'sse' })).toBe(5);
    expect(telemetry.metrics.valueOf('cep_log_lines_total', { level: 'info' })).toBe(1);
  });

  it('moves metrics although nothing is logged', () => {
    const telemetry = new Telemetry(silentLogger, new MetricRegistry());
    telemetry.report('RequestRateLimited', { method: 'GET', path: '/', client: 'c' });
    expect(telemetry.metrics.valueOf('cep_rate_limited_total', {})).toBe(1);
  });

  it('has one message for each event', () => {
    const messages = Object.values(internalEvents).map(({ message }) => message);
    expect(new Set(messages).size).toBe(messages.length);
  });
});
