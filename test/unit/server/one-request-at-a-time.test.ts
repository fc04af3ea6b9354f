import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { CepError } from '../../../shared/errors/error.ts';
import { createHttpApp } from '../../../shared/http/http-app.ts';
import { RequestShares } from '../../../shared/http/request-shares.ts';
import { routeMaker } from '../../../shared/http/route.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

const route = routeMaker<string>();
const facts = { summary: 'For the test', tag: 'test', success: { 200: 'anything' } } as const;
const large = 'x'.repeat(1_000_000);

class CountedShares extends RequestShares {
  entered = 0;
  left = 0;
  override enter(name: string, weight: number): undefined | Promise<void> {
    this.entered++;
    return super.enter(name, weight);
  }
  override leave(name: string): void {
    this.left++;
    super.leave(name);
  }
}

function greet(socket: WebSocket): void {
  socket.send('hello');
  socket.on('message', (data) => socket.send(String(data)));
}

const apps: FastifyInstance[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** A server that says what it has begun, and ends what waits when it is told. */
async function serve() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const noted = <Answer>(id: string, answer: Answer): Answer => {
    begun.push(id);
    return answer;
  };
  const shares = new CountedShares({ now: () => performance.now() });
  const byGet = { ...facts, method: 'GET', access: 'open' } as const;
  const app = await createHttpApp<string>({
    routes: [
      route({ ...byGet, path: '/large', operation: 'large', handle: () => ({ large }) }),
      route({ ...byGet, path: '/quick/{id}', operation: 'quick', handle: ({ params: { id } }) => noted(id, { id }) }),
      route({
        ...byGet,
        path: '/waits/{id}',
        operation: 'waits',
        access: 'key',
        handle: ({ params: { id } }) => {
          begun.push(id);
          return new Promise<object>((resolve) => ends.push(() => resolve({ id })));
        },
      }),
      route({
        ...facts,
        method: 'POST',
        path: '/bytes/{id}',
        operation: 'bytes',
        access: 'open',
        bytes: { contentTypes: ['application/json'], bytesMax: 2_000_000, schema: {} as never },
        handle: ({ body, params: { id } }) => noted(id, { length: body.length }),
      }),
      route({ ...byGet, path: '/socket', operation: 'openSocket', access: 'key', webSocket: greet }),
    ],
    callers: {
      isAuthenticationOn: true,
      authenticate(key) {
        if (key === undefined) throw new CepError('missing_api_key', 'no key');
        return key;
      },
      isAdmin: () => false,
      nameOf: (name) => name,
      once: (_request, action) => action(),
    },
    telemetry: new Telemetry(silentLogger, new MetricRegistry()),
    about: { title: 'test', version: '1' },
    rateLimit: 0,
    now: () => performance.now(),
    corsOrigins: [],
    shares,
    refusal: () => undefined,
    hasDocs: false,
  });
  apps.push(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const send = async (bytes: string): Promise<Client> => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const client: Client = { socket, text: '' };
    socket.on('data', (chunk) => {
      client.text += chunk;
    });
    socket.on('error', () => undefined);
    socket.write(bytes);
    return client;
  };
  const connections = (): Promise<number> => new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  /** Requests have this little time to come in; resolves once Node has found one that had no more. */
  const hurry = (): (() => Promise<void>) => {
    Object.assign(app.server, { headersTimeout: 50, requestTimeout: 200 });
    let late = 0;
    app.server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
      late += Number(code === 'ERR_HTTP_REQUEST_TIMEOUT');
    });
    return () => until(() => late > 0);
  };
  return { begun, ends, shares, send, connections, hurry };
}

interface Client {
  readonly socket: Socket;
  text: string;
}

const head = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ann\r\n${more}\r\n`;
const shake = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const statuses = ({ text }: Client): string[] => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a connection', () => {
  it('has a request begun when the one before is answered, whoever sent how many at once', async () => {
    const { send, begun, ends } = await serve();
    const client = await send(head('/waits/1') + head('/quick/2') + head('/waits/3') + head('/quick/4'));
    await until(() => ends.length === 1);
    expect(begun).toEqual(['1']);
    ends[0]?.();
    await until(() => ends.length === 2);
    expect(begun).toEqual(['1', '2', '3']);
    ends[1]?.();
    await until(() => statuses(client).length === 4);
    expect(begun).toEqual(['1', '2', '3', '4']);
    expect(client.text.match(/(?<="id":")\d/g)).toEqual(['1', '2', '3', '4']);
  });

  it('takes no more than it has to while a request is answered, and then all of it', async () => {
    const { send, begun, ends } = await serve();
    const count = 2_000;
    const filler = `x-filler: ${'f'.repeat(10_000)}\r\n`;
    const client = await send(head('/waits/first') + Array.from({ length: count }, (_, index) => head(`/quick/${index}`, filler)).join(''));
    await until(() => ends.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(client.socket.writableLength).toBeGreaterThan(0);
    ends[0]?.();
    await until(() => begun.length === count + 1);
    expect(begun.at(-1)).toBe(String(count - 1));
  });

  it('reads the body of a request that waited', async () => {
    const { send, ends } = await serve();
    const body = `"${'b'.repeat(500_000)}"`;
    const post = `POST /bytes/2 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const client = await send(head('/waits/1') + post + post + head('/quick/3'));
    await until(() => ends.length === 1);
    ends[0]?.();
    await until(() => statuses(client).length === 4);
    expect(client.text.match(/(?<="length":)\d+/g)).toEqual(['500002', '500002']);
  });

  it('gives the whole time to a request that was not read while another was answered', async () => {
    const { send, ends, hurry } = await serve();
    const late = hurry();
    const body = `"${'b'.repeat(500_000)}"`;
    const post = `POST /bytes/2 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const client = await send(head('/waits/1') + head('/quick/x') + post + head('/quick/3'));
    await until(() => ends.length === 1);
    await late();
    ends[0]?.();
    await until(() => statuses(client).length >= 4 || client.socket.destroyed);
    expect(statuses(client)).toEqual(['200', '200', '200', '200']);
  });

  it('is told that a request takes too long once that is read again and does not come', async () => {
    const { send, ends, hurry, connections } = await serve();
    const late = hurry();
    const post = 'POST /bytes/2 HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 500002\r\n\r\n';
    const client = await send(`${head('/waits/1')}${post}"bbb`);
    await until(() => ends.length === 1);
    await late();
    expect(client.text).toBe('');
    ends[0]?.();
    await until(() => statuses(client).length === 2);
    expect(statuses(client)).toEqual(['200', '408']);
    await until(async () => (await connections()) === 0);
  });

  it('that ends before the turn of a request has never begun it, and nothing counts as under way', async () => {
    const { send, begun, ends, shares, connections } = await serve();
    const client = await send(head('/waits/1') + head('/waits/2') + head('/waits/3'));
    await until(() => ends.length > 0);
    client.socket.resetAndDestroy();
    // The server hears of it when it writes.
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const end of ends) end();
    await until(async () => (await connections()) === 0);
    await until(() => shares.left === shares.entered);
    expect(begun).toEqual(['1']);
  });

  it.each([
    ['that asks for another protocol', head('/quick/1', 'connection: upgrade\r\nupgrade: h2c\r\n')],
    ['that asks for a WebSocket', head('/socket', shake)],
    ['that asks for a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n'],
    ['that is none', 'nonsense\r\n\r\n'],
  ])('is only lost, and the server with it not, when its client goes before a request %s is answered', async (_what, bytes) => {
    const { send, connections } = await serve();
    const client = await send(head('/large').repeat(20) + bytes);
    client.socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.socket.resetAndDestroy();
    await until(async () => (await connections()) === 0);
  });

  it('is only lost when its client goes at once after asking for a tunnel', async () => {
    const { send, connections } = await serve();
    for (let index = 0; index < 50; index++) {
      const { socket } = await send(`CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n${'x'.repeat(index * 1_000)}`);
      await new Promise((resolve) => socket.once('connect', resolve));
      setImmediate(() => socket.resetAndDestroy());
    }
    await until(async () => (await connections()) === 0);
  });

  it.each([
    ['a handshake without a key', head('/socket', shake).replace('x-api-key: ann\r\n', ''), '401'],
    ['a handshake', head('/socket', shake), '101'],
    ['another protocol', head('/quick/2', 'connection: upgrade, close\r\nupgrade: h2c\r\n'), '200'],
    ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n', '405'],
    ['an expectation', head('/quick/2', 'expect: a-miracle\r\n'), '417'],
    ['no HTTP', 'nonsense\r\n\r\n', '400'],
    ['a request that breaks off', 'POST /bytes/3 HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n', '400'],
  ])('answers %s after what came before', async (_what, bytes, status) => {
    const { send, ends, connections } = await serve();
    const client = await send(head('/waits/1') + head('/quick/x') + bytes);
    await until(() => ends.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(client.text).toBe('');
    ends[0]?.();
    await until(() => statuses(client).length === 3);
    expect(statuses(client)).toEqual(['200', '200', status]);
    if (status === '101') {
      await until(() => client.text.endsWith('hello'));
      client.socket.write(Buffer.from([0x81, 0x83, 0, 0, 0, 0, 0x61, 0x62, 0x63]));
      await until(() => client.text.endsWith('abc'));
      client.socket.destroy();
    }
    if (status !== '417') await until(async () => (await connections()) === 0);
  });
});
