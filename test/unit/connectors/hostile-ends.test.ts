import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import { eachLetter, MemoryDeadLetters } from '../../../worker/connectors/delivery/dead-letters.ts';
import { PipelineSinks } from '../../../worker/connectors/delivery/pipeline-sinks.ts';
import { settingsOf } from '../../../worker/connectors/registry.ts';

const environment = { console: () => undefined, door: new OutboundDoor(NetworkPolicy.everywhere) };
/** What a flood may leave behind in this process, bytes. */
const HEAP_GROWTH_MAX = 96 * 1_048_576;
const EVENTS = 8;

type Parameters = readonly (readonly [string, unknown])[];

/** Each type of sink that connects somewhere, as a program names one at a port of this machine. */
const sinks: Readonly<Record<string, (port: number) => Parameters>> = {
  http: (port) => [['url', `http://127.0.0.1:${port}/`]],
  websocket: (port) => [['url', `ws://127.0.0.1:${port}/`]],
  mqtt: (port) => [
    ['host', '127.0.0.1'],
    ['port', port],
    ['topic', 't'],
  ],
  redis: (port) => [
    ['url', `redis://127.0.0.1:${port}`],
    ['stream', 't'],
  ],
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
};

/** Bytes that mean nothing, always the same. `shift`: 24, or 0 for some that come again and again. */
function garbage(bytes: number, shift: 0 | 24): Buffer {
  const made = Buffer.alloc(bytes);
  for (let at = 0, state = 0x9e3779b9; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    made[at] = state >>> shift;
  }
  return made;
}

/** What waits at the other end. */
const ends: Readonly<Record<string, (socket: Socket) => void>> = {
  'hangs up': (socket) => socket.destroy(),
  'answers garbage': (socket) => void socket.end(garbage(4_096, 24)),
  'answers other garbage': (socket) => void socket.end(garbage(4_096, 0)),
  'answers a page of the web': (socket) =>
    void socket.end('HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n'),
  'floods with garbage': (socket) => {
    const chunk = garbage(65_536, 0);
    let left = 1_000;
    const pour = (): void => {
      while (left-- > 0) if (!socket.write(chunk)) return;
      socket.end();
    };
    socket.on('drain', pour);
    pour();
  },
};

describe.each(Object.keys(ends))('a server that %s', (end) => {
  it.concurrent.each(Object.keys(sinks))(
    'makes dead letters of what %s sends there, and opens its circuit',
    { timeout: 90_000 },
    async (type) => {
      let connections = 0;
      const server = createServer((socket) => {
        connections++;
        socket.on('error', () => undefined);
        ends[end]?.(socket);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const deadLetters = new MemoryDeadLetters(1_000);
      const pipeline = new PipelineSinks({ pipelineId: 'p', environment, deadLetters, report: () => undefined, onChange: () => undefined });
      const parameters = sinks[type]?.((server.address() as AddressInfo).port) ?? [];
      pipeline.configure([settingsOf('Out', type, [...parameters, ['retries', 0], ['failure_threshold', 1]])], ['Out']);
      const common = { connector: 'Out', url: null, topic: null, stream: 'S', type: 'S', time: 0, fieldsJson: '{}', message: null };
      const before = process.memoryUsage();
      for (let n = 0; n < EVENTS; n++) pipeline.take({ ...common, id: String(n), parameters: new Map() });
      await pipeline.idle(80_000);
      const after = process.memoryUsage();
      const codes: string[] = [];
      for await (const { code, error } of eachLetter(deadLetters, 'p')) {
        codes.push(code);
        expect(error).not.toBe('');
      }
      expect([codes.length, pipeline.pending]).toEqual([EVENTS, 0]);
      // Redirects are a refusal of the message, which says nothing of the server.
      if (!codes.includes('http_302')) expect(pipeline.openCircuits).toEqual(['Out']);
      expect(connections).toBeGreaterThan(0);
      expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(HEAP_GROWTH_MAX);
      await pipeline.close();
      server.close();
    },
  );
});
