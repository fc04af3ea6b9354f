import type { Source, SourceMessage, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { type NatsAddress, NatsClient, natsReason } from './nats-client.ts';

const WAITING_MESSAGES_MAX = 10_000;
const WAITING_BYTES_MAX = 4 * 1_048_576;

export interface NatsSubjectOptions {
  readonly address: NatsAddress;
  /** With wildcards. */
  readonly subject: string;
  readonly queueGroup: string | undefined;
}

/** What is published to a subject while somebody listens: the server keeps nothing. Of a queue group each message goes to one member. */
export class NatsSubjectSource implements Source {
  readonly #options: NatsSubjectOptions;
  readonly #connection = new KeptConnection(natsReason);
  #client: NatsClient | undefined;
  #waiting: SourceMessage[] = [];
  #waitingBytes = 0;
  #isHandingOver = false;

  constructor(options: NatsSubjectOptions) {
    this.#options = options;
  }

  start(reading: SourceReading): void {
    void this.#connection.keep(reading, (connected) => this.#listen(reading, connected));
  }

  async close(): Promise<void> {
    this.#connection.close();
    this.#client?.destroy();
  }

  async #listen(reading: SourceReading, connected: () => void): Promise<void> {
    const { address, subject, queueGroup } = this.#options;
    const client = await NatsClient.open(address);
    this.#client = client;
    try {
      if (this.#connection.isClosed) return;
      const refused = new Promise<never>((_, reject) => {
        client.connection.subscribe(subject, {
          ...(queueGroup === undefined ? {} : { queue: queueGroup }),
          callback: (error, message) => {
            if (error === null) this.#arrived(client, message, reading);
            else reject(new Error(`the server refuses the subscription of '${subject}': ${natsReason(error)}`, { cause: error }));
          },
        });
      });
      await Promise.race([client.flushed(), refused]);
      connected();
      throw await Promise.race([client.over, refused]);
    } finally {
      client.destroy();
    }
  }

  #arrived(client: NatsClient, { subject, data }: { readonly subject: string; readonly data: Uint8Array }, reading: SourceReading): void {
    this.#waiting.push({ bytes: data, topicPart: subject.split('.').at(-1) });
    this.#waitingBytes += data.length;
    if (this.#waiting.length >= WAITING_MESSAGES_MAX || this.#waitingBytes >= WAITING_BYTES_MAX) client.pause();
    void this.#handOver(reading);
  }

  /** Whatever has come while the last batch was made safe is the next one. */
  async #handOver(reading: SourceReading): Promise<void> {
    if (this.#isHandingOver) return;
    this.#isHandingOver = true;
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#connection.isClosed) {
      const messages = this.#waiting;
      [this.#waiting, this.#waitingBytes] = [[], 0];
      this.#client?.resume();
      if (!(await reading.take({ messages, position: null }))) break;
    }
    this.#isHandingOver = false;
  }
}
