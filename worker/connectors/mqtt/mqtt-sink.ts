import { randomUUID } from 'node:crypto';
import type { MqttClient } from 'mqtt';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { ANSWER_MS_MAX, type MqttAddress, mqttClient, mqttReason } from './mqtt-client.ts';

/** Unacknowledged at a time. */
const BATCH_MESSAGES_MAX = 500;

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

  readonly batching: Batching = { messages: BATCH_MESSAGES_MAX, send: (messages) => this.#sendBatch(messages) };

  async send(message: SinkMessage): Promise<void> {
    const [outcome] = await this.#sendBatch([message]);
    if (outcome instanceof DeliveryFailure) throw outcome;
  }

  /** All at once, of which the broker acknowledges each. */
  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    let client: MqttClient;
    try {
      this.#connecting ??= this.#connect();
      client = await this.#connecting;
    } catch (cause) {
      await this.close();
      const failure = failureOf(cause);
      return messages.map(() => failure);
    }
    const outcomes = await published(client, messages, this.#options);
    const isOver = outcomes.some((outcome) => outcome === 'alone' || (outcome instanceof DeliveryFailure && !outcome.isPermanent));
    if (isOver) await this.close();
    return outcomes;
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

/** Resolves when the broker has acknowledged all, or will not any more. */
async function published(client: MqttClient, messages: readonly SinkMessage[], options: MqttSinkOptions): Promise<readonly Outcome[]> {
  let end: (error: Error) => void = () => undefined;
  const over = new Promise<Error>((resolve) => {
    end = resolve;
  });
  const lost = (): void => end(new Error('the connection was lost'));
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    end(new Error(`no acknowledgement within ${ANSWER_MS_MAX / 1000} s`));
  }, ANSWER_MS_MAX);
  if (!client.connected) lost();
  client.once('close', lost);
  try {
    const outcomes = await Promise.all(messages.map((message) => acknowledged(client, { message, options, over })));
    // A broker refuses a message by ending the connection, and does not say which one it was.
    const isNameless = messages.length > 1 && !isSilent;
    return outcomes.map((outcome) => (isNameless && outcome !== 'taken' && !outcome.isPermanent ? 'alone' : outcome));
  } finally {
    clearTimeout(timer);
    client.off('close', lost);
  }
}

interface Publication {
  readonly message: SinkMessage;
  readonly options: MqttSinkOptions;
  /** Resolves when there will be no acknowledgement. */
  readonly over: Promise<Error>;
}

function acknowledged(client: MqttClient, { message, options, over }: Publication): Promise<'taken' | DeliveryFailure> {
  const topic = message.topic ?? options.topic;
  if (topic === undefined || /[#+\0]/.test(topic) || topic === '') {
    const text = `'${topic ?? ''}' is no topic that can be published to`;
    return Promise.resolve(new DeliveryFailure('bad_topic', text, { isPermanent: true }));
  }
  return new Promise((resolve) => {
    void over.then((error) => resolve(failureOf(error)));
    client.publish(topic, message.payload, { qos: options.qos }, (error) => resolve(error ? failureOf(error) : 'taken'));
  });
}

function failureOf(cause: unknown): DeliveryFailure {
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  return new DeliveryFailure('mqtt_error', mqttReason(cause), { cause });
}
