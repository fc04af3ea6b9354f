import { connectAsync, type MqttClient } from 'mqtt';
import { expect, vi } from 'vitest';
import { NumberedPublisher } from './audited-run.ts';
import { RunningBroker } from './containers.ts';

const TOPIC = 'plant/readings';
/** A broker that writes down what it holds when it ends. */
const config = `listener 1883 0.0.0.0
password_file /tmp/passwords
allow_anonymous false
persistence true
persistence_location /var/lib/mosquitto/
max_queued_messages 0
user root
`;
const command = ['sh', '-c', 'mosquitto_passwd -b -c /tmp/passwords cep secret && exec mosquitto -c /tmp/m.conf'];

export function startMosquitto(): Promise<RunningBroker> {
  return RunningBroker.start({ broker: 'mosquitto', port: 1883, command, files: { '/tmp/m.conf': config } });
}

const brokerCounters = ['publish/messages/dropped', 'store/messages/count', 'clients/connected', 'clients/disconnected'].map(
  (name) => `$SYS/broker/${name}`,
);

/** One message at a time. */
export class MqttPublisher extends NumberedPublisher {
  /** Mosquitto before 2.0.13 gives all that waits without hearing of it, which is exact only as long as a session has numbers for it. */
  override readonly waitingMax = 60_000;
  readonly #port: number;
  #client: MqttClient | undefined;

  constructor(port: number) {
    super();
    this.#port = port;
  }

  protected override async give(number: number): Promise<void> {
    this.#client ??= await this.#connect();
    await this.#client.publishAsync(TOPIC, JSON.stringify({ event_type: 'Reading', n: number }), { qos: 1 });
  }

  async #connect(): Promise<MqttClient> {
    const client = await connectAsync({ port: this.#port, host: '127.0.0.1', username: 'cep', password: 'secret', reconnectPeriod: 0 });
    client.on('error', () => undefined);
    return client;
  }

  override async brokerSays(): Promise<Readonly<Record<string, string>>> {
    const said: Record<string, string> = {};
    const client = await this.#connect();
    client.on('message', (topic, payload) => {
      said[topic] = String(payload);
    });
    await client.subscribeAsync(brokerCounters);
    // They are written every ten seconds; what the broker does not count is not there.
    await vi.waitFor(() => expect(Object.keys(said)).toHaveLength(brokerCounters.length), { timeout: 12_000 }).catch(() => undefined);
    client.end(true);
    return said;
  }

  override async leave(): Promise<void> {
    this.#client?.end(true);
    this.#client = undefined;
  }
}
