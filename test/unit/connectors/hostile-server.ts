import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Bytes that mean nothing, always the same. `shift`: 24, or 0 for some that come again and again. */
function garbage(bytes: number, shift: 0 | 24): Buffer {
  const made = Buffer.alloc(bytes);
  for (let at = 0, state = 0x9e3779b9; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    made[at] = state >>> shift;
  }
  return made;
}

/** Writes as fast as it is read, then ends. */
function pour(socket: Socket, chunk: Buffer, times: number): void {
  let left = times;
  const on = (): void => {
    while (left-- > 0) if (!socket.write(chunk)) return;
    socket.end();
  };
  socket.on('drain', on);
  on();
}

/** How each protocol begins something that would never be whole. */
const beginnings: Readonly<Record<string, string | Buffer>> = {
  http: 'HTTP/1.1 200 OK\r\nx: ',
  websocket: 'HTTP/1.1 101 Switching Protocols\r\nx: ',
  mqtt: Buffer.of(0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x74),
  redis: '$536870911\r\n',
  nats: 'INFO {"a":"',
  kafka: Buffer.of(0x7f, 0xff, 0xff, 0xf0),
  postgres: Buffer.of(0x52, 0x7f, 0xff, 0xff, 0xf0),
  mysql: Buffer.of(0xff, 0xff, 0xff, 0, 10),
  smtp: '220-',
};

const FLOOD_CHUNK = 65_536;
/** 64 MiB of them. */
const FLOOD_CHUNKS = 1_000;

/** What waits at the other end. */
export const ends: Readonly<Record<string, (socket: Socket, type: string) => void>> = {
  'hangs up': (socket) => socket.destroy(),
  'answers garbage': (socket) => void socket.end(garbage(4_096, 24)),
  'answers other garbage': (socket) => void socket.end(garbage(4_096, 0)),
  'answers a page of the web': (socket) =>
    void socket.end('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
  'floods with garbage': (socket) => pour(socket, garbage(FLOOD_CHUNK, 0), FLOOD_CHUNKS),
  'begins an answer that is never whole': (socket, type) => {
    socket.write(beginnings[type.replace('_stream', '')] ?? '');
    pour(socket, Buffer.alloc(FLOOD_CHUNK, 'a'), FLOOD_CHUNKS);
  },
};

/** One byte a second. */
export function drip(socket: Socket, type: string): void {
  const bytes = Buffer.concat([Buffer.from(beginnings[type.replace('_stream', '')] ?? ''), Buffer.alloc(1_000, 'a')]);
  let at = 0;
  const timer = setInterval(() => socket.write(bytes.subarray(at, ++at)), 1_000);
  socket.on('close', () => clearInterval(timer));
}

type Parameters = readonly (readonly [string, unknown])[];

/** Each type of connector that connects somewhere, as a program names one at a port of this machine. */
const connectors: Readonly<Record<string, (port: number) => Parameters>> = {
  http: (port) => [['url', `http://127.0.0.1:${port}/`]],
  websocket: (port) => [['url', `ws://127.0.0.1:${port}/`]],
  mqtt: (port) => [
    ['host', '127.0.0.1'],
    ['port', port],
    ['topic', 't'],
  ],
  redis: (port) => [['url', `redis://127.0.0.1:${port}`]],
  redis_stream: (port) => [['url', `redis://127.0.0.1:${port}`]],
  nats: (port) => [
    ['servers', `127.0.0.1:${port}`],
    ['subject', 't'],
  ],
  kafka: (port) => [
    ['brokers', `127.0.0.1:${port}`],
    ['topic', 't'],
  ],
  postgres: (port) => [
    ['url', `postgres://cep@127.0.0.1:${port}/shop`],
    ['table', 't'],
  ],
  mysql: (port) => [
    ['url', `mysql://cep@127.0.0.1:${port}/shop`],
    ['table', 't'],
  ],
  smtp: (port) => [
    ['host', '127.0.0.1'],
    ['port', port],
    ['tls', 'none'],
    ['from', 'a@example.com'],
    ['to', 'b@example.com'],
  ],
};

/** A server of this machine that is none of those that anybody means to talk to. */
export class HostileServer {
  /** Of a connector of the type to it. */
  readonly parameters: Parameters;
  readonly #close: () => void;
  connections = 0;

  private constructor(parameters: Parameters, close: () => void) {
    this.parameters = parameters;
    this.#close = close;
  }

  /** @param type The connector that expects a server of its own kind. */
  static async start(end: (socket: Socket, type: string) => void, type: string): Promise<HostileServer> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      started.connections++;
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      // What it is told is of no interest; unless it is read the connection does not end.
      socket.resume();
      end(socket, type);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const started = new HostileServer(connectors[type]?.((server.address() as AddressInfo).port) ?? [], () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    return started;
  }

  close(): void {
    this.#close();
  }
}
