import { randomUUID } from 'node:crypto';
import type { MqttClient } from 'mqtt';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { ANSWER_MS_MAX, type MqttAddress, mqttClient, mqttReason } from './mqtt-client.ts';

export interface MqttSinkOptions {
  readonly address: MqttAddress;
  readonly clientId: string | undefined;
  /** Of messages that name none. */
  readonly topic: string | undefined;
  readonly qos: 0 | 1 | 2;
}

/** Publishes messages, each of which is delivered when the broker has acknowledged it. A connection that has failed is not used again. */
export class MqttSink implements Sink {
  readonly #options: MqttSinkOptions;
  #connecting: Promise<MqttClient> | undefined;

  constructor(options: MqttSinkOptions) {
    this.#options = options;
  }

  async send({ topic: named, payload }: SinkMessage): Promise<void> {
    const topic = named ?? this.#options.topic;
    if (topic === undefined || /[#+\0]/.test(topic) || topic === '') {
      throw new DeliveryFailure('bad_topic', `'${topic ?? ''}' is no topic that can be published to`, { isPermanent: true });
    }
    try {
      this.#connecting ??= this.#connect();
      await published(await this.#connecting, { topic, payload, qos: this.#options.qos });
    } catch (cause) {
      await this.close();
      if (cause instanceof ForbiddenAddress) throw new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
      throw new DeliveryFailure('mqtt_error', mqttReason(cause), { cause });
    }
  }

  async #connect(): Promise<MqttClient> {
    const { address, clientId = `cep-${randomUUID().slice(0, 18)}` } = this.#options;
    let problem = new Error('the broker closed the connection');
    const onError = (error: Error): void => {
      problem = error;
    };
    const client = await mqttClient(address, { clientId, clean: true, onError });
    try {
      await new Promise<void>((resolve, reject) => {
        client.once('connect', () => resolve());
        client.once('error', reject);
        client.once('close', () => reject(problem));
      });
    } catch (error) {
      client.end(true);
      throw error;
    }
    client.on('error', () => undefined); // What is under way is told by its close.
    return client;
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then((client) => client.end(true)).catch(() => undefined);
  }
}

interface Publication {
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1 | 2;
}

/** Resolves with the broker's acknowledgement. */
async function published(client: MqttClient, { topic, payload, qos }: Publication): Promise<void> {
  let end: (error: Error) => void = () => undefined;
  const lost = (): void => end(new Error('the connection was lost'));
  const timer = setTimeout(() => end(new Error(`no acknowledgement within ${ANSWER_MS_MAX / 1000} s`)), ANSWER_MS_MAX);
  try {
    await new Promise<void>((resolve, reject) => {
      end = reject;
      if (!client.connected) lost();
      client.once('close', lost);
      client.publish(topic, payload, { qos }, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    clearTimeout(timer);
    client.off('close', lost);
  }
}
