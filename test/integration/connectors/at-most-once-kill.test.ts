import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { audit, type Delivered } from './audit.ts';
import { ProgramRun } from './brokers/program-run.ts';

vi.setConfig({ testTimeout: 180_000 });

/** So many are sent in each part of a run. */
const PART = 100;
const wait = { timeout: 60_000, interval: 20 };

interface Sender {
  /** The source, as a program declares it. */
  readonly connector: string;
  /** Resolves when the source can be sent to. */
  readonly connect: () => Promise<unknown>;
  /** The number as a message. False: there is nobody to send it to. */
  readonly send: (n: number) => boolean;
  readonly close: () => void;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const line = (n: number): string => `<13>1 2026-01-01T00:00:00Z plant meter - - - ${n}`;

async function overTcp(): Promise<Sender> {
  const port = await freePort();
  let socket: Socket | undefined;
  return {
    connector: `syslog (listen: "127.0.0.1:${port}", protocol: "tcp")`,
    connect: async () => {
      const made = createConnection({ port, host: '127.0.0.1' });
      await once(made, 'connect');
      made.on('error', () => undefined).on('close', () => made.destroy());
      socket = made;
    },
    send: (n) => {
      if (socket?.writable !== true) return false;
      socket.write(`${line(n)}\n`);
      return true;
    },
    close: () => socket?.destroy(),
  };
}

async function overUdp(): Promise<Sender> {
  const port = await freePort();
  const socket = createSocket('udp4').on('error', () => undefined);
  return {
    connector: `syslog (listen: "127.0.0.1:${port}", protocol: "udp")`,
    connect: () => Promise.resolve(),
    send: (n) => {
      socket.send(line(n), port, '127.0.0.1');
      return true;
    },
    close: () => socket.close(),
  };
}

async function overWebSocket(): Promise<Sender> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const client = (): WebSocket | undefined => [...server.clients].find(({ readyState }) => readyState === 1);
  return {
    connector: `websocket (url: "ws://127.0.0.1:${(server.address() as AddressInfo).port}")`,
    connect: () => vi.waitFor(() => expect(client()).toBeDefined(), wait),
    send: (n) => {
      const socket = client();
      socket?.send(JSON.stringify({ message: `${n}` }));
      return socket !== undefined;
    },
    close: () => {
      for (const each of server.clients) each.terminate();
      server.close();
    },
  };
}

describe.each([
  ['syslog over tcp', overTcp],
  ['syslog over udp', overUdp],
  ['a websocket', overWebSocket],
])('a source that nobody can ask again: %s', (_name, senderOf) => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  it('gives nothing twice over a kill of cep, and loses only what came just before, or while nobody listened', async () => {
    const sender = await senderOf();
    open.push(sender);
    const run = new ProgramRun(
      (folder) => `
event Syslog:
    message: str

connector In = ${sender.connector}
connector Out = file (path: "${folder}/out.jsonl")

stream Each = Syslog.from(In)
    .emit(n: to_int(message))
    .to(Out)
`,
    );
    open.unshift({ close: () => run.remove() });
    const delivered = (): readonly Delivered[] => run.delivered('out.jsonl');
    const have = (n: number): Promise<void> => vi.waitFor(() => expect(delivered().some(({ data }) => data['n'] === n)).toBe(true), wait);
    let sent = 0;
    /** How many of them there was somebody for. */
    const send = (): number => {
      let taken = 0;
      for (const end = sent + PART; sent < end; sent++) if (sender.send(sent)) taken++;
      return taken;
    };
    await run.startReading();
    await sender.connect();
    send();
    await have(PART - 1);
    const before = sent;
    // Some of these are being taken when it dies.
    send();
    await have(before);
    await run.end('SIGKILL');
    await vi.waitFor(() => expect(sender.connector.includes('udp') || !sender.send(-1)).toBe(true), wait);
    send();
    const after = sent;
    await run.startReading();
    await sender.connect();
    expect(send()).toBe(PART);
    await have(sent - 1);
    expect((await run.end('SIGINT'))?.code).toBe(0);
    const { lost, repeated, repeatedIds } = audit(delivered(), sent);
    expect([repeated, repeatedIds]).toEqual([[], []]);
    expect(lost.filter((n) => n < before || n >= after)).toEqual([]);
    // Nobody listened to any of these.
    expect(lost.filter((n) => n >= after - PART)).toHaveLength(PART);
    expect(run.letters()).toEqual([]);
  });
});
