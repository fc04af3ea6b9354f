import type { Source, SourceReading } from '../connector.ts';
import { KeptConnection } from '../kept-connection.ts';
import { WaitingMessages } from '../sources/waiting-messages.ts';
import { type NatsAddress, NatsClient, natsReason } from './nats-client.ts';

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
  readonly #waiting = new WaitingMessages({ onRoom: () => this.#client?.resume(), isClosed: () => this.#connection.isClosed });
  #client: NatsClient | undefined;

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
    client.answered();
    this.#waiting.add({ bytes: data, topicPart: subject.split('.').at(-1) }, reading);
    if (this.#waiting.isFull) client.pause();
  }
}
