import { Redis } from 'ioredis';
import { NumberedPublisher } from './audited-run.ts';
import { RunningBroker } from './containers.ts';

const command = ['redis-server', '--port', '6379', '--requirepass', 'secret', '--appendonly', 'yes', '--appendfsync', 'always'];

/** A server that writes down what it takes before it says so. */
export function startRedis(): Promise<RunningBroker> {
  return RunningBroker.start({ broker: 'redis', port: 6379, command });
}

/** One entry of a stream at a time. */
export class RedisPublisher extends NumberedPublisher {
  readonly #port: number;
  readonly #stream: string;
  #client: Redis | undefined;

  constructor(port: number, stream: string) {
    super();
    this.#port = port;
    this.#stream = stream;
  }

  protected override async give(number: number): Promise<void> {
    this.#client ??= clientOf(this.#port);
    await this.#client.xadd(this.#stream, '*', 'event_type', 'Reading', 'n', String(number));
  }

  override async leave(): Promise<void> {
    this.#client?.disconnect();
    this.#client = undefined;
  }
}

export function clientOf(port: number): Redis {
  const client = new Redis({ port, host: '127.0.0.1', password: 'secret', retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  return client;
}
