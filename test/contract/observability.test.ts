import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { alerts } from '../../docs/generate/alerts.ts';
import { type MetricName, metrics } from '../../shared/telemetry/metrics-table.ts';
import { hot, reading, Service, serverKey, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ hasMetrics: true });
});

afterAll(() => service.close());

const scrape = async () => (await fetch(service.metricsUrl)).text();

/** Waits until a scrape, whose numbers may be a moment old, has the line. */
async function scraped(line: string | RegExp): Promise<string> {
  for (;;) {
    const text = await scrape();
    if (typeof line === 'string' ? text.includes(line) : line.test(text)) return text;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('GET /', () => {
  it('names where everything is, and each of these places is there', async () => {
    const { status, body } = await service.get('/', { key: null });
    expect([status, body]).toEqual([
      200,
      {
        name: 'cep',
        version: '1.2.3',
        docs: '/docs',
        console: '/console',
        openapi: '/openapi.json',
        api: '/api/v1',
        websocket: '/ws',
        health: '/health',
        ready: '/ready',
        metrics: '/metrics',
      },
    ]);
    for (const path of [body.docs, body.console, body.openapi, body.health, body.ready, body.metrics])
      expect((await service.get(path)).status).toBe(200);
    expect((await service.get(body.websocket)).status).toBe(426);
    expect((await service.get(`${body.api}/pipelines`)).status).toBe(200);
  });
});

describe('GET /health', () => {
  it('answers {status: healthy, uptime_seconds, version}', async () => {
    expect((await service.get('/health', { key: null })).body).toEqual({
      status: 'healthy',
      uptime_seconds: expect.any(Number),
      version: '1.2.3',
    });
  });
});

describe('GET /ready', () => {
  it('answers 200 with what is loaded', async () => {
    await service.post(`${await service.deploy(hot)}/events`, reading(40));
    const { status, body } = await service.get('/ready', { key: null });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ready',
      engine_loaded: true,
      pipelines: expect.any(Number),
      streams_count: expect.any(Number),
      events_processed: expect.any(Number),
      output_events_emitted: expect.any(Number),
    });
    expect(body.pipelines).toBeGreaterThan(0);
  });

  it('answers 503 with the reason while draining, when everything but probes is refused', async () => {
    const draining = await Service.start();
    await draining.runtime.shutdown({ deadlineMs: 1_000 });
    expect(await draining.get('/ready', { key: null })).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reason: 'draining', code: 'not_ready' },
    });
    expect(await draining.get('/api/v1/pipelines')).toMatchObject({ status: 503, body: { code: 'not_ready' } });
    expect((await draining.get('/health', { key: null })).status).toBe(200);
    await draining.server.close();
  });
});

describe('GET /metrics', () => {
  it('has the metrics of the specification, labelled by pipeline too', async () => {
    const name = uniqueName();
    const path = await service.deploy(hot, { name });
    await service.post(`${path}/events-batch`, { events: [reading(10), reading(40)] });
    const text = await scraped(`cep_events_total{tenant="default",pipeline="${name}",event_type="Reading"} 2`);
    const of = `tenant="default",pipeline="${name}",stream="Hot"`;
    expect(text).toContain(`cep_events_processed{${of}} 2\n`);
    expect(text).toContain(`cep_output_events_total{${of},event_type="Hot"} 1\n`);
    expect(text).toContain(`cep_stream_queue_size{${of}} 0\n`);
    expect(text).toContain(`cep_active_streams{tenant="default",pipeline="${name}"} 1\n`);
    const bounds = [...text.matchAll(new RegExp(`cep_processing_latency_seconds_bucket\\{${of},le="([^"]+)"\\}`, 'g'))].map(
      ([, bound]) => bound,
    );
    expect(bounds).toEqual(['0.0001', '0.0005', '0.001', '0.005', '0.01', '0.05', '0.1', '0.5', '1', '+Inf']);
  });

  it('counts partial matches that were given up by stream and reason, each from 0', async () => {
    const name = uniqueName();
    const path = await service.deploy('stream Pairs = A as a -> B\n  .within(1m)\n  .max_runs(1)\n  .emit(n: a.n)\n', { name });
    const of = `tenant="default",pipeline="${name}",stream="Pairs"`;
    expect(await scraped(`cep_runs_dropped_total{${of},reason="max_runs"} 0`)).toContain(
      `cep_runs_dropped_total{${of},reason="max_closure"} 0\n`,
    );
    const opening = { event_type: 'A', fields: { n: 1 } };
    await service.post(`${path}/events-batch`, { events: [opening, opening, opening] });
    await scraped(`cep_runs_dropped_total{${of},reason="max_runs"} 2`);
  });

  it.each([
    'cep_events_total counter',
    'cep_events_processed counter',
    'cep_output_events_total counter',
    'cep_processing_latency_seconds histogram',
    'cep_stream_queue_size gauge',
    'cep_active_streams gauge',
    'cep_events_invalid_total counter',
    'cep_events_late_total counter',
    'cep_runs_active gauge',
    'cep_state_bytes gauge',
    'cep_checkpoint_seconds gauge',
    'cep_checkpoint_age_seconds gauge',
    'cep_checkpoint_wait_seconds gauge',
    'cep_lookups_open gauge',
    'cep_lookups_oldest_seconds gauge',
    'cep_loop_delay_seconds gauge',
    'process_cpu_seconds_total counter',
  ])('declares %s', async (type) => {
    await service.post(`${await service.deploy(hot)}/events`, reading(40));
    expect(await scraped(`# TYPE ${type}\n`)).toContain(`# HELP ${type.split(' ')[0]} `);
  });

  it('has 0 of each counter that an alert reads before anything has happened', async () => {
    const own = await Service.start({ hasMetrics: true, stateDir: mkdtempSync(join(tmpdir(), 'cep-alerts-')) });
    await own.deploy('connector Hook = http (url: "http://127.0.0.1:9")\nstream S = A.emit(x: 1).to(Hook)\n', { name: 'p' });
    const text = await (await fetch(own.metricsUrl)).text();
    await own.close();
    const labelled: string[] = [];
    for (const { expr } of Object.values(alerts)) {
      for (const [, name = '', labels = ''] of expr.matchAll(/\b(cep_\w+)(?:\{(.*?)\})?\[/g)) {
        if (metrics[name as MetricName]?.type !== 'counter') continue;
        const isThere = text.split('\n').some((line) => line.startsWith(`${name}`) && line.includes(labels) && line.endsWith(' 0'));
        if (!isThere) labelled.push(name);
      }
    }
    // Its types are known only once they come: alerts that read it allow for that.
    expect([...new Set(labelled)]).toEqual(['cep_events_total']);
  });

  it('has the age of what is saved of pipelines that run, and of no other', async () => {
    const name = uniqueName();
    const path = await service.deploy(hot, { name });
    const age = `cep_checkpoint_age_seconds{tenant="default",pipeline="${name}"}`;
    expect(await scrape()).toContain(age);
    await service.post(`${path}/stop`);
    expect(await scrape()).not.toContain(age);
    await service.post(`${path}/start`);
    expect(await scrape()).toContain(age);
  });

  it('counts incomplete events by type and field', async () => {
    const name = uniqueName();
    await service.post(`${await service.deploy(hot, { name })}/events`, { event_type: 'Reading', fields: { value: 1 } });
    await scraped(`cep_events_incomplete_total{tenant="default",pipeline="${name}",event_type="Reading",field="sensor"} 1\n`);
  });

  it('counts events of types that no stream reads, by type', async () => {
    const name = uniqueName();
    const path = await service.deploy(hot, { name });
    for (const type of ['Readign', 'Readign', 'Other']) await service.post(`${path}/events`, { event_type: type, fields: {} });
    await scraped(`cep_events_unread_total{tenant="default",pipeline="${name}",event_type="Readign"} 2\n`);
  });

  it('forgets a pipeline that is gone', async () => {
    const name = uniqueName();
    const path = await service.deploy(hot, { name });
    await scraped(`pipeline="${name}"`);
    await service.delete(path);
    await scraped(new RegExp(`^(?![\\s\\S]*pipeline="${name}")`));
  });

  it('is text that a Prometheus server can read', async () => {
    const answer = await fetch(service.metricsUrl);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    for (const line of (await answer.text()).split('\n').filter((text) => text !== '' && !text.startsWith('#'))) {
      expect(line).toMatch(/^[a-z_:]\w*(\{([a-z_]\w*="(\\.|[^"\\])*",?)*\})? -?([\d.]+(e[+-]?\d+)?|Nan|\+Inf)$/i);
    }
  });

  it('writes no series twice', async () => {
    await service.deploy(hot);
    const heads = (await scrape())
      .split('\n')
      .filter((text) => text !== '' && !text.startsWith('#'))
      .map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(new Set(heads).size).toBe(heads.length);
  });

  it('needs no key on its own port, and the key of the server on the port of the API', async () => {
    const { key } = await service.tenant();
    expect((await service.get('/metrics', { key: null })).status).toBe(401);
    expect((await service.get('/metrics', { key })).status).toBe(403);
    expect((await service.get('/metrics', { key: serverKey })).text).toContain('# TYPE cep_events_total counter');
  });

  it('needs the key on both with metricsNeedKey', async () => {
    const guarded = await Service.start({ hasMetrics: true, metricsNeedKey: true });
    try {
      expect((await fetch(guarded.metricsUrl)).status).toBe(401);
      expect((await fetch(guarded.metricsUrl, { headers: { 'x-api-key': serverKey } })).status).toBe(200);
    } finally {
      await guarded.close();
    }
  });

  it('counts wrong keys on both against the rate limit, and nothing else', async () => {
    const guarded = await Service.start({ hasMetrics: true, metricsNeedKey: true, rateLimit: 1 });
    try {
      const ask = async (url: string, key: string, times: number) =>
        await Promise.all(Array.from({ length: times }, async () => (await fetch(url, { headers: { 'x-api-key': key } })).status));
      for (const url of [guarded.metricsUrl, `${guarded.url}/metrics`]) {
        expect(new Set(await ask(url, 'a-wrong-key', 10))).toEqual(new Set([401, 429]));
        expect(new Set(await ask(url, serverKey, 10))).toEqual(new Set([200]));
      }
    } finally {
      await guarded.close();
    }
  });

  it('says on its port what is there', async () => {
    const answer = await fetch(service.metricsUrl.replace('/metrics', '/nowhere'));
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found', hint: 'this port serves /metrics' }]);
  });

  it('is 404 on the port of the API when metrics are off', async () => {
    const without = await Service.start();
    try {
      expect((await without.get('/metrics')).status).toBe(404);
    } finally {
      await without.close();
    }
  });
});

describe('dead letters', () => {
  it('of sinks, of sources, and of rows are counted alike by a scrape, by the answer of metrics, and by the list', async () => {
    const workDir = mkdtempSync(join(tmpdir(), 'cep-letters-'));
    const name = uniqueName();
    const own = await Service.start({ hasMetrics: true, strictEvents: false, workDir });
    const written = async () => {
      const text = await (await fetch(own.metricsUrl)).text();
      const series = [...text.matchAll(new RegExp(`^cep_dlq_events_total\\{.*pipeline="${name}",connector="(.*)"\\} (.*)$`, 'gm'))];
      return Object.fromEntries(series.map(([, connector, count]) => [connector, Number(count)]));
    };
    try {
      const path = await own.deploy(
        'connector In = file (path: "in.jsonl", follow: true)\nconnector Hook = http (url: "http://127.0.0.1:1/", retries: 0)\n\n' +
          'event A:\n    v: int\n\nstream F = A.from(In).emit(v: v)\n' +
          'stream S = B.where(d > 0).emit(d: d).to(Hook)\nstream E = B.on_error(dlq).emit(q: d - s)\n',
        { name },
      );
      expect(await written()).toEqual({ In: 0, Hook: 0, on_error: 0 });
      for (const d of [0, 1]) await own.post(`${path}/events`, { event_type: 'B', fields: { d, s: 'x' } });
      const [unreadable, invalid] = ['no event', '{"event_type":"A","v":"x"}'];
      writeFileSync(join(workDir, 'in.jsonl'), `${[unreadable, unreadable, unreadable, invalid].join('\n')}\n`);
      await vi.waitUntil(async () => (await own.get(`${path}/dlq`)).body.total === 7, { timeout: 10_000 });
      await vi.waitUntil(async () => (await own.get(`${path}/metrics`)).body.dlq_events === 7, { timeout: 10_000 });
      expect(await written()).toEqual({ In: 4, Hook: 1, on_error: 2 });
      expect((await own.get('/api/v1/metrics')).body.totals.dlq_events).toBe(7);
    } finally {
      await own.close();
      rmSync(workDir, { recursive: true });
    }
  });
});

describe('the log', () => {
  it("says 'Pipeline deployed' at INFO", async () => {
    await service.deploy(hot);
    expect(service.log.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 'info', message: 'Pipeline deployed' }),
    );
  });

  it('has a record of who did what for every request that changes something, or tried to', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/reload`, { source: hot });
    await service.post(`${path}/reload`, { source: 'stream X = ' });
    await service.post(`${path}/stop`, undefined, { key: null });
    await service.delete(path);
    const records = service.log
      .map((line) => JSON.parse(line))
      .filter(({ message, path: at }) => message === 'Audit' && at.startsWith(path));
    expect(records.map(({ who, operation, status }) => [who, operation, status])).toEqual([
      ['admin default', 'reloadPipeline', 200],
      ['admin default', 'reloadPipeline', 400],
      ['nobody', 'stopPipeline', 401],
      ['admin default', 'deletePipeline', 200],
    ]);
  });

  it('stays one line per record, whatever a name holds', async () => {
    const name = `a\nlevel=error \u001b[31mred\u202e`;
    await service.deploy(hot, { name });
    for (const line of service.log) expect(line.indexOf('\n')).toBe(line.length - 1);
  });
});
