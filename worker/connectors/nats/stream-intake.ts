import type { Msg } from 'nats';
import type { MsgImpl } from 'nats/lib/nats-base-client/internal_mod.js';
import type { SourceMessage, SourcePosition, SourceReading } from '../connector.ts';
import type { NatsClient } from './nats-client.ts';
import { TakenSequences } from './taken-sequences.ts';

/** Handed over at a time: of a message that is larger, that one. */
const TAKE_MESSAGES_MAX = 5_000;
const TAKE_BYTES_MAX = 1_048_576;
/** There is room for more while less has come and is not safe. */
const WAITING_MESSAGES_MAX = 1_000;
const WAITING_BYTES_MAX = 8 * 1_048_576;
/** So long a process may stand still, whatever the server waits: nobody reads in its place that soon, ms. */
const STILL_MS_MIN = 1_000;
const ACK = Buffer.from('+ACK');
const WORKING = Buffer.from('+WPI');

export interface StreamIntakeOptions {
  readonly client: NatsClient;
  readonly reading: SourceReading;
  /** The server is told which messages are safe. */
  readonly isAcknowledging: boolean;
  /** After this time it would give them again, ms. */
  readonly ackWaitMs: number;
  /** What was taken before. */
  readonly known: TakenSequences['ranges'];
  readonly positionBehind: (taken: TakenSequences['ranges']) => SourcePosition;
  /** It is safe up to here. */
  readonly taken: (position: SourcePosition) => void;
}

interface Waiting {
  readonly message: Msg;
  /** In the stream. */
  readonly sequence: number;
  /** With its headers. */
  readonly bytes: number;
}

/** What has come of a stream over one connection, on its way to be safe. */
export class StreamIntake {
  /** Rejects when nothing more will come. */
  readonly failed: Promise<never>;
  /** Called when there is room for more. */
  onRoom: () => void = () => undefined;
  readonly #options: StreamIntakeOptions;
  readonly #working: NodeJS.Timeout;
  #fail: (error: unknown) => void = () => undefined;
  #taken: TakenSequences;
  #waiting: Waiting[] = [];
  /** Sequences of those that wait or are under way. */
  readonly #here = new Set<number>();
  #underWay: readonly Waiting[] = [];
  /** Of both. */
  #bytes = 0;
  /** Of the last message, among those that the consumer has given. */
  #delivery = 0;
  #handingOver: Promise<void> | undefined;
  #isClosed = false;
  /** When the server was told last that what is here is being worked on. */
  #workedAt = performance.now();
  #hasFailed = false;

  constructor(options: StreamIntakeOptions) {
    this.#options = options;
    this.#taken = new TakenSequences(options.known);
    this.#working = setInterval(() => this.#stillWorking(), options.ackWaitMs / 3);
    this.failed = new Promise((_, reject) => {
      this.#fail = (error) => {
        this.#hasFailed = true;
        reject(error);
      };
    });
    this.failed.catch(() => undefined); // Whoever reads asks for it in time.
  }

  /** Nothing more is taken. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get hasRoom(): boolean {
    return this.#waiting.length + this.#underWay.length < WAITING_MESSAGES_MAX && this.#bytes < WAITING_BYTES_MAX;
  }

  fail(error: unknown): void {
    this.#fail(error);
  }

  /** Resolves when what is under way is safe, or was given up: only then may somebody else hand over. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#working);
    await this.#handingOver;
  }

  /** So that the server does not give again what is waited for here. */
  #stillWorking() {
    const { isAcknowledging, ackWaitMs } = this.#options;
    const now = performance.now();
    const stoodMs = now - this.#workedAt;
    this.#workedAt = now;
    if (!isAcknowledging || this.#hasFailed) return;
    // What is here has been promised to whoever reads in the place of this process by now.
    if (stoodMs > Math.max(STILL_MS_MIN, ackWaitMs))
      return this.fail(new Error(`this process stood still for ${(stoodMs / 1_000).toFixed(1)} s`));
    for (const { message } of [...this.#underWay, ...this.#waiting]) this.#answer(message, WORKING);
  }

  #answer({ reply }: Msg, text: Uint8Array): void {
    const { connection } = this.#options.client;
    if (reply !== undefined && !connection.isClosed()) connection.publish(reply, text);
  }

  arrived(message: Msg): void {
    const { sequence, delivery } = placeOf(message);
    const { isAcknowledging } = this.#options;
    if (!isAcknowledging && delivery !== ++this.#delivery) {
      this.fail(new Error('messages have got lost on the way from the server'));
    } else if (!this.#taken.has(sequence)) {
      // What is given again while it is here needs no second place.
      if (this.#here.has(sequence)) return;
      this.#here.add(sequence);
      const bytes = (message as MsgImpl).size();
      this.#waiting.push({ message, sequence, bytes });
      this.#bytes += bytes;
      this.#handingOver ??= this.#handOver()
        .catch((error: unknown) => this.fail(error))
        .finally(() => {
          this.#handingOver = undefined;
        });
    } else if (isAcknowledging) this.#answer(message, ACK);
  }

  /** Whatever has come while the last batch was made safe is the next one. */
  async #handOver(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#isClosed) {
      this.#underWay = this.#waiting.splice(0, this.#nextPart());
      if (!(await this.#take(this.#underWay))) return;
      for (const { bytes } of this.#underWay) this.#bytes -= bytes;
      this.#underWay = [];
      this.onRoom();
    }
  }

  /** Messages of the next batch. */
  #nextPart(): number {
    let sum = 0;
    const end = this.#waiting.findIndex(({ bytes }, at) => {
      sum += bytes;
      return at > 0 && (at >= TAKE_MESSAGES_MAX || sum > TAKE_BYTES_MAX);
    });
    return end < 0 ? this.#waiting.length : end;
  }

  async #take(batch: readonly Waiting[]): Promise<boolean> {
    const { reading, isAcknowledging, positionBehind, client } = this.#options;
    const taken = this.#taken.with(batch.map(({ sequence }) => sequence));
    // Where nothing is acknowledged it is all a matter of the last one.
    const position = positionBehind(isAcknowledging ? taken.ranges : taken.ranges.slice(-1));
    const messages = batch.map(({ message }) => messageOf(message));
    const placeOf = (index: number): string => String(batch[index]?.sequence);
    if (!(await reading.take({ messages, position, placeOf, isTold: isAcknowledging }))) return false;
    this.#taken = taken;
    for (const { sequence } of batch) this.#here.delete(sequence);
    this.#options.taken(position);
    if (!isAcknowledging || this.#isClosed) return true;
    for (const { message } of batch) this.#answer(message, ACK);
    await client.flushed();
    return true;
  }
}

/** `$JS.ACK.<stream>.<consumer>.<given>.<sequence>.<delivery>.<time>.<pending>`; later servers have a domain and an account behind `ACK`. */
function placeOf({ reply = '' }: Msg): { readonly sequence: number; readonly delivery: number } {
  const parts = reply.split('.');
  const at = parts.length > 9 ? 7 : 5;
  return { sequence: Number(parts[at]), delivery: Number(parts[at + 1]) };
}

function messageOf({ subject, data }: Msg): SourceMessage {
  return { bytes: data, topicPart: subject.split('.').at(-1) };
}
