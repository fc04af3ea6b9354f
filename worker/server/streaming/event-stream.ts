import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../../../shared/limits.ts';
import type { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import type { Follower, Output, OutputCursor } from '../../runtime/service.ts';
import { outputInStream } from '../output-text.ts';
import type { Turns } from './turns.ts';

/** Output events that wait in the socket of a client before the next one is read for it. */
export const socketBytesMax = 65_536;
export const eventStreamType = 'text/event-stream; charset=utf-8';

export interface EventStreamOptions {
  readonly tenantId: string;
  readonly response: ServerResponse;
  /** Headers besides those of an event stream. */
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly follow: (follower: Follower) => OutputCursor;
  /** `Last-Event-ID` as it came. */
  readonly lastEventId: string | undefined;
  readonly turns: Turns;
  readonly telemetry: Telemetry;
  readonly onClose: (stream: EventStream) => void;
  /** How long the client may take nothing of what waits for it, ms. @default as in the table of limits */
  readonly stallMs?: number;
}

/** Frames by output, so that an output is written once for all its readers. */
const frames = new WeakMap<Output, Buffer>();

/**
 * The outputs of a pipeline as server-sent events for one client. It reads from the pipeline's ring as fast as its client
 * reads from the socket: what the ring has lost by then is told as a gap, and memory stays what the socket holds.
 */
export class EventStream {
  readonly #options: EventStreamOptions;
  readonly #cursor: OutputCursor;
  /** Frames go to the socket itself: the response would hold each back for a moment, and ten thousand moments stand in a row. */
  readonly #socket: Socket;
  #isEnding = false;
  #isClosed = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#socket = options.response.socket as Socket;
    this.#open();
    // Last: a stream that could not be opened is told of no output.
    const after = sequenceOf(options.lastEventId);
    this.#cursor = options.follow({
      ...(after === undefined ? {} : { after }),
      onReadable: () => options.turns.add(this.#pump),
      onEnd: () => {
        this.#isEnding = true;
        options.turns.add(this.#pump);
      },
    });
    // An id without data is no message, but a client that loses the connection before the first message comes back with it.
    this.#socket.write(`:\n\nid: ${this.#cursor.position}\n\n`);
    options.turns.add(this.#pump);
  }

  get tenantId(): string {
    return this.#options.tenantId;
  }

  /** A comment that keeps the connection from looking dead. */
  beat(): void {
    if (!this.#isFull) this.#socket.write(':\n\n');
  }

  /** Sends what is left and closes. */
  end(): void {
    this.#isEnding = true;
    this.#options.turns.add(this.#pump);
  }

  cut(): void {
    this.#options.response.destroy();
  }

  #open(): void {
    const { response, headers, turns, telemetry } = this.#options;
    // Without chunks, so that what is written for one client is what is written for all; the connection ends with the stream.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { ...headers, 'content-type': eventStreamType, 'x-accel-buffering': 'no' });
    response.flushHeaders();
    this.#socket.on('drain', () => {
      if (this.#socket.timeout === this.#stallMs) this.#socket.setTimeout(0);
      turns.add(this.#pump);
    });
    this.#socket.once('timeout', () => {
      const fields = { tenant: this.tenantId, unread_bytes: this.#socket.writableLength };
      telemetry.log.log('warn', 'Stream client cut: it does not read', fields);
      this.cut();
    });
    response.on('close', () => this.#close());
    response.on('error', () => this.#close());
  }

  get #stallMs(): number {
    return this.#options.stallMs ?? limits.answerStallMsMax;
  }

  get #isFull(): boolean {
    return this.#socket.writableLength > socketBytesMax;
  }

  readonly #pump = (): void => {
    if (this.#isClosed) return;
    // What is ready goes out in one write.
    this.#socket.cork();
    try {
      this.#writeReady();
    } finally {
      this.#socket.uncork();
    }
    // The socket itself knows whether anything of it goes.
    if ((this.#isFull || !this.#socket.writable) && this.#socket.timeout !== this.#stallMs) this.#socket.setTimeout(this.#stallMs);
  };

  #writeReady(): void {
    const { response, telemetry } = this.#options;
    // A client that has said that it sends nothing more is sent nothing either, but what waits for it.
    while (!this.#isFull && this.#socket.writable) {
      const { skipped, outputs } = this.#cursor.read(1);
      if (skipped > 0) {
        this.#socket.write(`event: gap\ndata: {"skipped":${skipped}}\n\n`);
        telemetry.report('ClientMissedEvents', { transport: 'sse', skipped });
      }
      for (const output of outputs) this.#socket.write(frameOf(output));
      if (outputs.length === 0) {
        if (this.#isEnding && skipped === 0) response.end();
        if (skipped === 0) return;
      }
    }
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.turns.drop(this.#pump);
    this.#cursor.close();
    this.#options.onClose(this);
  }
}

function frameOf(output: Output): Buffer {
  const known = frames.get(output);
  if (known) return known;
  const made = Buffer.from(`id: ${output.sequence}\ndata: ${outputInStream(output)}\n\n`);
  frames.set(output, made);
  return made;
}

/** The sequence that a client saw last; undefined when its header is no number. */
function sequenceOf(lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}
