import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { OtlpExporter } from '../../../shared/telemetry/otlp-exporter.ts';
import { type Span, Tracer, traceparentOf } from '../../../shared/telemetry/tracing.ts';
import { Collector } from '../../clients/collector.ts';

let collector: Collector;
beforeEach(async () => {
  collector = await Collector.start();
});
afterEach(() => collector.close());

const span = (name: string, more: Partial<Span> = {}): Span => ({
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: undefined, isSampled: true },
  name,
  kind: 'internal',
  startMs: 1_700_000_000_000.125,
  endMs: 1_700_000_000_001,
  attributes: {},
  isError: false,
  ...more,
});

function exporter(endpoint = collector.url, policy = NetworkPolicy.everywhere) {
  const counts = { exported: 0, dropped: 0, failed: 0 };
  const failures: string[] = [];
  const made = new OtlpExporter({
    endpoint,
    door: new OutboundDoor(policy),
    about: { name: 'cep', version: '1' },
    count: (result, spans) => {
      counts[result] += spans;
    },
    onFailure: (reason) => failures.push(reason),
  });
  return { made, counts, failures };
}

describe('the exporter of traces', () => {
  it('sends spans in the JSON of OTLP', async () => {
    const { made, counts } = exporter(`${collector.url}/`);
    made.take(span('one', { attributes: { text: 'x', whole: 3, part: 0.5, flag: true }, kind: 'server', isError: true }));
    await made.close(5_000);
    expect(collector.requests.map(({ url }) => url)).toEqual(['/v1/traces']);
    expect(collector.requests[0]?.body).toMatchObject({
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 'cep' } },
              { key: 'service.version', value: { stringValue: '1' } },
            ],
          },
          scopeSpans: [
            {
              scope: { name: 'cep', version: '1' },
              spans: [
                {
                  traceId: 'a'.repeat(32),
                  spanId: 'b'.repeat(16),
                  name: 'one',
                  kind: 2,
                  startTimeUnixNano: '1700000000000125000',
                  endTimeUnixNano: '1700000000001000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'x' } },
                    { key: 'whole', value: { intValue: 3 } },
                    { key: 'part', value: { doubleValue: 0.5 } },
                    { key: 'flag', value: { boolValue: true } },
                  ],
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
    expect(counts).toEqual({ exported: 1, dropped: 0, failed: 0 });
  });

  it('goes out by the door, and sends the login of its endpoint as a header', async () => {
    const shut = exporter(collector.url, NetworkPolicy.publicAnd([]));
    shut.made.take(span('one'));
    await shut.made.close(5_000);
    expect([shut.counts.failed, shut.failures]).toEqual([1, [expect.stringContaining('not a public one')]]);
    expect(collector.requests).toEqual([]);
    const { made } = exporter(collector.url.replace('//', '//ann:a%2Fb@'));
    made.take(span('two'));
    await made.close(5_000);
    expect(collector.requests.map(({ authorization }) => authorization)).toEqual([`Basic ${Buffer.from('ann:a/b').toString('base64')}`]);
  });

  it('follows no redirect', async () => {
    const other = await Collector.start();
    collector.status = 307;
    collector.location = `${other.url}/v1/traces`;
    const { made, failures } = exporter();
    made.take(span('one'));
    await made.close(5_000);
    expect([failures, other.requests]).toEqual([['the answer was 307'], []]);
    other.close();
  });

  it('takes a batch for sent when the collector says so, whatever becomes of the body', async () => {
    collector.drips = true;
    const { made, counts } = exporter();
    for (let n = 0; n < 3 * 512; n++) made.take(span(String(n)));
    await vi.waitFor(() => expect(counts.exported).toBe(1_536));
    await made.close(5_000);
    expect(counts).toEqual({ exported: 1_536, dropped: 0, failed: 0 });
  });

  it('sends a batch as soon as it is full, and what is left at the end', async () => {
    const { made, counts } = exporter();
    for (let n = 0; n < 600; n++) made.take(span(String(n)));
    await vi.waitFor(() => expect(collector.spans).toHaveLength(512));
    await made.close(5_000);
    expect(collector.spans.map(({ name }) => name)).toEqual(Array.from({ length: 600 }, (_, n) => String(n)));
    expect(counts).toEqual({ exported: 600, dropped: 0, failed: 0 });
  });

  it('holds so many spans and no more while the collector does not answer, and ends in time all the same', async () => {
    collector.status = null;
    const { made, counts, failures } = exporter();
    for (let n = 0; n < 10_000; n++) made.take(span(String(n)));
    expect(counts.dropped).toBe(10_000 - 512 - 4_096);
    const startedAt = performance.now();
    await made.close(50);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(counts.exported).toBe(0);
    expect(counts.dropped + counts.failed).toBe(10_000);
    expect(failures).toHaveLength(1);
  });

  it('drops what the collector refuses, and says so once until it takes spans again', async () => {
    const { made, counts, failures } = exporter();
    for (const status of [503, 400, 200, 500]) {
      collector.status = status;
      for (let n = 0; n < 512; n++) made.take(span('x'));
      await vi.waitFor(() => expect(counts.exported + counts.failed).toBe(512 * collector.requests.length));
      await vi.waitFor(() => expect(collector.requests.length % 5).toBe([503, 400, 200, 500].indexOf(status) + 1));
    }
    await made.close(5_000);
    expect([counts, failures]).toEqual([{ exported: 512, dropped: 0, failed: 1_536 }, ['the answer was 503', 'the answer was 500']]);
  });
});

describe('a tracer', () => {
  it('records the share of traces that it is told, and of each all parts or none', () => {
    const taken: Span[] = [];
    const draws = [0.4, 0.6];
    const tracer = new Tracer({ ratio: 0.5, take: (one) => taken.push(one), random: () => draws.shift() ?? 0 });
    const [first, second] = [tracer.root(), tracer.root()];
    expect([first.isSampled, second.isSampled]).toEqual([true, false]);
    const child = tracer.child(first);
    expect(child).toMatchObject({ traceId: first.traceId, parentSpanId: first.spanId });
    expect(tracer.child(second)).toBeUndefined();
    for (const context of [first, second]) {
      tracer.end({ context, name: 'x', kind: 'internal', startedAtMs: performance.now() - 5, attributes: {}, isError: false });
    }
    expect(taken.map(({ context }) => context)).toEqual([first]);
    const [one] = taken;
    expect((one?.endMs ?? 0) - (one?.startMs ?? 0)).toBeGreaterThanOrEqual(5);
    expect(Math.abs((one?.endMs ?? 0) - Date.now())).toBeLessThan(10_000);
    expect(traceparentOf(second)).toBe(`00-${second.traceId}-${second.spanId}-00`);
  });
});
