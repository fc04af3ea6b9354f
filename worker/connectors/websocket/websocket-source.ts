import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Source, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { WaitingMessages } from '../sources/waiting-messages.ts';
import { ANSWER_MS_MAX, openWebSocket, type WebSocketAddress, webSocketReason } from './websocket-client.ts';

/** So many may wait to be taken; then nothing more is read from the connection. */
const WAITING_MESSAGES_MAX = 1_000;
/** How often it is asked whether the other side is still there. */
const PING_MS = 5_000;

export interface WebSocketSourceOptions {
  readonly address: WebSocketAddress;
  /** Its last part is the event type of messages where nothing else says one. */
  readonly topic: string | null;
}

/** Messages that a server sends while this client is connected: nobody keeps those that it sends otherwise. */
export class WebSocketSource implements Source {
  readonly #options: WebSocketSourceOptions;
  readonly #connection = new KeptConnection(webSocketReason);
  readonly #topicPart: string | undefined;
  readonly #waiting = new WaitingMessages({
    messagesMax: WAITING_MESSAGES_MAX,
    onRoom: () => this.#socket?.resume(),
    isClosed: () => this.#connection.isClosed,
  });
  #socket: WebSocket | undefined;

  constructor(options: WebSocketSourceOptions) {
    this.#options = options;
    this.#topicPart = options.topic?.split(/[./:]/).at(-1);
  }

  start(reading: SourceReading): void {
    void this.#connection.keep(reading, (connected) => this.#listen(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#socket?.terminate();
  }

  async #listen(reading: SourceReading, connected: () => void): Promise<void> {
    const { socket, closed } = await openWebSocket(this.#options.address, (bytes, from) => this.#arrived(from, bytes, reading));
    this.#socket = socket;
    if (this.#connection.isClosed) return socket.terminate();
    connected();
    const watched = new AbortController();
    void watch(socket, watched.signal);
    const { reason } = await closed;
    watched.abort();
    throw new Error(reason);
  }

  #arrived(socket: WebSocket, bytes: Buffer, reading: SourceReading): void {
    this.#waiting.add({ bytes, topicPart: this.#topicPart }, reading);
    if (this.#waiting.isFull) socket.pause();
  }
}

/** Ends a connection over which nothing is answered any more. */
async function watch(socket: WebSocket, signal: AbortSignal): Promise<void> {
  let unanswered = 0;
  socket.on('pong', () => {
    unanswered = 0;
  });
  while (!signal.aborted) {
    await sleep(PING_MS, undefined, { signal }).catch(() => undefined); // It was closed: the loop sees that.
    // While nothing more is read an answer could not be seen.
    if (signal.aborted || socket.isPaused) continue;
    if (++unanswered > ANSWER_MS_MAX / PING_MS) socket.terminate();
    else socket.ping(() => undefined);
  }
}
