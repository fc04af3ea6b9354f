import type { JetStreamClient, MsgHdrs } from 'nats';
import { type Batching, DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import {
  ANSWER_MS_MAX,
  Complaint,
  forbiddenBy,
  mayNotPublish,
  type NatsAddress,
  NatsClient,
  natsCode,
  natsReason,
  type Published,
  streamErrorOf,
} from './nats-client.ts';

/** The server drops what comes again under an id that it remembers. */
const ID_HEADER = 'Nats-Msg-Id';
const TRACE_HEADER = 'Traceparent';
/** Unacknowledged at a time. */
const BATCH_MESSAGES_MAX = 500;
const NO_STREAM = '503';
/** What the server says of messages that it will never take. */
const permanentRefusals: ReadonlySet<string> = new Set(['MAX_PAYLOAD_EXCEEDED', 'BAD_SUBJECT']);
/** The same of a stream, by its numbers: the message is too large, another stream has the subject. */
const permanentStreamErrors: ReadonlySet<number> = new Set([10_054, 10_060]);

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

/** What became of a message that was published, and why it was not taken. */
type End = 'taken' | 'alone' | { readonly cause: unknown };

/** Publishes messages. A connection that has failed is not used again. */
export class NatsSink implements Sink {
  readonly #options: NatsSinkOptions;
  #connecting: Promise<Open> | undefined;

  constructor(options: NatsSinkOptions) {
    this.#options = options;
  }

  readonly batching: Batching = { messages: BATCH_MESSAGES_MAX, send: (messages) => this.#sendBatch(messages) };

  async #sendBatch(messages: readonly SinkMessage[]): Promise<readonly Outcome[]> {
    this.#connecting ??= open(this.#options.address);
    const connecting = this.#connecting;
    let opened: Open | undefined;
    let ends: readonly End[];
    try {
      opened = await connecting;
      ends = await (this.#options.isJetStream ? this.#publishEach(opened, messages) : this.#publishAll(opened, messages));
    } catch (cause) {
      ends = messages.map(() => ({ cause }));
    }
    const isLost = opened?.client.isOver ?? false;
    if (ends.some((end) => typeof end === 'object' && !isOfMessage(end.cause))) await this.#leave(connecting);
    return ends.map((end, at) => {
      if (typeof end === 'string') return end;
      // The server may have ended the connection over one of them.
      const isNameless = end.cause instanceof Complaint || (isLost && !isOfMessage(end.cause));
      return isNameless ? 'alone' : failureOf(end.cause, this.#namedBy(messages[at]) ?? '');
    });
  }

  /** To a stream: each with an acknowledgement of its own. */
  async #publishEach(opened: Open, messages: readonly SinkMessage[]): Promise<readonly End[]> {
    const sent = await Promise.allSettled(messages.map(async (message) => await this.#publish(opened, this.#subjectOf(message), message)));
    return sent.map((end) => (end.status === 'fulfilled' ? 'taken' : { cause: end.reason }));
  }

  /** To core NATS: with one answer behind them all. */
  async #publishAll({ client }: Open, messages: readonly SinkMessage[]): Promise<readonly End[]> {
    const subjects = messages.map((message) => this.#namedBy(message));
    if (!subjects.every(isSubject)) return messages.map(() => 'alone');
    const written = messages.map((message, at) => ({ subject: subjects[at] ?? '', headers: headersOf(message), payload: message.payload }));
    let areSent: readonly boolean[] = [];
    const refused = await client.refusedOf(() => {
      areSent = client.publishAll(written);
    });
    // The others are taken: sent once more they would be delivered twice.
    return written.map(({ subject }, at) => {
      if (areSent[at] !== true) return 'alone';
      return refused.has(subject) ? { cause: forbidden(subject) } : 'taken';
    });
  }

  #namedBy(message: SinkMessage | undefined): string | undefined {
    return message?.topic ?? this.#options.subject;
  }

  /** @throws DeliveryFailure when it is none */
  #subjectOf(message: SinkMessage): string {
    const subject = this.#namedBy(message);
    if (isSubject(subject)) return subject;
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
      if (!isOfMessage(cause)) await this.#leave(connecting);
      throw failureOf(cause, subject);
    }
  }

  async #publish(opened: Open, subject: string, message: SinkMessage): Promise<void> {
    const { client, stream } = opened;
    const { id, payload } = message;
    const headers = opened.newHeaders();
    for (const [name, value] of headersOf(message)) headers.set(name, value);
    if (!this.#options.isJetStream) {
      const refused = await client.refusedOf(() => client.connection.publish(subject, payload, { headers }));
      if (refused.has(subject)) throw forbidden(subject);
      return;
    }
    const { stream: name } = this.#options;
    const expect = name === undefined ? {} : { expect: { streamName: name } };
    try {
      await stream.publish(subject, payload, { msgID: id, headers, timeout: ANSWER_MS_MAX, ...expect });
    } catch (cause) {
      // The library calls that a time-out.
      throw client.isOver ? new Error('the connection was lost', { cause }) : cause;
    }
  }

  async #leave(connecting: Promise<Open>): Promise<void> {
    if (this.#connecting === connecting) await this.close();
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
function isSubject(text: string | undefined): text is string {
  return text !== undefined && /^[^\s.*>]+(?:\.[^\s.*>]+)*$/.test(text);
}

/** The connection is as good as before, and others may have something under way over it. */
function isOfMessage(cause: unknown): boolean {
  const code = natsCode(cause) ?? '';
  const isRefusal = code === NO_STREAM || permanentRefusals.has(code) || streamErrorOf(cause) !== undefined;
  return cause instanceof DeliveryFailure || isRefusal || mayNotPublish(cause);
}

function failureOf(cause: unknown, subject: string): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  const address = forbiddenBy(cause);
  if (address !== undefined) return new DeliveryFailure(address.code, address.message, { isPermanent: true, cause });
  if (mayNotPublish(cause)) return forbidden(subject);
  const error = streamErrorOf(cause);
  if (error !== undefined) {
    const isPermanent = permanentStreamErrors.has(error.err_code);
    return new DeliveryFailure('nats_error', `the stream does not take it: ${error.description}`, { isPermanent, cause });
  }
  if (natsCode(cause) === NO_STREAM) {
    return new DeliveryFailure('unknown_topic', `no stream of the server keeps '${subject}': make one, or correct the subject`, { cause });
  }
  return new DeliveryFailure('nats_error', natsReason(cause), { isPermanent: permanentRefusals.has(natsCode(cause) ?? ''), cause });
}
