import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import { limits } from '../../../shared/limits.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, Sink, SinkMessage } from '../../../worker/connectors/connector.ts';
import { openSink, openSource, settingsOf } from '../../../worker/connectors/registry.ts';
import { Link } from '../../integration/connectors/brokers/link.ts';
import { ReadingSource } from './reading-source.ts';

const everywhere: ConnectorEnvironment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
const message = (id: string, more: Partial<SinkMessage> = {}): SinkMessage => ({ id, topic: null, payload: `{"id":"${id}"}`, ...more });
const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** A server of WebSockets: what it was told, and how often it was connected to. */
class Feed {
  readonly http: Server = createServer((_, answer) => answer.writeHead(404).end());
  readonly sockets: WebSocket[] = [];
  readonly texts: string[] = [];
  readonly requests: { readonly url: string | undefined; readonly authorization: string | undefined }[] = [];
  readonly #server: WebSocketServer;
  onConnection: (socket: WebSocket) => void = () => undefined;
  onMessage: (socket: WebSocket, text: string) => void = () => undefined;

  constructor(options: { readonly autoPong?: boolean; readonly maxPayload?: number; readonly admits?: () => boolean } = {}) {
    const { admits = () => true, ...rest } = options;
    this.#server = new WebSocketServer({ server: this.http, verifyClient: admits, ...rest });
    this.#server.on('connection', (socket, { url, headers }) => {
      this.requests.push({ url, authorization: headers.authorization });
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('message', (data) => {
        this.texts.push(String(data));
        this.onMessage(socket, String(data));
      });
      this.onConnection(socket);
    });
    closes.push(() => this.close());
  }

  async url(path = '/'): Promise<string> {
    if (!this.http.listening) await new Promise<void>((resolve) => this.http.listen(0, '127.0.0.1', resolve));
    return `ws://127.0.0.1:${(this.http.address() as AddressInfo).port}${path}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.terminate();
    this.http.close();
  }
}

function source(url: string, parameters: readonly (readonly [string, unknown])[] = [], topic: string | null = null): ReadingSource {
  const settings = settingsOf('Feed', 'websocket', [['url', url], ...parameters]);
  const reading = new ReadingSource(openSource({ ...settings, subscription: 's', topic, textFields: [] }, everywhere));
  closes.push(() => reading.close());
  return reading;
}

function sink(url: string, parameters: readonly (readonly [string, unknown])[] = []): Sink {
  const opened = openSink(settingsOf('Desk', 'websocket', [['url', url], ...parameters]), everywhere);
  closes.push(() => opened.close());
  return opened;
}

/** A server that says these bytes to whoever connects, or nothing. */
async function tcp(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    closes.push(() => socket.destroy());
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closes.push(() => server.close());
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a WebSocket source', () => {
  it('takes what the server sends, from the first message on, with the label as event type where nothing else says one', async () => {
    const feed = new Feed();
    feed.onConnection = (socket) => {
      socket.send('{"n":1}');
      socket.send(Buffer.from('{"n":2}'));
    };
    const reading = source(await feed.url('/payments?since=1'), [], 'shop/Payment');
    await reading.until(() => reading.texts.length === 2);
    expect(reading.texts).toEqual(['{"n":1}', '{"n":2}']);
    expect(reading.messages.map(({ topicPart }) => topicPart)).toEqual(['Payment', 'Payment']);
    expect(reading.isConnected).toBe(true);
    expect(feed.requests[0]?.url).toBe('/payments?since=1');
  });

  it('logs in with the login of its url, or the headers it was given', async () => {
    const feed = new Feed();
    const url = await feed.url();
    const one = source(url.replace('ws://', 'ws://user:pass%20word@'));
    await one.until(() => one.isConnected);
    const other = source(url, [['headers', encodeValue(new Map([['authorization', 'Bearer t']]))]]);
    await other.until(() => other.isConnected);
    const basic = `Basic ${Buffer.from('user:pass word').toString('base64')}`;
    expect(feed.requests.map(({ authorization }) => authorization)).toEqual([basic, 'Bearer t']);
  });

  it('connects again when the connection is lost, and says why it is not connected', async () => {
    const feed = new Feed();
    const reading = source(await feed.url());
    await reading.until(() => reading.isConnected);
    feed.sockets[0]?.close(1012, 'restart');
    await reading.until(() => !reading.isConnected);
    expect(reading.problem).toBe('the other side closed the connection with 1012 (restart)');
    await reading.until(() => reading.isConnected);
    feed.sockets[1]?.send('{"n":3}');
    await reading.until(() => reading.texts.includes('{"n":3}'));
  });

  it('reads on after a pause of the server and after a cut, and gives nothing twice', async () => {
    const feed = new Feed();
    const port = Number(new URL(await feed.url()).port);
    const link = await Link.to(port);
    closes.push(() => link.close());
    const reading = source(`ws://127.0.0.1:${link.port}`);
    await reading.until(() => reading.isConnected);
    let sent = 0;
    const send = (): void => {
      for (const end = sent + 50; sent < end; sent++) feed.sockets.at(-1)?.send(`{"n":${sent}}`);
    };
    send();
    await reading.until(() => reading.messages.length === 50);
    link.silence();
    send();
    await sleep(500);
    expect(reading.messages).toHaveLength(50);
    link.goOn();
    await reading.until(() => reading.messages.length === 100);
    link.silence();
    send();
    await sleep(500);
    link.heal();
    await reading.until(() => feed.sockets.length === 2 && reading.isConnected);
    send();
    await reading.until(() => reading.texts.includes('{"n":199}'));
    // Nobody keeps what was on its way when the connection broke.
    const numbers = [...Array(200).keys()].filter((n) => n < 100 || n >= 150);
    expect(reading.texts).toEqual(numbers.map((n) => `{"n":${n}}`));
  });

  it('reads no further than it may while what it gave is not taken, and loses nothing of it', async () => {
    const feed = new Feed();
    const reading = source(await feed.url());
    let open = (): void => undefined;
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    await reading.until(() => reading.isConnected);
    const [socket] = feed.sockets;
    const text = (n: number): string => JSON.stringify({ n, text: 'x'.repeat(100_000) });
    for (let n = 0; n < 400; n++) socket?.send(text(n));
    // 40 MB are on their way, and the other end of the line takes no more.
    await vi.waitFor(() => expect(socket?.bufferedAmount).toBeLessThan(40_000_000));
    const left = async (): Promise<number> => {
      let before = -1;
      await vi.waitFor(
        () => {
          const now = socket?.bufferedAmount ?? 0;
          const isSteady = now === before;
          before = now;
          expect(isSteady).toBe(true);
        },
        { timeout: 10_000, interval: 300 },
      );
      return before;
    };
    expect(await left()).toBeGreaterThan(10_000_000);
    open();
    await reading.until(() => reading.messages.length === 400);
    expect(reading.messages.map(({ bytes }) => (JSON.parse(Buffer.from(bytes).toString()) as { n: number }).n)).toEqual([
      ...Array(400).keys(),
    ]);
  });

  it('ends a connection over which a message comes that no event can be, and says so', async () => {
    const feed = new Feed();
    const reading = source(await feed.url());
    await reading.until(() => reading.isConnected);
    feed.sockets[0]?.send('x'.repeat(limits.eventBytesMax + 1));
    await reading.until(() => reading.problem === `found a message of more than ${limits.eventBytesMax} bytes`);
    await reading.until(() => reading.isConnected);
  });

  it.each([
    ['refuses it', () => new Feed({ admits: () => false }).url(), 'Unexpected server response: 401'],
    ['has nothing under the path', () => tcp((socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n')), 'Unexpected server response: 404'],
    ['speaks something else', () => tcp((socket) => socket.end('220 mail ready\r\n')), /Parse Error/],
    ['hangs up', () => tcp((socket) => socket.destroy()), /socket hang up|ECONNRESET/],
    ['says nothing', () => tcp(() => undefined), 'no answer to the handshake within 10 s'],
  ] as const)('says what is wrong with a server that %s', { timeout: 30_000 }, async (_, serve, problem) => {
    const reading = source(await serve());
    await vi.waitFor(() => expect(reading.problem).toMatch(problem), { timeout: 20_000 });
    expect(reading.isConnected).toBe(false);
  });

  it('is refused with an address that is none, and in a program of a tenant inside the machine', () => {
    const settings = (url: string) => ({
      ...settingsOf('Feed', 'websocket', [['url', url]]),
      subscription: 's',
      topic: null,
      textFields: [],
    });
    expect(() => openSource(settings('https://host'), everywhere)).toThrow("connector 'Feed': its url is no address of a WebSocket");
    const tenant = { ...everywhere, door: new OutboundDoor(NetworkPolicy.publicAnd([])) };
    expect(() => openSource(settings('ws://127.0.0.1/'), tenant)).toThrow(/may not|none of|public/);
  });
});

describe('a WebSocket sink', () => {
  it('delivers messages in order, with their label, over one connection', async () => {
    const feed = new Feed();
    const desk = sink(await feed.url(), [['topic', 'alerts']]);
    await desk.send(message('a'));
    await desk.send(message('b', { topic: 'urgent' }));
    expect(feed.texts).toEqual(['{"topic":"alerts","id":"a"}', '{"topic":"urgent","id":"b"}']);
    expect(feed.sockets).toHaveLength(1);
  });

  it('has not delivered what the server may not have read, and sends over a new connection then', async () => {
    const feed = new Feed({ autoPong: false });
    feed.onMessage = (socket) => socket.terminate();
    const desk = sink(await feed.url());
    await expect(desk.send(message('a'))).rejects.toMatchObject({ code: 'websocket_1006', isPermanent: false });
    feed.onMessage = () => undefined;
    feed.onConnection = (socket) => socket.on('ping', (data) => socket.pong(data));
    await desk.send(message('a'));
    expect(feed.texts).toEqual(['{"id":"a"}', '{"id":"a"}']);
  });

  it('connects anew for the next message after the server ended the connection between two', async () => {
    const feed = new Feed();
    const desk = sink(await feed.url());
    await desk.send(message('a'));
    const ended = new Promise((resolve) => feed.sockets[0]?.once('close', resolve));
    feed.sockets[0]?.close(1001);
    await ended;
    await vi.waitFor(() => desk.send(message('b')));
    expect(feed.texts).toEqual(['{"id":"a"}', '{"id":"b"}']);
    expect(feed.sockets).toHaveLength(2);
  });

  it('is refused for good where the server says that the message is too long', async () => {
    const feed = new Feed({ maxPayload: 100 });
    const desk = sink(await feed.url());
    await expect(desk.send(message('a', { payload: `{"text":"${'x'.repeat(200)}"}` }))).rejects.toMatchObject({
      code: 'websocket_1009',
      isPermanent: true,
    });
    await desk.send(message('b'));
  });

  it('gives up after a while on a server that answers no ping', { timeout: 30_000 }, async () => {
    const desk = sink(await new Feed({ autoPong: false }).url());
    await expect(desk.send(message('a'))).rejects.toMatchObject({ code: 'timeout', isPermanent: false });
  });

  it('ends what is under way when it is closed', async () => {
    const feed = new Feed({ autoPong: false });
    const desk = sink(await feed.url());
    const end = new AbortController();
    await expect(desk.send(message('a'), AbortSignal.abort())).rejects.toMatchObject({ code: 'closed' });
    const sending = desk.send(message('b'), end.signal);
    const ended = expect(sending).rejects.toMatchObject({ code: 'closed' });
    await vi.waitFor(() => expect(feed.texts).toHaveLength(1));
    end.abort();
    await ended;
  });

  it('fails at a server that is not there', async () => {
    const feed = new Feed();
    const url = await feed.url();
    feed.close();
    await expect(sink(url).send(message('a'))).rejects.toMatchObject({ code: 'websocket_error', message: /ECONNREFUSED/ });
  });
});
