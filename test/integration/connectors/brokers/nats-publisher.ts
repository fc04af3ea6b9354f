import { type ConnectionOptions, connect, type NatsConnection } from 'nats';
import { NumberedPublisher } from './audited-run.ts';
import { RunningBroker } from './containers.ts';

/** A server whose streams survive it: what it acknowledges is written down. */
const config = `
listen: 0.0.0.0:4222
jetstream { store_dir: /var/lib/nats }
authorization {
  users = [
    { user: cep, password: secret }
    { user: guest, password: guest, permissions: { publish: { deny: "secret.>" }, subscribe: { deny: "secret.>" } } }
  ]
}
`;

/** A server with these streams, each of all subjects below its name. */
export async function startNats(streams: readonly string[]): Promise<RunningBroker> {
  const command = ['nats-server', '-c', '/tmp/nats.conf'];
  const broker = await RunningBroker.start({ broker: 'nats', port: 4222, command, files: { '/tmp/nats.conf': config } });
  const client = await clientOf(broker.port);
  const manager = await client.jetstreamManager();
  for (const name of streams) await manager.streams.add({ name, subjects: [`${name}.>`] });
  await client.close();
  return broker;
}

export function clientOf(port: number, options: ConnectionOptions = { user: 'cep', pass: 'secret' }): Promise<NatsConnection> {
  return connect({ servers: `127.0.0.1:${port}`, reconnect: false, timeout: 5_000, ...options });
}

abstract class OverNats extends NumberedPublisher {
  readonly #port: number;
  protected readonly subject: string;
  #client: NatsConnection | undefined;

  constructor(port: number, subject: string) {
    super();
    this.#port = port;
    this.subject = subject;
  }

  protected async client(): Promise<NatsConnection> {
    this.#client ??= await clientOf(this.#port);
    return this.#client;
  }

  override async leave(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.close().catch(() => undefined);
  }
}

/** One message of a stream at a time. */
export class StreamPublisher extends OverNats {
  protected override async give(number: number): Promise<void> {
    const client = await this.client();
    await client.jetstream().publish(this.subject, JSON.stringify({ event_type: 'Reading', n: number }), { timeout: 1_500 });
  }
}

/** One message of a subject at a time, which the server gives to whoever listens. */
export class SubjectPublisher extends OverNats {
  protected override async give(number: number): Promise<void> {
    const client = await this.client();
    client.publish(this.subject, JSON.stringify({ event_type: 'Reading', n: number }));
    await client.flush();
  }
}
