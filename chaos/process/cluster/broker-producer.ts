import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type NatsConnection } from 'nats';
import { type StoryEvent, step } from './story.ts';

export interface BrokerProducerOptions {
  readonly name: string;
  readonly store: EventStore;
  readonly random: (bound: number) => number;
  /** Between two steps. */
  readonly pauseMsMax: number;
}

const answerMs = 5_000;
const retryMs = 200;
/** What the pipeline that reads from the broker takes of a story. */
const types: readonly string[] = ['Open', 'Close', 'Tick'];

/** A stream of a NATS server outside the cluster, which is spared by all faults: what it acknowledged it has. */
export class EventStore {
  readonly url: string;
  readonly subject: string;
  /** The consumer as which it is read; undefined: by positions. */
  readonly durable: string | undefined;
  readonly #client: NatsConnection;
  readonly #stream: string;

  private constructor(
    url: string,
    client: NatsConnection,
    { stream, isDurable }: { readonly stream: string; readonly isDurable: boolean },
  ) {
    this.url = url;
    this.durable = isDurable ? 'stored' : undefined;
    this.#client = client;
    this.#stream = stream;
    this.subject = `${stream}.events`;
  }

  /** Makes a stream of its own. @param url With the login, if there is one. */
  static async open(url: string, isDurable: boolean): Promise<EventStore> {
    const { host, username, password } = new URL(url);
    const login = username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
    const client = await connect({ servers: host, maxReconnectAttempts: -1, ...login });
    const stream = `cep-chaos-${process.pid}-${Date.now()}`;
    await (await client.jetstreamManager()).streams.add({ name: stream, subjects: [`${stream}.>`] });
    return new EventStore(url, client, { stream, isDurable });
  }

  /** Resolves when the broker has it; with an id that it knows it is there once. */
  async add(event: StoryEvent, id: string): Promise<void> {
    const text = JSON.stringify({ event_type: event.event_type, timestamp: Date.now(), ...event.fields });
    for (;;) {
      const isThere = await this.#client
        .jetstream()
        .publish(this.subject, text, { msgID: id, timeout: answerMs })
        .then(
          () => true,
          () => false, // It may be there, or not: the id says.
        );
      if (isThere) return;
      await sleep(retryMs);
    }
  }

  async close(): Promise<void> {
    await (await this.#client.jetstreamManager()).streams.delete(this.#stream);
    await this.#client.close();
  }
}

/** Gives its story to a broker, from which a pipeline reads it. */
export class BrokerProducer {
  /** What the broker has. */
  readonly sent: StoryEvent[] = [];
  /** When the event was first given that the broker has not acknowledged yet; undefined when there is none. */
  waitingSince: number | undefined;
  readonly name: string;
  readonly #options: BrokerProducerOptions;
  #isOver = false;

  constructor(options: BrokerProducerOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** It stops after what it is about, which it does not give up. */
  end(): void {
    this.#isOver = true;
  }

  async run(): Promise<void> {
    const { random, pauseMsMax, store } = this.#options;
    for (let number = 0; !this.#isOver; number++) {
      for (const event of step(this.name, number)) {
        if (!types.includes(event.event_type)) continue;
        this.waitingSince = performance.now();
        await store.add(event, `${this.name}-${this.sent.length}`);
        this.waitingSince = undefined;
        this.sent.push(event);
      }
      await sleep(random(pauseMsMax));
    }
  }
}
