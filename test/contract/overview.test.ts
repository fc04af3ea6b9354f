import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../shared/limits.ts';
import { hot, reading, Service } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

/** Values of a tenant of its own. */
async function tenantWith(...names: readonly string[]): Promise<{ readonly key: string; readonly paths: readonly string[] }> {
  const { key } = await service.tenant();
  const paths: string[] = [];
  for (const name of names) paths.push(await service.deploy(hot, { key, name }));
  return { key, paths };
}

const idOf = (path: string | undefined): string | undefined => path?.split('/').at(-1);

describe('GET /api/v1/metrics', () => {
  it('shows the counts of each pipeline and their sums', async () => {
    const { key, paths } = await tenantWith('first', 'second');
    const events = { events: [reading(40), reading(20), { event_type: 'Nobody', fields: {} }] };
    await service.post(`${paths[0]}/events-batch`, events, { key });
    await service.get(`${paths[0]}/metrics`, { key });
    const { body } = await service.get('/api/v1/metrics', { key });
    expect(body.pipelines).toMatchObject([
      { name: 'first', status: 'running', version: 1, events_processed: 3, output_events_emitted: 1, events_unread: 1 },
      { name: 'second', events_processed: 0 },
    ]);
    expect(body).toMatchObject({ total: 2, totals: { pipelines: 2, events_processed: 3, output_events_emitted: 1, events_unread: 1 } });
    expect(body.pipelines[0]).not.toHaveProperty('source');
  });

  it('gives pages with the sums of all, and shows a tenant only its own', async () => {
    const { key, paths } = await tenantWith('a', 'b', 'c');
    for (const path of paths) await service.post(`${path}/events`, reading(40), { key });
    for (const path of paths) await service.get(`${path}/metrics`, { key });
    const { body } = await service.get('/api/v1/metrics?limit=1&offset=1', { key });
    expect(body.pipelines.map(({ name }: { name: string }) => name)).toEqual(['b']);
    expect(body.pagination).toEqual({ total: 3, limit: 1, offset: 1, has_more: true });
    expect(body.totals).toMatchObject({ pipelines: 3, events_processed: 3, output_events_emitted: 3 });
  });
});

describe('GET /api/v1/alerts', () => {
  it('shows the newest alerts of all pipelines first', async () => {
    const { key, paths } = await tenantWith('first', 'second');
    await service.post(`${paths[0]}/events`, reading(31, { timestamp: 1_000 }), { key });
    await service.post(`${paths[1]}/events`, reading(32, { timestamp: 2_000 }), { key });
    await service.post(`${paths[0]}/events`, reading(33, { timestamp: 3_000 }), { key });
    const shown = async (query: string): Promise<unknown[]> =>
      (await service.get(`/api/v1/alerts${query}`, { key })).body.alerts.map(({ pipeline, sequence, data }: Shown) => [
        pipeline,
        sequence,
        data['value'],
      ]);
    expect(await shown('')).toEqual([
      ['first', 2, 33],
      ['second', 1, 32],
      ['first', 1, 31],
    ]);
    expect(await shown('?limit=1')).toEqual([['first', 2, 33]]);
    expect(await shown(`?pipeline_id=${idOf(paths[1])}`)).toEqual([['second', 1, 32]]);
  });

  it('shows fewer where they are much text, and one of any size', async () => {
    const { key } = await service.tenant();
    const fields = Array.from({ length: 20 }, (_, at) => `f${at}: x`).join(', ');
    const source = `event T:\n    x: str\nstream S = T.emit(${fields})\n`;
    const path = await service.deploy(source, { key });
    const shown = async (): Promise<readonly number[]> =>
      (await service.get('/api/v1/alerts', { key })).body.alerts.map(({ sequence }: Shown) => sequence);
    const event = (chars: number) => ({ event_type: 'T', fields: { x: 'x'.repeat(Math.ceil(chars / 20)) } });
    const events = Array.from({ length: 5 }, () => event(limits.alertPageCharsMax / 3));
    await service.post(`${path}/events-batch?outputs=false`, { events }, { key });
    expect(await shown()).toEqual([5, 4]);
    await service.post(`${path}/events-batch?outputs=false`, { events: [event(limits.alertPageCharsMax)] }, { key });
    expect(await shown()).toEqual([6]);
  });

  it('shows no alerts of another tenant', async () => {
    const { paths } = await tenantWith('theirs');
    const { key } = await tenantWith('mine');
    expect(await service.get(`/api/v1/alerts?pipeline_id=${idOf(paths[0])}`, { key })).toMatchObject({
      status: 404,
      body: { code: 'pipeline_not_found' },
    });
    expect((await service.get('/api/v1/alerts', { key })).body.alerts).toEqual([]);
  });
});

interface Shown {
  readonly pipeline: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

describe('GET /api/v1/pipelines/{id}/alerts/{sequence}', () => {
  it('shows one alert, with the id that sinks get', async () => {
    const { key, paths } = await tenantWith('one');
    await service.post(`${paths[0]}/events`, reading(31, { timestamp: 1_000 }), { key });
    const { body } = await service.get(`${paths[0]}/alerts/1`, { key });
    expect(body).toMatchObject({ pipeline: 'one', sequence: 1, stream: 'Hot', event_type: 'Hot', timestamp: 1_000 });
    expect(body.data).toEqual({ sensor: 'a', value: 31 });
    expect(body.id).not.toBe('');
  });

  it('answers what is not there with 404', async () => {
    const { key, paths } = await tenantWith('one');
    await service.post(`${paths[0]}/events`, reading(31), { key });
    for (const sequence of ['2', '0', 'x', '-1', '99999999999999999999'])
      expect(await service.get(`${paths[0]}/alerts/${sequence}`, { key })).toMatchObject({
        status: 404,
        body: { code: 'alert_not_found' },
      });
  });

  it('forgets all but the newest 1,000', async () => {
    const { key, paths } = await tenantWith('many');
    const events = Array.from({ length: 1_001 }, (_, at) => reading(31, { timestamp: at }));
    await service.post(`${paths[0]}/events-batch?outputs=false`, { events }, { key });
    expect((await service.get(`${paths[0]}/alerts/1`, { key })).status).toBe(404);
    expect((await service.get(`${paths[0]}/alerts/2`, { key })).body.timestamp).toBe(1);
  });
});

describe('GET /api/v1/connectors', () => {
  let target: HttpServer;

  beforeAll(async () => {
    target = createServer((_request, response) => response.writeHead(500).end());
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => target.close());

  it('lists sinks with their breakers and sources with their connections', async () => {
    const { port } = target.address() as AddressInfo;
    const source = [
      `connector Out = http(url: "http://127.0.0.1:${port}/", retries: 0, failure_threshold: 1)`,
      'connector In = mqtt(host: "127.0.0.1", port: 1)',
      'event Reading:\n    value: float\n',
      'stream Read = Reading.from(In, topic: "x").where(value > 30).emit(value: value).to(Out)',
    ].join('\n');
    const path = await service.deploy(source, { name: 'ends' });
    await service.post(`${path}/events`, reading(31));
    const own = async (): Promise<readonly Record<string, unknown>[]> =>
      (await service.get('/api/v1/connectors')).body.connectors.filter((one: { pipeline: string }) => one.pipeline === 'ends');
    await expect.poll(own, { timeout: 10_000 }).toMatchObject([
      { name: 'In', type: 'mqtt', direction: 'source', state: 'disconnected', problem: expect.any(String), received: 0 },
      {
        name: 'Out',
        type: 'http',
        direction: 'sink',
        state: 'open',
        problem: expect.stringContaining('500'),
        opened: 1,
        delivered: 0,
        dlq_events: 1,
      },
    ]);
    const of = async (pipeline: string | undefined) => service.get(`/api/v1/connectors?pipeline_id=${pipeline}`);
    const { body } = await of(idOf(path));
    expect([body.total, body.connectors.map(({ name }: { name: string }) => name)]).toEqual([2, ['In', 'Out']]);
    expect((await of(idOf(await service.deploy(hot)))).body).toMatchObject({ total: 0, connectors: [] });
    expect(await of('p_none')).toMatchObject({ status: 404, body: { code: 'pipeline_not_found' } });
    await service.delete(path);
  });
});

describe('two people who change one pipeline', () => {
  const reload = (path: string, version: string, body: object = {}) =>
    service.post(`${path}/reload`, { source: hot.replace('30', '50'), ...body }, { headers: { 'if-match': version } });

  it('are told: the second one gets 412, and nothing is changed', async () => {
    const path = await service.deploy(hot);
    const seen = (await service.get(path)).headers.get('etag') as string;
    expect(seen).toBe('"1"');
    expect((await reload(path, seen)).status).toBe(200);
    const late = await reload(path, seen, { source: hot });
    expect(late).toMatchObject({ status: 412, body: { code: 'version_conflict', details: { version: 2 } } });
    expect((await service.get(path)).body).toMatchObject({ version: 2, source: hot.replace('30', '50') });
  });

  it('are told even when both send at the same moment', async () => {
    const path = await service.deploy(hot);
    const statuses = (await Promise.all([reload(path, '"1"'), reload(path, '"1"')])).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412]);
  });

  it('are told by a dry run too', async () => {
    const path = await service.deploy(hot);
    await reload(path, '"1"');
    expect((await reload(path, '"1"', { dry_run: true })).status).toBe(412);
  });

  it('name a version, several, or any with If-Match; what names none is refused', async () => {
    const path = await service.deploy(hot);
    const statuses: number[] = [];
    for (const version of ['1', 'W/"1"', '"one"', '', '"7", "1"', '*']) statuses.push((await reload(path, version)).status);
    expect(statuses).toEqual([412, 412, 412, 412, 200, 200]);
  });
});
