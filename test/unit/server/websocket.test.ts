import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Logger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';
import type { Waiting } from '../../../worker/runtime/service.ts';
import { WebSocketClient as Client, dropWebSocketClients } from '../../clients/websocket-client.ts';
import { closeServers, type FakeServer, fakeServer } from './fake-server.ts';

afterEach(async () => {
  dropWebSocketClients();
  await closeServers();
});

const source = 'stream Hot = Reading > 30';
const event = (value: unknown) => ({ type: 'event', data: { event_type: 'Reading', value } });

async function opened(options: Parameters<typeof fakeServer>[0] = {}): Promise<{ server: FakeServer; url: string; client: Client }> {
  const server = await fakeServer(options);
  const url = `${(await server.listen()).replace('http', 'ws')}/ws`;
  return { server, url, client: await Client.open(url) };
}

describe('a WebSocket connection', () => {
  it('loads a program, takes events and sends their outputs', async () => {
    const { client } = await opened();
    expect(await client.ask({ type: 'load', source }, 'load_result')).toEqual({
      type: 'load_result',
      success: true,
      streams_loaded: 1,
      streams: ['Hot'],
      warnings: [],
    });
    expect(await client.ask(event(40), 'event_injected')).toEqual({
      type: 'event_injected',
      event_type: 'Reading',
      success: true,
      outputs: 1,
    });
    expect(await client.next('output_event')).toEqual({
      type: 'output_event',
      stream: 'Hot',
      event_type: 'Hot',
      timestamp: 0,
      data: { value: 40 },
    });
    expect(await client.ask(event(5), 'event_injected')).toMatchObject({ success: true, outputs: 0 });
  });

  it('tells why a program cannot be loaded and goes on with the one before', async () => {
    const { client } = await opened();
    await client.ask({ type: 'load', source }, 'load_result');
    expect(await client.ask({ type: 'load', source: 'nonsense' }, 'load_result')).toMatchObject({
      success: false,
      streams_loaded: 0,
      error: "cannot read 'nonsense'",
      code: 'parse_error',
      details: [{ severity: 'error', line: 1, end_line: 1 }],
    });
    expect(await client.ask(event(40), 'event_injected')).toMatchObject({ success: true, outputs: 1 });
  });

  it('answers an event that does not fit, and one before any program, without success', async () => {
    const { client } = await opened();
    expect(await client.ask(event(40), 'event_injected')).toMatchObject({ success: false, outputs: 0, code: 'pipeline_not_running' });
    await client.ask({ type: 'load', source }, 'load_result');
    expect(await client.ask(event('hot'), 'event_injected')).toMatchObject({
      event_type: 'Reading',
      success: false,
      code: 'invalid_event',
      error: 'value: expected a number',
    });
  });

  it('answers messages in the order in which they came', async () => {
    const { client } = await opened();
    client.send({ type: 'load', source });
    for (let value = 0; value < 50; value++) client.send(event(value));
    client.send({ type: 'load', source: 'stream Cold = Reading > 1000' });
    client.send(event(500));
    client.send({ type: 'ping' });
    await client.next('pong');
    const answers = client.messages.filter(({ type }) => type !== 'output_event');
    expect(answers.map(({ type }) => type)).toEqual(['load_result', ...Array(50).fill('event_injected'), 'load_result', 'event_injected']);
    expect(answers.slice(1, 51).map(({ outputs }) => outputs)).toEqual([...Array(31).fill(0), ...Array(19).fill(1)]);
    expect(answers.at(-1)).toMatchObject({ success: true, outputs: 0 });
  });

  it('hands events on as they were written, digit by digit', async () => {
    const { server, client } = await opened();
    await client.ask({ type: 'load', source }, 'load_result');
    const bodies: string[] = [];
    const inject = server.runtime.pipelines.inject.bind(server.runtime.pipelines);
    server.runtime.pipelines.inject = (tenant, id, request) => {
      bodies.push(Buffer.from(request.body).toString());
      return inject(tenant, id, request);
    };
    await client.ask('{"type":"event","data":{"event_type":"Reading","value":1.0,"big":9007199254740993.0}}', 'event_injected');
    await client.ask(' { "type" : "event" , "data" : {"event_type":"Reading","value":2e0} } ', 'event_injected');
    await client.ask('{"data":{"event_type":"Reading","value":3.0},"type":"event"}', 'event_injected');
    await client.ask('{"type":"event","id":1,"data": {"event_type":"Reading","value":1e400}}', 'event_injected');
    await client.ask('{"events": [{"event_type":"Reading","value":1e400}],"type":"events"}', 'events_injected');
    expect(bodies).toEqual([
      '{"event_type":"Reading","value":1.0,"big":9007199254740993.0}',
      '{"event_type":"Reading","value":2e0} ',
      '{"event_type":"Reading","value":3.0}',
      '{"event_type":"Reading","value":1e400}',
      '{"events":[{"event_type":"Reading","value":1e400}]}',
    ]);
  });

  it('takes many events in one message', async () => {
    const { client } = await opened();
    await client.ask({ type: 'load', source }, 'load_result');
    const events = [40, 'bad', 50].map((value) => ({ event_type: 'Reading', fields: { value } }));
    expect(await client.ask({ type: 'events', events }, 'events_injected')).toEqual({
      type: 'events_injected',
      accepted: 2,
      rejected: 1,
      errors: [{ index: 1, code: 'invalid_event', error: 'value: expected a number' }],
      outputs: 2,
    });
    expect(await client.ask({ events: events.slice(0, 1), type: 'events' }, 'events_injected')).toMatchObject({ accepted: 1 });
  });

  it('shows its status', async () => {
    const { client } = await opened();
    expect(await client.ask({ type: 'status' }, 'status')).toMatchObject({ running: false, events_processed: 0, streams: [] });
    await client.ask({ type: 'load', source }, 'load_result');
    await client.ask(event(40), 'event_injected');
    expect(await client.ask({ type: 'status' }, 'status')).toMatchObject({
      running: true,
      events_processed: 1,
      output_events_emitted: 1,
      streams: ['Hot'],
    });
  });

  it.each([
    ['{"type":', 'invalid_json'],
    ['[]', 'validation_error'],
    ['{}', 'validation_error'],
    ['{"type":"stauts"}', 'validation_error'],
    ['{"type":"load"}', 'validation_error'],
    ['{"type":"event"}', 'invalid_event'],
    ['{"type":"attach","pipeline_id":"none"}', 'pipeline_not_found'],
    ['{"type":"detach"}', 'pipeline_not_found'],
  ])('answers %s with an error of code %s and goes on', async (text, code) => {
    const { client } = await opened();
    expect(await client.ask(text, 'error')).toMatchObject({ type: 'error', code });
    expect(await client.ask({ type: 'ping' }, 'pong')).toEqual({ type: 'pong' });
  });

  it('is closed with 1009 when a message is over 1 MiB', async () => {
    const { client } = await opened();
    client.send(`{"type":"ping","x":"${'x'.repeat(1_048_576)}"}`);
    await client.until(({ closeCode }) => closeCode !== undefined);
    expect(client.closeCode).toBe(1009);
  });

  it('is apart from other connections and from pipelines', async () => {
    const { server, url, client } = await opened();
    const other = await Client.open(url);
    await client.ask({ type: 'load', source }, 'load_result');
    await other.ask({ type: 'load', source }, 'load_result');
    await client.ask(event(40), 'event_injected');
    await other.ask({ type: 'ping' }, 'pong');
    expect(other.messages).toEqual([]);
    expect(await other.ask({ type: 'status' }, 'status')).toMatchObject({ events_processed: 0 });
    expect(server.runtime.pipelines.list('default', { limit: 10, offset: 0 }).total).toBe(0);
  });

  it('leaves nothing behind', async () => {
    const { server, client } = await opened();
    await client.ask({ type: 'load', source }, 'load_result');
    await client.ask({ type: 'load', source }, 'load_result');
    expect(server.runtime.pipelines.all()).toHaveLength(1);
    client.socket.close();
    while (server.runtime.pipelines.all().length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(server.runtime.pipelines.followerCount).toBe(0);
  });

  it('is closed with 1001 when the server stops', async () => {
    const { server, client } = await opened();
    server.endStreams();
    await client.until(({ closeCode }) => closeCode !== undefined);
    expect(client.closeCode).toBe(1001);
  });

  it('is pinged, and cut when it does not answer', async () => {
    const { url } = await opened({ pingEveryMs: 30 });
    const alive = await Client.open(url);
    const dead = await Client.open(url);
    let pings = 0;
    alive.socket.on('ping', () => pings++);
    dead.socket.pause();
    const lost = new Promise<void>((resolve) => dead.socket.on('close', () => resolve()));
    await new Promise<void>((resolve) => alive.socket.on('ping', () => pings >= 5 && resolve()));
    dead.socket.resume();
    await lost;
    expect(dead.closeCode).toBe(1006);
    expect(alive.closeCode).toBeUndefined();
  });
});

/** Holds every load until it is released. */
function heldLoads({ runtime: { pipelines } }: FakeServer) {
  const deploy = pipelines.deploy.bind(pipelines);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const begun: (AbortSignal | undefined)[] = [];
  pipelines.deploy = async (tenant, request, waiting?: Waiting) => {
    begun.push(waiting?.signal);
    await released;
    return deploy(tenant, request);
  };
  return { begun, release: () => release() };
}

describe('a connection whose messages take long', () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  const reading = (value: number) => ({ event_type: 'Reading', fields: { value } });

  it('is not read on while 4 MiB of them wait', async () => {
    const { server, client } = await opened();
    const { begun, release } = heldLoads(server);
    client.send({ type: 'load', source });
    const wide = 'x'.repeat(1_000_000);
    for (let value = 1; value <= 40; value++) client.send(JSON.stringify({ type: 'events', events: [reading(value)], wide }));
    const [served] = [...server.api.websocketServer.clients];
    while (served?.isPaused !== true || begun.length === 0) await nextTurn();
    const { bytesRead } = (served as unknown as { _socket: Socket })._socket;
    expect(bytesRead).toBeLessThan(6_000_000);
    release();
    const answers = () => client.messages.filter(({ type }) => type === 'events_injected');
    await client.until(() => answers().length === 40);
    expect(answers().map(({ outputs }) => outputs)).toEqual([...Array(30).fill(0), ...Array(10).fill(1)]);
  });

  it('is not cut because it is not read meanwhile', async () => {
    const { server, url, client } = await opened({ pingEveryMs: 30 });
    const { release } = heldLoads(server);
    const other = await Client.open(url);
    client.send({ type: 'load', source });
    for (let value = 1; value <= 300; value++) client.send(event(value));
    const [served] = [...server.api.websocketServer.clients];
    while (served?.isPaused !== true) await nextTurn();
    let pings = 0;
    await new Promise<void>((resolve) => other.socket.on('ping', () => ++pings === 5 && resolve()));
    release();
    await client.until(({ messages, closeCode }) => closeCode !== undefined || messages.length === 1 + 300 + 270);
    expect(client.closeCode).toBeUndefined();
  });

  it('takes what has not begun with it when it is gone', async () => {
    const { server, client } = await opened();
    const { begun, release } = heldLoads(server);
    const removed = vi.spyOn(server.runtime.pipelines, 'delete');
    for (let n = 0; n < 3; n++) client.send({ type: 'load', source });
    while (begun.length === 0) await nextTurn();
    client.socket.terminate();
    while (server.api.websocketServer.clients.size > 0) await nextTurn();
    release();
    while (removed.mock.calls.length === 0 || server.runtime.pipelines.all().length > 0) await nextTurn();
    expect(begun.map((signal) => signal?.aborted)).toEqual([true]);
  });
});

describe('a connection that is attached to a pipeline', () => {
  const deploy = async (server: FakeServer) => (await server.runtime.pipelines.deploy('default', { name: 'p', source })).pipeline.id;
  const inject = (server: FakeServer, id: string, values: readonly number[]) =>
    server.runtime.pipelines.inject('default', id, {
      body: Buffer.from(JSON.stringify({ events: values.map((value) => ({ event_type: 'Reading', fields: { value } })) })),
      format: 'batch',
    });

  it('gets its outputs until it is detached', async () => {
    const { server, client } = await opened();
    const id = await deploy(server);
    expect(await client.ask({ type: 'attach', pipeline_id: id }, 'attached')).toEqual({ type: 'attached', pipeline_id: id });
    await inject(server, id, [40]);
    expect(await client.next('output_event')).toMatchObject({ stream: 'Hot', data: { value: 40 }, pipeline_id: id });
    expect(await client.ask({ type: 'detach', pipeline_id: id }, 'detached')).toEqual({ type: 'detached', pipeline_id: id });
    await inject(server, id, [50]);
    await client.ask({ type: 'ping' }, 'pong');
    expect(client.messages).toEqual([]);
  });

  it('learns how many outputs it missed', async () => {
    const { server, client } = await opened();
    const id = await deploy(server);
    await client.ask({ type: 'attach', pipeline_id: id }, 'attached');
    await inject(
      server,
      id,
      Array.from({ length: 1_500 }, (_, index) => 100 + index),
    );
    expect(await client.next('gap')).toEqual({ type: 'gap', skipped: 500, pipeline_id: id });
    await client.until(({ messages }) => messages.length === 1_000);
  });

  it('is told when the pipeline is gone', async () => {
    const { server, client } = await opened();
    const id = await deploy(server);
    await client.ask({ type: 'attach', pipeline_id: id }, 'attached');
    await server.runtime.pipelines.delete('default', id);
    expect(await client.next('detached')).toEqual({ type: 'detached', pipeline_id: id });
  });

  it('is cut when it does not read, little waits for it until then, and others do not notice', { timeout: 60_000 }, async () => {
    const log = vi.fn();
    const logger: Logger = { log, isEnabled: () => true, child: () => logger };
    const { server, url, client: slow } = await opened({ telemetry: new Telemetry(logger, new MetricRegistry()) });
    const id = await deploy(server);
    const quick = await Client.open(url);
    await slow.ask({ type: 'attach', pipeline_id: id }, 'attached');
    await quick.ask({ type: 'attach', pipeline_id: id }, 'attached');
    slow.socket.pause();
    const wide = 'x'.repeat(50_000);
    const body = Buffer.from(JSON.stringify({ events: Array(100).fill({ event_type: 'Reading', fields: { value: 99, wide } }) }));
    for (let round = 1; round <= 8; round++) {
      await server.runtime.pipelines.inject('default', id, { body, format: 'batch' });
      await quick.until(({ messages }) => messages.length === round * 100);
    }
    const waiting = [...server.api.websocketServer.clients].map(({ bufferedAmount }) => bufferedAmount);
    expect(Math.max(...waiting)).toBeGreaterThan(50_000);
    expect(Math.max(...waiting)).toBeLessThan(130_000);
    while (server.runtime.pipelines.followerCount > 1) await new Promise((resolve) => setImmediate(resolve));
    slow.socket.resume();
    await slow.until(({ closeCode }) => closeCode !== undefined);
    expect(slow.messages.length).toBeLessThan(800);
    const told = { tenant: 'default', pipelines: 1, unread_bytes: expect.any(Number) };
    expect(log.mock.calls.filter(([level]) => level === 'warn')).toEqual([['warn', 'WebSocket client cut: it does not read', told]]);
    expect(quick.messages.filter(({ type }) => type === 'gap')).toEqual([]);
  });
});

describe('opening a WebSocket', () => {
  it.each([
    ['x-api-key', '', [], { 'x-api-key': 'server-key' }],
    ['Authorization', '', [], { authorization: 'Bearer server-key' }],
    ['the query', '?api_key=server-key', [], {}],
    ['a subprotocol', '', ['cep.v1', 'cep-auth.server-key'], {}],
    ['a subprotocol alone', '', ['cep-auth.server-key'], {}],
  ] as const)('takes the key from %s', async (_where, query, protocols, headers) => {
    const server = await fakeServer({ apiKey: 'server-key' });
    const url = `${(await server.listen()).replace('http', 'ws')}/ws`;
    const client = await Client.open(`${url}${query}`, [...protocols], headers);
    expect(client.socket.protocol).toBe(protocols[0] ?? '');
  });

  it('takes a key that is no subprotocol in base64url', async () => {
    const key = 'ab/cd==xyz9';
    const server = await fakeServer({ apiKey: key });
    const url = `${(await server.listen()).replace('http', 'ws')}/ws`;
    expect((await Client.open(url, ['cep.v1', 'cep-auth-base64url.YWIvY2Q9PXh5ejk'])).socket.protocol).toBe('cep.v1');
    await expect(Client.open(url, ['cep.v1', 'cep-auth-base64url.YWIvY2Q9PXh5ejg'])).rejects.toThrow('HTTP 401');
  });

  it.each([
    ['no key', '', []],
    ['a wrong key', '?api_key=wrong', []],
    ['a wrong key in a subprotocol', '', ['cep.v1', 'cep-auth.wrong']],
  ])('with %s is refused with 401', async (_what, query, protocols) => {
    const server = await fakeServer({ apiKey: 'server-key' });
    const url = `${(await server.listen()).replace('http', 'ws')}/ws`;
    await expect(Client.open(`${url}${query}`, protocols)).rejects.toThrow('HTTP 401');
  });

  it('from a page of another site is refused with 403', async () => {
    const { url } = await opened();
    await expect(Client.open(url, [], { origin: 'https://evil.example' })).rejects.toThrow('HTTP 403');
  });

  it('without an upgrade is answered with 426', async () => {
    const server = await fakeServer();
    const answer = await server.api.inject('/ws');
    expect([answer.statusCode, answer.json().code]).toEqual([426, 'upgrade_required']);
  });
});
