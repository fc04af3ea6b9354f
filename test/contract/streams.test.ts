import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { dropStreamClients, StreamClient } from '../clients/event-stream-client.ts';
import { dropWebSocketClients, WebSocketClient } from '../clients/websocket-client.ts';
import { hot, reading, Service, serverKey } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ beatEveryMs: 100 });
});

afterEach(() => {
  dropStreamClients();
  dropWebSocketClients();
});

afterAll(() => service.close());

const key = { 'x-api-key': serverKey };
const batch = (from: number, count: number) => ({
  events: Array.from({ length: count }, (_, index) => reading(from + index, { timestamp: 1_700_000_000_000 + from + index })),
});

describe('GET /logs', () => {
  it('sends ids that count outputs and data of {event_type, timestamp, data}', async () => {
    const path = await service.deploy(hot);
    const client = await StreamClient.open(`${service.url}${path}/logs`, key);
    await service.post(`${path}/events`, reading(40, { timestamp: 1_700_000_000_000 }));
    await client.until(({ frames }) => frames.length === 1);
    expect(client.frames).toEqual([
      { id: '1', data: { event_type: 'Hot', timestamp: 1_700_000_000_000, data: { sensor: 'a', value: 40 } } },
    ]);
    await client.until(({ comments }) => comments > 1);
  });

  it('resumes behind Last-Event-ID, and from before the ring with a gap', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/events-batch?outputs=false`, batch(100, 1_500));
    const near = await StreamClient.open(`${service.url}${path}/logs`, { ...key, 'last-event-id': '1498' });
    await near.until(({ frames }) => frames.length === 2);
    expect(near.frames.map(({ id }) => id)).toEqual(['1499', '1500']);
    const far = await StreamClient.open(`${service.url}${path}/logs`, { ...key, 'last-event-id': '10' });
    await far.until(({ frames }) => frames.length === 1_001);
    expect(far.frames[0]).toEqual({ event: 'gap', data: { skipped: 490 } });
    expect(far.frames[1]?.id).toBe('501');
  });

  it('says at the beginning behind which output it begins, so that one who comes back before the first misses none', async () => {
    const path = await service.deploy(hot);
    const follow = (last: string | null) =>
      StreamClient.open(`${service.url}${path}/logs`, { ...key, ...(last === null ? {} : { 'last-event-id': last }) });
    const early = await follow(null);
    await early.until(({ lastId }) => lastId !== null);
    expect([early.lastId, early.frames]).toEqual(['0', []]);
    early.drop();
    await service.post(`${path}/events`, reading(40));
    const again = await follow(early.lastId);
    await again.until(({ frames }) => frames.length === 1);
    const late = await follow(null);
    await late.until(({ lastId }) => lastId !== null);
    expect([again.lastId, late.lastId]).toEqual(['1', '1']);
  });

  it('ends when the pipeline is deleted', async () => {
    const path = await service.deploy(hot);
    const client = await StreamClient.open(`${service.url}${path}/logs?api_key=${serverKey}`);
    await service.delete(path);
    await client.until(({ isEnded }) => isEnded);
  });

  it('goes on over a reload', async () => {
    const path = await service.deploy(hot);
    const client = await StreamClient.open(`${service.url}${path}/logs`, key);
    await service.post(`${path}/events`, reading(40));
    await service.post(`${path}/reload`, { source: hot.replace('> 30', '> 50') });
    await service.post(`${path}/events-batch`, batch(45, 10));
    await client.until(({ frames }) => frames.length === 5);
    expect(client.frames.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
  });
});

describe('clients of one tenant', () => {
  it('are as many as it may have and no more; those of another are not counted', async () => {
    const small = await Service.start({ streamClientsPerTenantMax: 2 });
    const { key: tenantKey } = await small.tenant();
    const path = await small.deploy(hot);
    const follow = () => StreamClient.open(`${small.url}${path}/logs`, key);
    const [first] = [await follow(), await follow()];
    const refused = await small.get(`${path}/logs`);
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded', retry_after_seconds: 10 } });
    const other = await small.deploy(hot, { key: tenantKey });
    expect((await StreamClient.open(`${small.url}${other}/logs`, { 'x-api-key': tenantKey })).response.statusCode).toBe(200);
    first?.drop();
    await vi.waitFor(async () => expect((await follow()).response.statusCode).toBe(200));

    const connect = () => WebSocketClient.open(`${small.url.replace('http', 'ws')}/ws`, ['cep.v1', `cep-auth.${serverKey}`]);
    const clients = [await connect(), await connect(), await connect()];
    await clients[2]?.until(({ closeCode }) => closeCode !== undefined);
    expect(clients.map(({ closeCode }) => closeCode)).toEqual([undefined, undefined, 1013]);
    dropStreamClients();
    dropWebSocketClients();
    await small.close();
  });
});

describe('programs of connections', () => {
  it('are as many as the tenant may have pipelines, beside those; one that is replaced is not counted', async () => {
    const { key: tenantKey } = await service.tenant({ plan: 'free' });
    const connect = () => WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, ['cep.v1', `cep-auth.${tenantKey}`]);
    const load = (client: WebSocketClient) => client.ask({ type: 'load', source: hot }, 'load_result');
    for (let n = 0; n < 2; n++) await service.deploy(hot, { key: tenantKey });
    const [first, second, third] = [await connect(), await connect(), await connect()];
    expect([await load(first), await load(second)]).toMatchObject([{ success: true }, { success: true }]);
    expect(await load(third)).toMatchObject({ success: false, code: 'quota_exceeded', error: expect.stringContaining('its quota is 2') });
    expect(await load(second)).toMatchObject({ success: true });
    expect((await service.post('/api/v1/pipelines', { name: 'more', source: hot }, { key: tenantKey })).body.code).toBe('quota_exceeded');
    first.socket.close();
    await vi.waitFor(async () => expect(await load(third)).toMatchObject({ success: true }));
    const together = await Promise.all([load(second), load(third)]);
    expect(together.map(({ success }) => success)).toEqual([true, true]);
  });
});

describe('a WebSocket', () => {
  const open = () => WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, ['cep.v1', `cep-auth.${serverKey}`]);
  const event = (value: unknown) => ({ type: 'event', data: { event_type: 'Reading', sensor: 'a', value } });

  it('has a program of its own, apart from pipelines', async () => {
    const before = (await service.get('/api/v1/pipelines')).body.total;
    const client = await open();
    expect(client.socket.protocol).toBe('cep.v1');
    expect(await client.ask({ type: 'load', source: hot }, 'load_result')).toMatchObject({
      success: true,
      streams_loaded: 1,
      streams: ['Hot'],
    });
    expect(await client.ask(event(40), 'event_injected')).toMatchObject({ event_type: 'Reading', success: true, outputs: 1 });
    expect(await client.next('output_event')).toMatchObject({ stream: 'Hot', event_type: 'Hot', data: { sensor: 'a', value: 40 } });
    expect(await client.ask({ type: 'status' }, 'status')).toMatchObject({
      running: true,
      events_processed: 1,
      output_events_emitted: 1,
      streams: ['Hot'],
    });
    expect((await service.get('/api/v1/pipelines')).body.total).toBe(before);
  });

  it('takes a program with what it imports', async () => {
    const client = await open();
    const source = hot.replace('30', 'LIMIT').replace(/^/, 'import "limits.vpl"\n');
    const load = (members: object) => client.ask({ type: 'load', source, path: 'rules/hot.vpl', ...members }, 'load_result');
    expect(await load({ files: { 'rules/limits.vpl': 'const LIMIT = 30\n' } })).toMatchObject({ success: true, streams: ['Hot'] });
    expect(await client.ask(event(31), 'event_injected')).toMatchObject({ success: true, outputs: 1 });
    expect(await load({ files: { 'limits.vpl': 'const LIMIT = 30\n' } })).toMatchObject({ success: false, code: 'validation_error' });
    for (const members of [{ files: ['const LIMIT = 30\n'] }, { files: { 'rules/limits.vpl': 30 } }, { path: 5 }]) {
      expect(await client.ask({ type: 'load', source, ...members }, 'error')).toMatchObject({ code: 'validation_error' });
    }
  });

  it('takes the time of an event that has it among its fields by its size', async () => {
    const client = await open();
    await client.ask({ type: 'load', source: hot }, 'load_result');
    for (const timestamp of [1_700_000_000, 1_700_000_000_000]) {
      await client.ask({ type: 'event', data: { event_type: 'Reading', sensor: 'a', value: 40, timestamp } }, 'event_injected');
      expect(await client.next('output_event')).toMatchObject({ timestamp: 1_700_000_000_000 });
    }
  });

  it('tells of an event that could have no effect', async () => {
    const client = await open();
    await client.ask({ type: 'load', source: hot }, 'load_result');
    expect(await client.ask({ type: 'event', data: { event_type: 'Readign', value: 40 } }, 'event_injected')).toEqual({
      type: 'event_injected',
      event_type: 'Readign',
      success: true,
      outputs: 0,
      events_unread: 1,
      unread_types: [{ event_type: 'Readign', events: 1, did_you_mean: 'Reading' }],
    });
    const lacking = { type: 'event', data: { event_type: 'Reading', value: 4 } };
    expect(await client.ask(lacking, 'event_injected')).toMatchObject({
      events_incomplete: 1,
      incomplete_fields: [{ event_type: 'Reading', field: 'sensor', events: 1 }],
    });
  });

  it('tells what is wrong with a program, and with an event', async () => {
    const client = await open();
    expect(await client.ask({ type: 'load', source: 'stream X = ' }, 'load_result')).toMatchObject({
      success: false,
      error: expect.any(String),
      code: 'parse_error',
    });
    await client.ask({ type: 'load', source: hot }, 'load_result');
    expect(await client.ask(event('x'), 'event_injected')).toMatchObject({ success: false, outputs: 0, code: 'invalid_event' });
    expect(await client.ask('{"type":"event","data":{"event_type":"Reading","value":1e400}}', 'event_injected')).toMatchObject({
      code: 'invalid_event',
    });
  });

  it('takes many events in one message, in order', async () => {
    const client = await open();
    await client.ask({ type: 'load', source: hot }, 'load_result');
    expect(await client.ask({ type: 'events', ...batch(1, 100) }, 'events_injected')).toMatchObject({
      accepted: 100,
      rejected: 0,
      outputs: 70,
    });
    await client.until(({ messages }) => messages.filter(({ type }) => type === 'output_event').length === 70);
    expect(client.messages.map(({ data }) => (data as { value: number }).value)).toEqual(
      Array.from({ length: 70 }, (_, index) => 31 + index),
    );
  });

  it('keeps connections apart', async () => {
    const [one, two] = [await open(), await open()];
    await one.ask({ type: 'load', source: hot }, 'load_result');
    await two.ask({ type: 'load', source: hot }, 'load_result');
    await one.ask(event(40), 'event_injected');
    expect(await two.ask({ type: 'status' }, 'status')).toMatchObject({ events_processed: 0 });
    expect(two.messages).toEqual([]);
  });

  it('follows a deployed pipeline, but none of another tenant', async () => {
    const client = await open();
    const path = await service.deploy(hot);
    const id = path.split('/').at(-1) as string;
    expect(await client.ask({ type: 'attach', pipeline_id: id }, 'attached')).toEqual({ type: 'attached', pipeline_id: id });
    await service.post(`${path}/events`, reading(40));
    expect(await client.next('output_event')).toMatchObject({ pipeline_id: id, data: { value: 40 } });
    await client.ask({ type: 'detach', pipeline_id: id }, 'detached');
    const tenant = await service.tenant();
    const foreign = (await service.deploy(hot, { key: tenant.key })).split('/').at(-1);
    expect(await client.ask({ type: 'attach', pipeline_id: foreign }, 'error')).toMatchObject({ code: 'pipeline_not_found' });
  });

  it('goes away with all that it had', async () => {
    const client = await open();
    await client.ask({ type: 'load', source: hot }, 'load_result');
    const hosted = () => service.runtime.scrape().threads.reduce((sum, { pipelines }) => sum + pipelines, 0);
    const before = hosted();
    client.socket.close();
    await client.until(({ closeCode }) => closeCode !== undefined);
    await vi.waitFor(() => expect(hosted()).toBeLessThan(before), { timeout: 10_000 });
  });
});
