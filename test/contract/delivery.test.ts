import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { reading, Service, uniqueName } from './service.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let service: Service;
let url = '';
/** What the sink answers; by path, else with success. */
const statuses = new Map<string, number>();
const received: Received[] = [];
const hook = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const path = request.url ?? '';
    received.push({ path, headers: request.headers, body });
    response.writeHead(statuses.get(path) ?? 204).end();
  });
});

beforeAll(async () => {
  service = await Service.start({ hasMetrics: true });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
});
beforeEach(() => {
  statuses.clear();
  received.length = 0;
});
afterAll(async () => {
  await service.close();
  hook.closeAllConnections();
  hook.close();
});

/** Sends each reading to two sinks. */
const program = (parameters = 'retries: 0') =>
  `connector One = http (url: "${url}/one", ${parameters})\nconnector Two = http (url: "${url}/two", ${parameters})\n\n` +
  'event Reading:\n    sensor: str\n    value: float\n\nstream Hot = Reading.emit(value: value).to(One).to(Two)\n';

describe('a program whose connector cannot work', () => {
  it.each([
    ['connector C = http (url: "nonsense")', /no http or https address/],
    ['connector C = http (profile: "none")', /no profile 'none'/],
    ['connector C = mysql (url: "nonsense", table: "t")', /no address of a database/],
    [
      'connector C = http (url: "http://a:b@localhost:1/", headers: {"Authorization": "Bearer x"})',
      /holds a login and its headers another/,
    ],
  ])('%s is answered with 502 connector_error, and nothing is kept', async (connector, message) => {
    const name = uniqueName();
    const source = `${connector}\nstream S = A.emit(x: 1).to(C)\n`;
    const { status, body } = await service.post('/api/v1/pipelines', { name, source });
    expect([status, body.code, body.error]).toEqual([502, 'connector_error', expect.stringMatching(message)]);
    expect((await service.get('/api/v1/pipelines?limit=1000')).text).not.toContain(`"${name}"`);
    expect((await service.post('/api/v1/pipelines', { name, source: 'stream S = A.emit(x: 1)\n' })).status).toBe(201);
  });

  it.each([
    ['stream S = A.enrich(C, key: x, fields: [y]).emit(x: x, y: y)'],
    ['stream S = A.enrich(C, key: x, fields: [y], fallback: {y: 1}).emit(x: x, y: y)'],
    ['stream S = A.fork(one: .enrich(C, key: x, fields: [y]).emit(y: y))'],
  ])('asks one that does not exist: %s', async (stream) => {
    const source = `connector C = http (profile: "none")\n${stream}\n`;
    const deployed = await service.post('/api/v1/pipelines', { name: uniqueName(), source });
    expect([deployed.status, deployed.body.code]).toEqual([502, 'connector_error']);
    expect(deployed.body).toMatchObject({ error: expect.stringMatching(/no profile 'none'/) });
    const running = await service.deploy(program());
    const reloaded = await service.post(`${running}/reload`, { source });
    expect([reloaded.status, reloaded.body.code]).toEqual([502, 'connector_error']);
    expect((await service.get(running)).body).toMatchObject({ version: 1, status: 'running' });
  });

  it('leaves the one before running when it is reloaded', async () => {
    const path = await service.deploy(program());
    const bad = program().replace(`${url}/two`, 'nonsense');
    expect(await service.post(`${path}/reload`, { source: bad })).toMatchObject({ status: 502, body: { code: 'connector_error' } });
    expect((await service.get(path)).body).toMatchObject({ version: 1, status: 'running' });
    await service.post(`${path}/events`, reading(1));
    await vi.waitUntil(() => received.length === 2);
  });
});

describe('dead letters', () => {
  const total = async (path: string): Promise<number> => (await service.get(`${path}/dlq`)).body.total;

  it('have the members of a line of the file, one for each sink that refused', async () => {
    statuses.set('/two', 400);
    const path = await service.deploy(program());
    await service.post(`${path}/events`, reading(1, { timestamp: 1_700_000_000_000 }));
    await vi.waitUntil(async () => (await total(path)) === 1);
    const { body } = await service.get(`${path}/dlq`);
    expect(body.entries).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        connector: 'Two',
        error: 'the answer was 400',
        event: { event_type: 'Hot', timestamp: 1_700_000_000_000, data: { value: 1 } },
        id: expect.any(String),
        pipeline_id: path.split('/').at(-1),
        stream: 'Hot',
        attempts: 1,
        code: 'http_400',
      },
    ]);
    expect((await service.get(`${path}/metrics`)).body.dlq_events).toBe(1);
  });

  it('are replayed to the sink that refused them and to no other, as they were first; those that are taken are gone', async () => {
    statuses.set('/two', 400);
    const path = await service.deploy(program());
    await service.post(`${path}/events-batch`, { events: [reading(1), reading(2), reading(3)] });
    await vi.waitUntil(async () => (await total(path)) === 3);
    const first = received.filter((one) => one.path === '/two');
    expect((await service.post(`${path}/dlq/replay`)).body).toEqual({ replayed: 0, failed: 3 });
    statuses.set('/two', 404);
    expect((await service.post(`${path}/dlq/replay`)).body).toEqual({ replayed: 0, failed: 3 });
    const { body } = await service.get(`${path}/dlq`);
    const standing = (letter: { attempts: number; code: string; error: string }) => [letter.attempts, letter.code, letter.error];
    expect(body.entries.map(standing)).toEqual(Array(3).fill([3, 'http_404', 'the answer was 404']));
    received.length = 0;
    statuses.clear();
    expect((await service.post(`${path}/dlq/replay`)).body).toEqual({ replayed: 3, failed: 0 });
    const again = (one: Received) => [one.path, one.headers['idempotency-key'], one.body];
    expect(received.map(again)).toEqual(first.map(again));
    expect(await total(path)).toBe(0);
  });

  it('are listed, replayed and forgotten by connector, code and id', async () => {
    statuses.set('/one', 404);
    statuses.set('/two', 400);
    const path = await service.deploy(program());
    await service.post(`${path}/events-batch`, { events: [reading(1), reading(2), reading(3)] });
    await vi.waitUntil(async () => (await total(path)) === 6);
    const listed = async (query: string): Promise<{ id: string; code: string }[]> => {
      const { body } = await service.get(`${path}/dlq?${query}`);
      expect(body.total).toBe(body.entries.length);
      return body.entries;
    };
    const twos = await listed('connector=Two');
    expect(twos.map(({ code }) => code)).toEqual(['http_400', 'http_400', 'http_400']);
    expect(await listed('connector=Two&code=http_404')).toEqual([]);
    expect(await listed(`id=${twos[1]?.id}&code=http_400`)).toEqual([twos[1]]);
    statuses.clear();
    expect((await service.post(`${path}/dlq/replay?code=http_400&id=${twos[0]?.id}`)).body).toEqual({ replayed: 1, failed: 0 });
    expect((await service.delete(`${path}/dlq?connector=One`)).body).toEqual({ cleared: 3 });
    expect(await listed('')).toEqual(twos.slice(1));
    expect((await service.post(`${path}/dlq/replay?connector=Two`)).body).toEqual({ replayed: 2, failed: 0 });
    expect(await total(path)).toBe(0);
  });

  it('are given in pages, oldest first, and can be forgotten', async () => {
    statuses.set('/one', 404);
    const path = await service.deploy(program());
    await service.post(`${path}/events-batch`, { events: [1, 2, 3, 4, 5].map((value) => reading(value)) });
    await vi.waitUntil(async () => (await total(path)) === 5);
    const { body } = await service.get(`${path}/dlq?limit=2&offset=1`);
    expect(body.entries.map(({ event }: { event: { data: { value: number } } }) => event.data.value)).toEqual([2, 3]);
    expect(body.pagination).toEqual({ total: 5, limit: 2, offset: 1, has_more: true });
    expect(await service.get(`${path}/dlq?limit=0`)).toMatchObject({ status: 400, body: { code: 'invalid_limit' } });
    expect((await service.delete(`${path}/dlq`)).body).toEqual({ cleared: 5 });
    expect(await total(path)).toBe(0);
  });
});

describe('a sink that does not answer well', () => {
  it('degrades its pipeline, which says why, while its circuit breaker is open; a reload with another makes it well', async () => {
    statuses.set('/one', 503);
    const name = uniqueName();
    const path = await service.deploy(program('retries: 0, failure_threshold: 2'), { name });
    await service.post(`${path}/events-batch`, { events: [reading(1), reading(2), reading(3)] });
    await vi.waitUntil(async () => (await service.get(path)).body.status === 'degraded');
    const told = { error: 'the circuit breaker is open: One', failing_connectors: ['One'] };
    expect((await service.get(path)).body).toMatchObject(told);
    const { pipelines } = (await service.get('/api/v1/metrics')).body as { pipelines: { name: string }[] };
    expect(pipelines.find((one) => one.name === name)).toMatchObject(told);
    const scrape = async (): Promise<string> => (await fetch(service.metricsUrl)).text();
    const of = (connector: string) => `cep_connector_state{tenant="default",pipeline="${name}",connector="${connector}"}`;
    await vi.waitUntil(async () => (await scrape()).includes(`${of('One')} 2\n`));
    expect(await scrape()).toContain(`${of('Two')} 0\n`);
    expect((await service.post(`${path}/events`, reading(4))).status).toBe(200);
    await service.post(`${path}/reload`, { source: program().replace('/one', '/other') });
    await vi.waitUntil(async () => (await service.get(path)).body.status === 'running');
  });
});

describe('a model that cannot be used', () => {
  it.each([
    ['none.onnx', 'validation_error'],
    ['broken.onnx', 'model_error'],
  ])('is a fault of the program (%s), and the answer shows nothing of the server but its name', async (model, code) => {
    const workDir = mkdtempSync(join(tmpdir(), 'cep-models-'));
    writeFileSync(join(workDir, 'broken.onnx'), 'no model');
    const own = await Service.start({ workDir });
    const source = `stream S = A.score(model: "${model}", inputs: [x], outputs: [risk]).emit(risk: risk)\n`;
    const { status, body, text } = await own.post('/api/v1/pipelines', { name: uniqueName(), source });
    expect([status, body.code, body.error]).toEqual([400, code, expect.stringContaining(model)]);
    expect(text).not.toMatch(/cep-models-|node_modules/);
    await own.close();
    rmSync(workDir, { recursive: true });
  });
});

describe('a url with a login', () => {
  it('is sent as Basic authentication, and the login stands nowhere else', async () => {
    const path = await service.deploy(
      `connector C = http (url: "${url.replace('//', '//ann:p%40ss%2Fword@')}/login")\nstream S = A.emit(x: 1).to(C)\n`,
    );
    await service.post(`${path}/events`, { event_type: 'A', fields: {} });
    await vi.waitUntil(() => received.length === 1);
    expect(received[0]?.path).toBe('/login');
    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ann:p@ss/word').toString('base64')}`);
    expect((await service.get(`${path}/topology`)).text).not.toMatch(/ann|word/);
  });
});

describe('a sink that hangs', () => {
  it('holds up no DELETE: what is under way and what waits become dead letters', async () => {
    const hanging = createServer(() => undefined);
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    const { port } = hanging.address() as AddressInfo;
    const source = `connector C = http (url: "http://127.0.0.1:${port}/", timeout: 60s)\nstream S = A.emit(x: 1).to(C)\n`;
    for (const before of [async () => undefined, (path: string) => service.post(`${path}/stop`)]) {
      const path = await service.deploy(source);
      for (let n = 0; n < 3; n++) await service.post(`${path}/events`, { event_type: 'A', fields: {} });
      const stopped = before(path);
      const startedAt = performance.now();
      expect((await service.delete(path)).body).toEqual({ deleted: true });
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      await stopped;
      const id = path.split('/').at(-1) ?? '';
      const written = service.log
        .map((line) => JSON.parse(line))
        .filter(({ message, pipeline }) => message === 'DLQ write' && pipeline === id);
      expect(written).toMatchObject([{ code: 'given_up', connector: 'C', events: 3 }]);
    }
    hanging.closeAllConnections();
    hanging.close();
  });
});

describe('dead letters in memory', () => {
  it('are the newest 10,000; those that fall out are counted', async () => {
    statuses.set('/one', 400);
    const name = uniqueName();
    const small = await Service.start({ hasMetrics: true });
    try {
      const path = await small.deploy(program('retries: 0, failure_threshold: 1').replaceAll(/http:[^"]*/g, 'http://127.0.0.1:1/'), {
        name,
      });
      const events = Array.from({ length: 2_520 }, (_, n) => reading(n));
      for (let n = 0; n < 2; n++) await small.post(`${path}/events-batch?outputs=false`, { events });
      await vi.waitUntil(async () => (await small.get(`${path}/metrics`)).body.dlq_events === 10_080, { timeout: 15_000 });
      expect((await small.get(`${path}/dlq?limit=1`)).body.total).toBe(10_000);
      const text = await (await fetch(small.metricsUrl)).text();
      const dropped = [...text.matchAll(/^cep_dlq_dropped_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count));
      expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(80);
    } finally {
      await small.close();
    }
  });
});
