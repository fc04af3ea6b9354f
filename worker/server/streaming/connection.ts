import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { CepError } from '../../../shared/errors/error.ts';
import { toCepError } from '../../../shared/http/error-envelope.ts';
import { SMALL_BODY_BYTES } from '../../../shared/http/request-shares.ts';
import { limits } from '../../../shared/limits.ts';
import type { ServerMessage } from '../../../shared/protocol/websocket.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Access, Runtime } from '../../runtime/service.ts';
import { type ClientMessage, readMessage } from './client-message.ts';
import { ConnectionProgram } from './connection-program.ts';
import { socketBytesMax } from './event-stream.ts';
import { OutputFeed } from './output-feed.ts';
import type { Turns } from './turns.ts';

/** Messages of a client that may be under way before its socket is no longer read. */
const messagesUnderWayMax = 256;
/** The same, in bytes: as much as it takes to send while others are worked on. */
const bytesUnderWayMax = 4 * limits.webSocketMessageBytesMax;
/** What a small message costs as a part of a small request over HTTP. */
const SMALL_MESSAGE_PART = 0.2;
/** Answers that wait in the socket before it is no longer read. */
const unreadBytesMax = limits.clientQueueBytesMax / 2;
/** Time for a client to take something of what waits. The system holds megabytes for it, and tells of room a third at a time. */
const stallMsMax = 10_000;
/** A message is taken as a whole: a large one may take longer. */
const bytesPerMsMin = 50;

const closeCodes = { goingAway: 1001, refused: 1008, slow: 1013 } as const;

export interface ConnectionOptions {
  readonly socket: WebSocket;
  /** What the WebSocket writes to. */
  readonly transport: Pick<Socket, 'cork' | 'uncork' | 'bytesRead'>;
  readonly access: Access;
  readonly runtime: Runtime;
  readonly turn: {
    /** With what a message costs, as a multiple of a small one: resolves when the client may send more, undefined when it may at once. */
    enter(weight: number): undefined | Promise<void>;
    /** A message is answered. */
    leave(): void;
  };
  readonly turns: Turns;
  readonly telemetry: Telemetry;
  readonly onClose: (connection: Connection) => void;
}

/**
 * One WebSocket client: its own program, and the pipelines it follows. Messages are answered in the order in which they came.
 * What its client does not read stays in the rings of the pipelines, and the client's own messages are no longer read.
 * What has not begun when it is gone is not done.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #program: ConnectionProgram;
  readonly #attached = new Map<string, OutputFeed>();
  readonly #startedAtMs = performance.now();
  /** The messages under way, in order. */
  #last: Promise<void> = Promise.resolve();
  #underWay = 0;
  #bytesUnderWay = 0;
  /** Those of them that do not begin before everything before them is done. */
  #inOrder = 0;
  /** Others have their turn. */
  #isKeptBack = false;
  /** It was seen to be there since the last beat, beside what came from it. */
  #isAlive = true;
  #bytesAtBeat = 0;
  /** Aborted when the client is gone. */
  readonly #gone = new AbortController();
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, access, runtime } = options;
    this.#program = new ConnectionProgram({
      pipelines: runtime.pipelines,
      tenantId: access.tenantId,
      feed: (pipelineId) => this.#feed(pipelineId, undefined),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#close());
  }

  get #isClosed(): boolean {
    return this.#gone.signal.aborted;
  }

  get tenantId(): string {
    return this.#options.access.tenantId;
  }

  /**
   * Asks whether the client is still there; one of which nothing came since the last time is cut. Its answer comes behind all that it
   * has sent before, so anything counts; and nothing comes while it is not read.
   */
  beat(): void {
    const { socket, transport } = this.#options;
    if (this.#isAlive || socket.isPaused || transport.bytesRead !== this.#bytesAtBeat) socket.ping();
    else socket.terminate();
    this.#isAlive = false;
    this.#bytesAtBeat = transport.bytesRead;
  }

  end(): void {
    this.#options.socket.close(closeCodes.goingAway, 'the server stops');
  }

  /** There is nobody any more whose connection it is. */
  dismiss(): void {
    this.#options.socket.close(closeCodes.refused, 'the tenant is deleted');
  }

  cut(): void {
    this.#options.socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { length } = data as Buffer;
    this.#takeTurn(length);
    const message = isBinary ? new CepError('invalid_json', 'found a binary message, expected JSON as text') : messageOf(data as Buffer);
    const before = this.#last;
    const isEvents = !(message instanceof CepError) && (message.type === 'event' || message.type === 'events');
    // Events are handed over as they come, unless something before them still has to change what they go to.
    const begun = isEvents && this.#inOrder === 0 ? this.#program.inject(message) : undefined;
    const answered = begun ? before.then(() => begun) : before.then(() => this.#answerTo(message));
    if (!begun) this.#inOrder++;
    this.#underWay++;
    this.#bytesUnderWay += length;
    this.#holdReading();
    this.#last = answered
      .then(
        (answer) => this.#send(answer),
        (error: unknown) => this.#sendError(error),
      )
      .then(() => {
        if (!begun) this.#inOrder--;
        this.#underWay--;
        this.#bytesUnderWay -= length;
        this.#options.turn.leave();
        this.#holdReading();
      });
  }

  async #answerTo(message: ClientMessage | CepError): Promise<ServerMessage> {
    if (message instanceof CepError) throw message;
    if (this.#isClosed) throw new CepError('not_ready', 'the client is gone');
    switch (message.type) {
      case 'load':
        return this.#program.load(message.program, this.#gone.signal);
      case 'event':
      case 'events':
        return this.#program.inject(message);
      case 'status':
        return this.#program.status((performance.now() - this.#startedAtMs) / 1000);
      case 'attach':
        return this.#attach(message.pipelineId);
      case 'detach':
        return this.#detach(message.pipelineId);
      case 'ping':
        return { type: 'pong' };
    }
  }

  #attach(pipelineId: string): ServerMessage {
    if (!this.#attached.has(pipelineId)) this.#attached.set(pipelineId, this.#feed(pipelineId, pipelineId));
    return { type: 'attached', pipeline_id: pipelineId };
  }

  #detach(pipelineId: string | undefined): ServerMessage {
    const id = pipelineId ?? [...this.#attached.keys()].at(-1);
    const feed = id === undefined ? undefined : this.#attached.get(id);
    if (id === undefined || !feed) throw new CepError('pipeline_not_found', 'this connection is not attached to such a pipeline');
    feed.close();
    this.#attached.delete(id);
    return { type: 'detached', pipeline_id: id };
  }

  /** The pipeline is gone: the client is told as if it had detached. */
  #detached(pipelineId: string, feed: OutputFeed): void {
    feed.close();
    if (this.#attached.get(pipelineId) === feed && this.#attached.delete(pipelineId)) {
      this.#send({ type: 'detached', pipeline_id: pipelineId });
    }
  }

  /** @param attachedId Undefined for the program of the connection itself. */
  #feed(pipelineId: string, attachedId: string | undefined): OutputFeed {
    const { access, runtime, turns, telemetry, transport } = this.#options;
    const feed: OutputFeed = new OutputFeed({
      follow: (follower) => runtime.pipelines.follow(access.tenantId, pipelineId, follower),
      attachedId,
      turns,
      telemetry,
      isFull: () => this.#options.socket.bufferedAmount >= socketBytesMax,
      send: (text) => this.#write(text),
      together: (sends) => {
        transport.cork();
        try {
          sends();
        } finally {
          transport.uncork();
        }
      },
      onEnd: () => {
        if (attachedId !== undefined) this.#detached(attachedId, feed);
      },
    });
    return feed;
  }

  #send(message: ServerMessage): void {
    this.#write(JSON.stringify(message));
  }

  #sendError(error: unknown): void {
    const { message, code } = toCepError(error);
    if (code === 'internal_error') this.#options.telemetry.log.log('error', 'WebSocket message failed', { error: String(error) });
    this.#send({ type: 'error', message, code });
  }

  #write(text: string): void {
    const { socket } = this.#options;
    if (this.#isClosed || socket.readyState !== socket.OPEN) return;
    socket.send(text, () => this.#flushed());
    if (socket.bufferedAmount >= socketBytesMax) this.#cutWhenStalled();
    this.#holdReading();
  }

  /** The client has taken something. */
  #flushed(): void {
    // It reads, though it may have the ping only behind all that was sent before.
    if (this.#stallTimer !== undefined) this.#isAlive = true;
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    const waiting = this.#options.socket.bufferedAmount;
    if (waiting >= socketBytesMax) this.#cutWhenStalled();
    if (this.#isClosed || waiting >= unreadBytesMax) return;
    this.#holdReading();
    this.#program.feedNow?.resume();
    for (const feed of this.#attached.values()) feed.resume();
  }

  #cutWhenStalled(): void {
    this.#stallTimer ??= setTimeout(
      () => {
        const { socket, telemetry } = this.#options;
        const fields = { tenant: this.tenantId, pipelines: this.#attached.size, unread_bytes: socket.bufferedAmount };
        telemetry.log.log('warn', 'WebSocket client cut: it does not read', fields);
        socket.close(closeCodes.slow, 'the client does not read');
        this.cut();
      },
      stallMsMax + this.#options.socket.bufferedAmount / bytesPerMsMin,
    ).unref();
  }

  #takeTurn(bytes: number): void {
    const turn = this.#options.turn.enter(SMALL_MESSAGE_PART + bytes / SMALL_BODY_BYTES);
    if (turn === undefined) return;
    this.#isKeptBack = true;
    this.#holdReading();
    const readOn = (): void => {
      this.#isKeptBack = false;
      this.#holdReading();
    };
    // The message is here already: what is refused is only to wait longer.
    turn.then(readOn, readOn);
  }

  /** Stops reading a client that sends more than is done with, or does not read its answers. */
  #holdReading(): void {
    const { socket } = this.#options;
    const isFull = this.#underWay >= messagesUnderWayMax || this.#bytesUnderWay >= bytesUnderWayMax;
    const isBusy = this.#isKeptBack || isFull || socket.bufferedAmount >= unreadBytesMax;
    if (isBusy && !socket.isPaused) socket.pause();
    else if (!isBusy && socket.isPaused) {
      this.#isAlive = true;
      socket.resume();
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#gone.abort();
    clearTimeout(this.#stallTimer);
    for (const feed of this.#attached.values()) feed.close();
    this.#attached.clear();
    this.#last = this.#last.then(() => this.#program.unload());
    this.#options.onClose(this);
  }
}

function messageOf(bytes: Buffer): ClientMessage | CepError {
  try {
    return readMessage(bytes);
  } catch (error) {
    return toCepError(error);
  }
}
