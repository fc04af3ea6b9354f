import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spinFunctions } from '../integration/runtime/spin-functions.ts';
import { Service, uniqueName } from './service.ts';

let service: Service;
let url = '';
/** A sink that refuses every second request for good. */
let requests = 0;
const hook = createServer((_request, response) => void response.writeHead(requests++ % 2 === 0 ? 204 : 400).end());

beforeAll(async () => {
  service = await Service.start({ hasMetrics: true, strictEvents: false });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await service.close();
  hook.closeAllConnections();
  hook.close();
});

/** Every series of a counter, and of a histogram, as the next scrape has it. */
async function counters(of = service): Promise<Map<string, number>> {
  const text = await (await fetch(of.metricsUrl)).text();
  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (counter|histogram)$/gm)].map(([, name = '', kind]) => [name, kind]));
  const lines = text.split('\n').map((line) => /^([a-z_]+)(\{.*\})? (\S+)$/.exec(line));
  return new Map(
    lines.flatMap((line) => {
      if (line === null) return [];
      const [, name = '', labels = '', value] = line;
      const isCounter = kinds.get(name) === 'counter' || kinds.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram';
      return isCounter ? [[name + labels, Number(value)] as const] : [];
    }),
  );
}

describe('a counter', () => {
  const program = (limit: number, more = '', path = '') =>
    `connector Hook = http (url: "${url}${path}", retries: 0)\n\nevent A:\n    k: str\n    x: int\n\n` +
    `stream Hot = A.where(x > ${limit}).emit(x: x).to(Hook)\n${more}`;
  const late = 'stream Late = A.window(1s).aggregate(n: count()).emit(n: n)\n';

  it('never goes down, and counts each event once, whatever becomes of the pipeline', async () => {
    const name = uniqueName();
    const path = await service.deploy(program(0, late), { name });
    const of = `tenant="default",pipeline="${name}"`;
    let last = new Map<string, number>();
    let sent = 0;
    let times = 0;
    const look = async (): Promise<Map<string, number>> => {
      const now = await counters();
      for (const [series, value] of last)
        if (now.has(series)) expect([series, now.get(series)]).toEqual([series, Math.max(value, now.get(series) ?? 0)]);
      last = new Map([...last, ...now]);
      return now;
    };
    const send = async (count: number): Promise<void> => {
      const events = Array.from({ length: count }, (_, n) => ({
        event_type: 'A',
        fields: { k: 'a', x: 1 },
        timestamp: 1_000_000 - n * 5_000,
      }));
      await service.post(`${path}/events-batch`, { events: [...events, { event_type: 'A', fields: { k: 'a', x: 'wrong' } }] });
      await service.post(`${path}/events`, { event_type: 'A', fields: { x: 1 } });
      sent += count + 1;
      times++;
      while ((await look()).get(`cep_events_total{${of},event_type="A"}`) !== sent);
      while ((await look()).get(`cep_events_processed{${of},stream="Hot"}`) !== sent);
    };

    await send(3);
    const checkpoint = (await service.post(`${path}/checkpoint`)).text;
    await send(10);
    await service.post(`${path}/stop`);
    await look();
    await service.post(`${path}/start`);
    await send(5);
    expect((await service.post(`${path}/restore`, checkpoint)).status).toBe(200);
    expect((await service.get(path)).body.events_processed).toBe(4);
    await look();
    await send(2);
    for (const source of [program(0, '', '/other'), program(0, late, '/other'), program(0, late)]) {
      expect((await service.post(`${path}/reload`, { source })).status).toBe(200);
      await send(4);
    }
    await service.post(`${path}/restore`, checkpoint);
    await service.post(`${path}/stop`);
    await service.post(`${path}/start`);
    await send(1);

    const now = await look();
    expect(now.get(`cep_events_invalid_total{${of}}`)).toBe(times);
    expect(now.get(`cep_events_incomplete_total{${of},event_type="A",field="k"}`)).toBe(times);
    expect(now.get(`cep_output_events_total{${of},stream="Hot",event_type="Hot"}`)).toBe(sent);
    expect(now.get(`cep_events_late_total{${of}}`)).toBeGreaterThan(10);
    const letters = Array.from(last).find(([series]) => series.startsWith(`cep_dlq_events_total{${of},connector="Hook"`))?.[1];
    expect(letters).toBeGreaterThan(10);
  });
});

describe('what an engine has counted', () => {
  it('counts outputs that nobody asked for, by stream and type', async () => {
    const name = uniqueName();
    const path = await service.deploy('event A:\n    x: int\n\nstream S = A.emit(x: x)\n\nstream T = A.where(x < 1000).emit(x: x)\n', {
      name,
    });
    const events = Array.from({ length: 3_000 }, (_, x) => ({ event_type: 'A', fields: { x } }));
    await service.post(`${path}/events-batch?outputs=false`, { events });
    const own = [...(await counters())].filter(([series]) => series.includes(`"${name}"`));
    const valuesOf = (metric: string) => own.filter(([series]) => series.startsWith(`${metric}{`)).map(([, value]) => value);
    expect(valuesOf('cep_output_events_total').sort()).toEqual([1_000, 3_000]);
    expect(valuesOf('cep_processing_latency_seconds_count').sort()).toEqual([1_000, 3_000]);
  });

  it('is told after a restart, and of the streams of a changed program, before anything happens', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'cep-counters-'));
    const program = 'event A:\n    x: int\n\nstream Hot = A.where(x > 0).emit(x: x)\n';
    const first = await Service.start({ stateDir, hasMetrics: true });
    const path = await first.deploy(program, { name: 'idle' });
    const event = (type: string) => ({ event_type: type, fields: { x: 1 }, timestamp: 1_000_000 });
    await first.post(`${path}/events-batch`, { events: [...Array.from({ length: 5 }, () => event('A')), event('B'), event('B')] });
    await first.get(`${path}/metrics`);
    const facts = async (of: Service) => {
      const { totals, pipelines } = (await of.get('/api/v1/metrics')).body as {
        totals: Record<string, unknown>;
        pipelines: Record<string, unknown>[];
      };
      const series = [...(await counters(of))].filter(([name]) => /^cep_events_(total|processed|unread_total)\{/.test(name));
      return { totals: { ...totals, state_bytes: null }, ...pick(pipelines[0] ?? {}), series };
    };
    const before = await facts(first);
    expect(before).toMatchObject({ events_unread: 2, watermark: expect.any(Number) });
    await first.close();

    const second = await Service.start({ stateDir, hasMetrics: true });
    try {
      expect(await facts(second)).toEqual(before);
      await second.post(`${path}/reload`, { source: `${program}stream Cold = A.where(x < 0).emit(x: x)\n` });
      await expect
        .poll(async () => (await counters(second)).get('cep_events_processed{tenant="default",pipeline="idle",stream="Cold"}'))
        .toBe(0);
    } finally {
      await second.close();
      rmSync(stateDir, { recursive: true });
    }
  });
});

describe('what the engine of a stopped pipeline had counted', () => {
  it('is told after a restart as before it, until the pipeline starts and counts on', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'cep-counters-'));
    const first = await Service.start({ stateDir });
    const path = await first.deploy('event A:\n    x: int\n\nstream Hot = A.where(x > 0).emit(x: x)\n', { name: 'halted' });
    const send = (to: Service) =>
      to.post(`${path}/events-batch`, {
        events: ['A', 'A', 'B'].map((type) => ({ event_type: type, fields: { x: 1 }, timestamp: 1_000_000 })),
      });
    const told = async (of: Service) => {
      const { streams, events_unread, unread_types, watermark } = (await of.get(`${path}/metrics`)).body;
      return { streams, events_unread, unread_types, watermark };
    };
    await send(first);
    await first.post(`${path}/stop`);
    const before = await told(first);
    expect(before).toMatchObject({ events_unread: 1, watermark: 1_000_000, streams: [{ name: 'Hot', events_out: 2 }] });
    await first.close();

    const second = await Service.start({ stateDir });
    try {
      expect(await told(second)).toEqual(before);
      await second.post(`${path}/start`);
      await send(second);
      expect(await told(second)).toMatchObject({ events_unread: 2, streams: [{ name: 'Hot', events_out: 4 }] });
    } finally {
      await second.close();
      rmSync(stateDir, { recursive: true });
    }
  });
});

const pick = ({ events_unread, watermark }: Record<string, unknown>) => ({ events_unread, watermark });

/** Keeps the engine busy for as long as one event may. */
const spinner = `${spinFunctions}
stream Spin = Job.aggregate(spun: last(rounds)).select(spun: spin(spun)).emit(spun: spun)
`;

describe('what is refused', () => {
  let strained: Service;

  beforeAll(async () => {
    strained = await Service.start({ hasMetrics: true, eventBudgetMs: 300 });
  });
  afterAll(() => strained.close());

  const event = (type: string, fields: object) => ({ event_type: type, fields });
  const batchOf = (length: number) => ({ events: Array.from({ length }, () => event('A', { x: 1 })) });
  const program = 'event A:\n    x: int\n\nstream S = A.emit(x: x)\n';

  /** What a pipeline and its tenant have of it: in a scrape, in both answers about its metrics, and in the tenant's usage. */
  async function refusals(path: string, key?: string): Promise<object> {
    const options = key === undefined ? {} : { key };
    const answers = [`${path}/metrics`, '/api/v1/metrics', '/api/v1/usage'].map((asked) => strained.get(asked, options));
    const [one, all, usage] = (await Promise.all(answers)).map(({ body }) => body);
    const scraped = await counters(strained);
    const of = `{tenant="${usage.tenant_id}",pipeline="${all.pipelines[0].name}"}`;
    const ofOne = ({ events_refused, requests_refused }: Record<string, number>) => [events_refused, requests_refused];
    return {
      scraped: ['cep_events_refused_total', 'cep_requests_refused_total'].map((metric) => scraped.get(metric + of)),
      metrics: ofOne(one),
      ofAll: [ofOne(all.pipelines[0]), ofOne(all.totals)],
      usage: [usage.events_rejected, usage.requests_rejected],
    };
  }
  const both = (events: number, requests: number) => ({
    scraped: [events, requests],
    metrics: [events, requests],
    ofAll: Array.from({ length: 2 }, () => [events, requests]),
    usage: [events, requests],
  });

  it('by a quota counts as events where they were read, as a request where nobody has', async () => {
    const { key } = await strained.tenant({ quota: { max_events_per_second: 0 } });
    const path = await strained.deploy(program, { key });
    const read = await strained.post(`${path}/events-batch`, batchOf(7), { key, headers: { 'idempotency-key': 'once' } });
    expect(read).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    for (const [route, body] of [
      ['events', event('A', { x: 1 })],
      ['events-batch', batchOf(7)],
    ] as const)
      expect(await strained.post(`${path}/${route}`, body, { key })).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
    await expect.poll(() => refusals(path, key)).toEqual(both(7, 2));
  });

  it('by a full queue counts the same', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    try {
      const source = `connector Hook = http (url: "http://127.0.0.1:${port}")\n\n${program.trimEnd()}.to(Hook)\n`;
      const path = await strained.deploy(source);
      expect((await strained.post(`${path}/events-batch?outputs=false`, batchOf(10_500))).status).toBe(200);
      const read = await strained.post(`${path}/events-batch`, batchOf(5), { headers: { 'idempotency-key': 'full' } });
      expect(read).toMatchObject({ status: 429, body: { code: 'queue_full' } });
      const unread = await strained.post(`${path}/events-batch`, batchOf(5));
      expect(unread).toMatchObject({ status: 429, body: { code: 'queue_full' } });
      await expect.poll(() => refusals(path)).toEqual(both(5, 1));
      expect((await strained.delete(path)).status).toBe(200);
    } finally {
      silent.closeAllConnections();
      silent.close();
    }
  });

  it('because it has used up its budget counts as an event of the pipeline, and of no quota', async () => {
    const { key } = await strained.tenant();
    const path = await strained.deploy(spinner, { key });
    const answer = await strained.post(`${path}/events`, event('Job', { rounds: 100 }), { key });
    expect(answer).toMatchObject({ status: 422, body: { code: 'budget_exceeded' } });
    await expect.poll(() => refusals(path, key)).toEqual({ ...both(1, 0), usage: [0, 0] });
  });
});

describe('events by type', () => {
  it('are counted as others beyond a thousand types', async () => {
    const path = await service.deploy('stream Hot = A.emit(x: 1)\n', { name: 'types' });
    const events = Array.from({ length: 1_005 }, (_, n) => ({ event_type: `T${n}`, fields: {} }));
    await service.post(`${path}/events-batch?outputs=false`, { events });
    await service.get(`${path}/metrics`);
    const series = [...(await counters())].filter(([name]) => name.startsWith('cep_events_total{tenant="default",pipeline="types"'));
    expect([series.length, series.reduce((sum, [, count]) => sum + count, 0)]).toEqual([1_001, 1_005]);
    expect(series.at(-1)).toEqual(['cep_events_total{tenant="default",pipeline="types",event_type="other"}', 5]);
  });
});
