import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatagramListener } from '../../../shared/outbound/datagram-listener.ts';
import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { WaitingMessages } from '../sources/waiting-messages.ts';
import { kernelDrops } from './kernel-drops.ts';
import { SyslogFrames } from './syslog-frames.ts';
import { syslogMessage } from './syslog-message.ts';

/** Longest message that is taken. */
export const SYSLOG_BYTES_MAX = 65_536;
const CONNECTIONS_MAX = 1_000;
const KEEP_ALIVE_MS = 60_000;
/** How often it is said that connections are refused: their senders come again and again, ms. */
const REFUSED_TOLD_MS = 60_000;
/** How often it is looked what the system has dropped. */
const LOOK_MS = 1_000;

export interface SyslogSourceOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly protocol: 'udp' | 'tcp';
  /** Of arrival, epoch ms. */
  readonly now: () => number;
  /** Event type of messages where nothing else says one. */
  readonly topicPart: string;
  /** Messages that may wait to be taken: then connections are read no further, and datagrams are dropped and counted. @default 10,000 */
  readonly waitingMax?: number;
  /** Connections that may be open. @default 1,000 */
  readonly connectionsMax?: number;
}

const leftOut = {
  too_long: `found a message of more than ${SYSLOG_BYTES_MAX} bytes, which is left out`,
  cut_off: 'found a message that is shorter than its length says, as its sender ended the connection: it is left out',
} as const;

/** Messages that others send here while this process listens: nobody keeps those that they send otherwise. */
export class SyslogSource implements Source {
  readonly #options: SyslogSourceOptions;
  readonly #connection = new KeptConnection((error) => this.#reasonOf(error));
  readonly #sockets = new Set<Socket>();
  readonly #waiting: WaitingMessages;
  /** Datagrams that came while there was no room, here or in the system, and those among them that were told of. */
  dropped = 0;
  #told = 0;
  /** Connections that were refused since that was said last. */
  #refused = 0;
  #saying: NodeJS.Timeout | undefined;
  #end: () => void = () => undefined;
  /** Where it listens; 0 while it does not. */
  port = 0;

  constructor(options: SyslogSourceOptions) {
    this.#options = options;
    this.#waiting = new WaitingMessages({
      onRoom: () => {
        for (const socket of this.#sockets) socket.resume();
      },
      isClosed: () => this.#connection.isClosed,
      notes: () => this.#dropNotes(),
      ...(options.waitingMax === undefined ? {} : { messagesMax: options.waitingMax }),
    });
  }

  start(reading: SourceReading): void {
    void this.#connection.keep(reading, (connected) =>
      this.#options.protocol === 'udp' ? this.#hear(reading, connected) : this.#serve(reading, connected),
    );
  }

  close(): Promise<void> {
    this.#connection.close();
    clearTimeout(this.#saying);
    this.#end();
    return Promise.resolve();
  }

  #reasonOf(error: unknown): string {
    const { host, port, protocol } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    return `cannot listen on ${host}:${port} (${protocol}): ${reason}`;
  }

  async #hear(reading: SourceReading, connected: () => void): Promise<void> {
    const { host, port } = this.#options;
    const onMessage = (bytes: Buffer): void => {
      if (this.#waiting.isFull) this.dropped++;
      else this.#add(bytes, reading);
    };
    const listener = await DatagramListener.open({ host, port, onMessage });
    const end = new AbortController();
    // Before anybody knows that it listens: others may have had the port, and drops.
    const known = await kernelDrops(listener.port);
    this.port = listener.port;
    void this.#lookForDrops(known, reading, end.signal);
    const stop = (): void => {
      end.abort();
      listener.close();
    };
    await this.#until(listener.failed, stop, connected);
  }

  /** What the system drops nobody sees come: only its own count tells. */
  async #lookForDrops(known: number, reading: SourceReading, signal: AbortSignal): Promise<void> {
    for (let before = known; !signal.aborted; ) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined); // Closed: the loop sees that.
      const now = await kernelDrops(this.port);
      if (signal.aborted || now <= before) continue;
      this.dropped += now - before;
      before = now;
      for (const note of this.#dropNotes()) this.#waiting.add(note, reading);
    }
  }

  async #serve(reading: SourceReading, connected: () => void): Promise<void> {
    const server = createServer((socket) => this.#accept(socket, reading));
    const { connectionsMax = CONNECTIONS_MAX } = this.#options;
    server.maxConnections = connectionsMax;
    server.on('drop', () => {
      this.#refused++;
      this.#sayRefused(reading, connectionsMax);
    });
    const failed = new Promise<never>((_, reject) => server.once('error', reject));
    const { host, port } = this.#options;
    await Promise.race([new Promise<void>((resolve) => server.listen(port, host, resolve)), failed]);
    this.port = (server.address() as { port: number }).port;
    await this.#until(failed, () => this.#stop(server), connected);
  }

  async #until(failed: Promise<never>, stop: () => void, connected: () => void): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    try {
      if (this.#connection.isClosed) return;
      connected();
      await Promise.race([closed, failed]);
    } finally {
      this.port = 0;
      stop();
    }
  }

  #stop(server: Server): void {
    server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(socket: Socket, reading: SourceReading): void {
    this.#sockets.add(socket);
    const frames = new SyslogFrames(SYSLOG_BYTES_MAX);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    // A connection that fails is over: what it had sent whole was taken.
    socket.on('error', () => socket.destroy()).on('close', () => this.#sockets.delete(socket));
    socket.on('data', (chunk) => {
      for (const frame of frames.push(chunk)) this.#add(frame, reading);
      if (this.#waiting.isFull) socket.pause();
    });
    socket.once('end', () => {
      const last = frames.end();
      if (last !== undefined) this.#add(last, reading);
    });
  }

  #add(frame: Buffer | keyof typeof leftOut, reading: SourceReading): void {
    const { now, topicPart } = this.#options;
    const message =
      typeof frame === 'string' ? { bytes: new Uint8Array(), problem: leftOut[frame] } : { ...syslogMessage(frame, now()), topicPart };
    this.#waiting.add(message, reading);
  }

  /** At once, and then for all that follow in a while. */
  #sayRefused(reading: SourceReading, connectionsMax: number): void {
    if (this.#saying !== undefined || this.#refused === 0 || this.#connection.isClosed) return;
    const what = this.#refused === 1 ? '1 connection was' : `${this.#refused} connections were`;
    const problem = `${what} refused, as ${connectionsMax} are open, and no more may be: let fewer senders connect, or have them close connections`;
    this.#refused = 0;
    this.#waiting.add({ bytes: new Uint8Array(), problem }, reading);
    this.#saying = setTimeout(() => {
      this.#saying = undefined;
      this.#sayRefused(reading, connectionsMax);
    }, REFUSED_TOLD_MS).unref();
  }

  /** What was dropped is said once for all of it: a letter for each would be a flood too. */
  #dropNotes(): readonly SourceMessage[] {
    const dropped = this.dropped - this.#told;
    this.#told = this.dropped;
    const problem = `${dropped} messages came faster than they could be taken, and were dropped`;
    return dropped === 0 ? [] : [{ bytes: new Uint8Array(), problem }];
  }
}
