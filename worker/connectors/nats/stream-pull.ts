import type { Msg, Subscription } from 'nats';
import type { NatsClient } from './nats-client.ts';
import type { StreamIntake } from './stream-intake.ts';

/** Asked for at a time. */
const PULL_MESSAGES = 1_000;
const PULL_BYTES = 8 * 1_048_576;
/** How often a server says that it is there while it waits for messages, ms; at least twice in a request. */
const HEARTBEAT_MS = 5_000;
const SILENCE_MS_MAX = 3 * HEARTBEAT_MS;
const NANOS_PER_MS = 1e6;
const HEARTBEAT = 100;
/** Those that say that this is over; others say that nothing, or no more, came in time. */
const failures: ReadonlySet<number> = new Set([400, 503]);

export interface StreamPullOptions {
  readonly client: NatsClient;
  readonly stream: string;
  readonly consumer: string;
  readonly intake: StreamIntake;
  /** How long a request waits for messages, ms. The server gives them to it even when nobody looks any more. */
  readonly pullMs: number;
  /** Nothing is asked for after this process has stood still for so long, ms: another may read in its place. */
  readonly stillMsMax: number;
}

/** Asks a consumer of a stream for messages, one request at a time, and not for more than is taken. */
export class StreamPull {
  readonly #options: StreamPullOptions;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  readonly #watch: NodeJS.Timeout;
  /** Numbers the requests. */
  #request = 0;
  /** Messages that the request may still bring; 0: there is none. */
  #open = 0;
  #heard = performance.now();

  constructor(options: StreamPullOptions) {
    this.#options = options;
    this.#inbox = options.client.inbox();
    this.#subscription = options.client.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) options.intake.fail(error);
        else this.#take(message);
      },
    });
    options.intake.onRoom = () => this.ask();
    this.#watch = setInterval(() => this.#lookForSilence(), HEARTBEAT_MS);
  }

  #lookForSilence(): void {
    if (this.#open === 0 || performance.now() - this.#heard < SILENCE_MS_MAX) return;
    this.#options.intake.fail(new Error('the server has fallen silent'));
  }

  /** Asks for more, unless that is under way, or there is enough. */
  ask(): void {
    const { client, stream, consumer, intake, pullMs } = this.#options;
    if (this.#open > 0 || !intake.hasRoom || client.connection.isClosed()) return;
    this.#open = PULL_MESSAGES;
    this.#heard = performance.now();
    const request = {
      batch: PULL_MESSAGES,
      // Of one that is larger than that the request would never bring anything.
      max_bytes: Math.max(PULL_BYTES, 2 * (client.connection.info?.max_payload ?? 0)),
      expires: pullMs * NANOS_PER_MS,
      idle_heartbeat: Math.min(HEARTBEAT_MS, pullMs / 2) * NANOS_PER_MS,
    };
    const reply = `${this.#inbox}.${++this.#request}`;
    client.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, JSON.stringify(request), { reply });
  }

  #take(message: Msg): void {
    const { intake, stillMsMax } = this.#options;
    const now = performance.now();
    if (this.#open > 0 && now - this.#heard > stillMsMax)
      intake.fail(new Error('nothing was read for so long that another may have begun'));
    if (intake.hasFailed) return;
    this.#heard = now;
    if (!message.subject.startsWith(this.#inbox)) {
      intake.arrived(message);
      this.#open--;
      this.ask();
    } else if (message.subject === `${this.#inbox}.${this.#request}`) this.#told(message);
  }

  /** Something about the request. */
  #told({ headers }: Msg): void {
    const [code, description] = [headers?.code ?? 0, headers?.description ?? ''];
    if (code === HEARTBEAT) return;
    if (failures.has(code) || /deleted/i.test(description)) {
      const reason = code === 503 ? 'the stream or its consumer is gone' : description;
      this.#options.intake.fail(new Error(`the server gives no more messages: ${reason}`));
      return;
    }
    this.#open = 0;
    this.ask();
  }

  close(): void {
    clearInterval(this.#watch);
    if (!this.#options.client.connection.isClosed()) this.#subscription.unsubscribe();
  }
}
