import { Redis } from 'ioredis';
import { NumberedPublisher } from './audited-run.ts';
import { RunningBroker } from './containers.ts';

const command = ['redis-server', '--port', '6379', '--requirepass', 'secret', '--appendonly', 'yes', '--appendfsync', 'always'];

/** A server that writes down what it takes before it says so. */
export function startRedis(): Promise<RunningBroker> {
  return RunningBroker.start({ broker: 'redis', port: 6379, command });
}

abstract class OverRedis extends NumberedPublisher {
  readonly #port: number;
  protected readonly name: string;
  #client: Redis | undefined;

  constructor(port: number, name: string) {
    super();
    this.#port = port;
    this.name = name;
  }

  protected get client(): Redis {
    this.#client ??= clientOf(this.#port);
    return this.#client;
  }

  override async leave(): Promise<void> {
    this.#client?.disconnect();
    this.#client = undefined;
  }
}

/** One entry of a stream at a time. */
export class RedisPublisher extends OverRedis {
  protected override async give(number: number): Promise<void> {
    await this.client.xadd(this.name, '*', 'event_type', 'Reading', 'n', String(number));
  }
}

/** One message of a channel at a time, which the server gives to whoever listens. */
export class ChannelPublisher extends OverRedis {
  protected override async give(number: number): Promise<void> {
    await this.client.publish(this.name, JSON.stringify({ event_type: 'Reading', n: number }));
  }
}

export function clientOf(port: number): Redis {
  const client = new Redis({ port, host: '127.0.0.1', password: 'secret', retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  return client;
}
