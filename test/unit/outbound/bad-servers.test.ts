import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeValue } from '../../../shared/events/stored-value.ts';
import { Duration } from '../../../shared/events/value.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { type DeadLetter, eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';

/** What a server does with a request once all of it is there. */
type Manner = (socket: Socket) => void;

/** A server without manners of its own. */
class RawServer {
  readonly sockets = new Set<Socket>();
  requests = 0;
  readonly #server: Server;

  constructor(manner: Manner) {
    this.#server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
      socket.on('data', (chunk) => {
        for (const _ of chunk.toString('latin1').matchAll(/POST /g)) {
          this.requests++;
          manner(socket);
        }
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }
}

/** Writes the first text, then the other every so many ms, as long as the connection lasts. */
function again(socket: Socket, first: string, text: string, everyMs: number): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.on('close', () => clearInterval(timer));
}

async function listed(letters: MemoryDeadLetters): Promise<DeadLetter[]> {
  const found: DeadLetter[] = [];
  for await (const letter of eachLetter(letters, 'p')) found.push(letter);
  return found;
}

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function sinksTo(
  manner: Manner,
  timeoutMs: number,
): Promise<{ sinks: PipelineSinks; letters: MemoryDeadLetters; server: RawServer }> {
  const server = new RawServer(manner);
  const url = await server.listen();
  const letters = new MemoryDeadLetters(100);
  const sinks = new PipelineSinks({
    pipelineId: 'p',
    environment: { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) },
    deadLetters: letters,
    report: () => undefined,
    onChange: () => undefined,
  });
  open.push(sinks, server);
  const stored = [
    ['url', url],
    ['retries', 0],
    ['failure_threshold', 1_000],
    ['timeout', encodeValue(new Duration(timeoutMs))],
  ] as const;
  sinks.configure([settingsOf('Hook', 'http', stored)], ['Hook']);
  return { sinks, letters, server };
}

function send(sinks: PipelineSinks, count: number): void {
  const rest = { url: null, topic: null, stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null, parameters: new Map() };
  for (let n = 0; n < count; n++) sinks.take({ id: String(n), connector: 'Hook', ...rest });
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n';

describe('a server that says that it has taken a message', () => {
  const manners: readonly (readonly [string, Manner])[] = [
    ['and then drips the body', (socket) => again(socket, ok, 'x', 20)],
    ['and then says nothing more', (socket) => void socket.write(ok)],
    ['and then floods', (socket) => again(socket, ok, 'x'.repeat(100_000), 1)],
    ['and then breaks off', (socket) => void socket.end(`${ok}part`)],
    [
      'and then garbles the pieces of its body',
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nxx'),
    ],
  ];

  it.each(manners)('%s has taken it, and the next is sent at once', async (_, manner) => {
    const timeoutMs = 600_000; // Nothing here may wait for it.
    const { sinks, letters, server } = await sinksTo(manner, timeoutMs);
    send(sinks, 30);
    await vi.waitUntil(() => sinks.pending === 0, { timeout: 10_000 });
    expect([sinks.status()[0]?.delivered, await listed(letters)]).toEqual([30, []]);
    expect(server.sockets.size).toBeLessThanOrEqual(10);
    await sinks.close();
    await vi.waitUntil(() => server.sockets.size === 0);
  });
});

describe('a server that does not answer', () => {
  const manners: readonly (readonly [string, Manner, RegExp])[] = [
    ['with anything', () => undefined, /^timeout$/],
    ['but a header a piece at a time', (socket) => again(socket, 'HTTP/1.1 200 OK\r\nX: ', 'y', 20), /^timeout$/],
    ['but with interim answers without end', (socket) => again(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n', 20), /./],
    ['but with headers without end', (socket) => again(socket, 'HTTP/1.1 200 OK\r\n', `X: ${'y'.repeat(9_000)}\r\n`, 5), /./],
    ['but with garbage', (socket) => void socket.end('\0\xffSSH-2.0 nobody\r\n\r\n'), /^not_http$/],
    ['but with a status that is none', (socket) => void socket.end('HTTP/1.1 9 Nine\r\n\r\n'), /./],
    ['but closes', (socket) => void socket.end(), /./],
    ['but resets', (socket) => void socket.resetAndDestroy(), /./],
  ];

  it.each(manners)('%s gets its messages given up, each in its time', async (_, manner, code) => {
    const { sinks, letters } = await sinksTo(manner, 300);
    send(sinks, 2);
    await vi.waitUntil(() => sinks.pending === 0, { timeout: 10_000 });
    expect((await listed(letters)).map((letter) => [letter.id, letter.attempts])).toEqual([
      ['0', 1],
      ['1', 1],
    ]);
    for (const letter of await listed(letters)) expect(letter.code).toMatch(code);
  });

  it('and sends elsewhere is not followed', async () => {
    const other = new RawServer((socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n'));
    open.push(other);
    const location = await other.listen();
    const { sinks, letters } = await sinksTo(
      (socket) => void socket.write(`HTTP/1.1 307 Go\r\nLocation: ${location}/\r\nContent-Length: 0\r\n\r\n`),
      2_000,
    );
    send(sinks, 1);
    await vi.waitUntil(() => sinks.pending === 0, { timeout: 10_000 });
    expect((await listed(letters)).map((letter) => letter.code)).toEqual(['http_307']);
    expect(other.requests).toBe(0);
  });
});
