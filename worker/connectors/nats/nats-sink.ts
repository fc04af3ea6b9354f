import type { JetStreamClient, MsgHdrs } from 'nats';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { together } from '../delivery/together.ts';
import { ANSWER_MS_MAX, forbiddenBy, type NatsAddress, NatsClient, natsCode, natsReason, type Published } from './nats-client.ts';

/** The server drops what comes again under an id that it remembers. */
const ID_HEADER = 'Nats-Msg-Id';
const TRACE_HEADER = 'Traceparent';
/** Unacknowledged at a time. */
const BATCH_MESSAGES_MAX = 500;
const NO_STREAM = '503';
/** What the server says of messages that it will never take. */
const permanentRefusals: ReadonlySet<string> = new Set(['MAX_PAYLOAD_EXCEEDED', 'BAD_SUBJECT']);

export interface NatsSinkOptions {
  readonly address: NatsAddress;
  /** Of messages that name none. */
  readonly subject: string | undefined;
  /** Delivered is what a stream has kept; else what the server has read. */
  readonly isJetStream: boolean;
  /** The stream that is to keep it; undefined: whichever has the subject. */
  readonly stream: string | undefined;
}

interface Open {
  readonly client: NatsClient;
  readonly stream: JetStreamClient;
  readonly newHeaders: () => MsgHdrs;
}

/** Publishes messages. A connection that has failed is not used again. */
export class NatsSink implements Sink {
  readonly #options: NatsSinkOptions;
  #connecting: Promise<Open> | undefined;

  constructor(options: NatsSinkOptions) {
    this.#options = options;
  }

  readonly batching: Batching = { messages: BATCH_MESSAGES_MAX, send: (messages) => this.#sendBatch(messages) };

  /** To a stream each with an acknowledgement of its own; to core NATS with one answer behind them all. */
  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    if (this.#options.isJetStream) return together(messages.length, (message) => this.send(message)).send(messages);
    try {
      const written = messages.map((message) => ({
        subject: this.#subjectOf(message),
        headers: headersOf(message),
        payload: message.payload,
      }));
      this.#connecting ??= open(this.#options.address);
      const { client } = await this.#connecting;
      let areSent: readonly boolean[] = [];
      const refused = await client.refusedOf(() => {
        areSent = client.publishAll(written);
      });
      // The others are taken: sent once more they would be delivered twice.
      return written.map(({ subject }, at) => {
        if (areSent[at] !== true) return 'alone';
        return refused.has(subject) ? forbidden(subject) : 'taken';
      });
    } catch (cause) {
      const failure = failureOf(cause, '');
      if (!failure.isPermanent) await this.close();
      // What is wrong with one message is told when that is sent alone.
      return messages.map(() => (failure.isPermanent ? 'alone' : failure));
    }
  }

  /** @throws DeliveryFailure when it is none */
  #subjectOf({ topic }: SinkMessage): string {
    const subject = topic ?? this.#options.subject;
    if (subject !== undefined && isSubject(subject)) return subject;
    const expected = 'expected words with dots between them, without blanks, `*` and `>`';
    throw new DeliveryFailure('bad_topic', `'${subject ?? ''}' is no subject that can be published to: ${expected}`, {
      isPermanent: true,
    });
  }

  async send(message: SinkMessage): Promise<void> {
    const subject = this.#subjectOf(message);
    this.#connecting ??= open(this.#options.address);
    const connecting = this.#connecting;
    try {
      await this.#publish(await connecting, subject, message);
    } catch (cause) {
      if (this.#connecting === connecting && !isOfMessage(cause)) await this.close();
      throw failureOf(cause, subject);
    }
  }

  async #publish(opened: Open, subject: string, message: SinkMessage): Promise<void> {
    const { client, stream } = opened;
    const { id, payload } = message;
    const headers = opened.newHeaders();
    for (const [name, value] of headersOf(message)) headers.set(name, value);
    if (this.#options.isJetStream) {
      const { stream: name } = this.#options;
      const expect = name === undefined ? {} : { expect: { streamName: name } };
      await stream.publish(subject, payload, { msgID: id, headers, timeout: ANSWER_MS_MAX, ...expect });
      return;
    }
    const refused = await client.refusedOf(() => client.connection.publish(subject, payload, { headers }));
    if (refused.has(subject)) throw forbidden(subject);
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.then(({ client }) => client.destroy()).catch(() => undefined);
  }
}

function headersOf({ id, traceparent }: SinkMessage): Published['headers'] {
  const named = [ID_HEADER, id] as const;
  return traceparent === undefined ? [named] : [named, [TRACE_HEADER, traceparent]];
}

async function open(address: NatsAddress): Promise<Open> {
  const client = await NatsClient.open(address);
  const { headers: newHeaders } = await import('nats');
  return { client, stream: client.connection.jetstream(), newHeaders };
}

function forbidden(subject: string): DeliveryFailure {
  return new DeliveryFailure('forbidden', `the server refuses messages to '${subject}': the user may not do that`, { isPermanent: true });
}

/** Of literal words. */
function isSubject(text: string): boolean {
  return /^[^\s.*>]+(?:\.[^\s.*>]+)*$/.test(text);
}

/** The connection is as good as before, and others may have something under way over it. */
function isOfMessage(cause: unknown): boolean {
  const code = natsCode(cause) ?? '';
  return cause instanceof DeliveryFailure || code === NO_STREAM || permanentRefusals.has(code);
}

function failureOf(cause: unknown, subject: string): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  const forbidden = forbiddenBy(cause);
  if (forbidden !== undefined) return new DeliveryFailure(forbidden.code, forbidden.message, { isPermanent: true, cause });
  if (natsCode(cause) === NO_STREAM) {
    return new DeliveryFailure('unknown_topic', `no stream of the server keeps '${subject}': make one, or correct the subject`, { cause });
  }
  return new DeliveryFailure('nats_error', natsReason(cause), { isPermanent: permanentRefusals.has(natsCode(cause) ?? ''), cause });
}
