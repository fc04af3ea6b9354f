import { isIP, type Socket } from 'node:net';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { mailText } from './mail-text.ts';
import { type Mailbox, mailboxOf } from './mailbox.ts';

const ANSWER_MS_MAX = 10_000;
/** For all of one mail, however often the server gives a sign of life. */
const MAIL_MS_MAX = 60_000;
/** Of one answer. */
const ANSWER_BYTES_MAX = 65_536;
/** Mails of which it is known who has them: a dead letter may be sent again long after others. */
const PARTLY_MAX = 1_000;

export interface SmtpAddress {
  readonly door: OutboundDoor;
  readonly host: string;
  readonly port: number;
  /** From the beginning, asked for before anything is said, or never. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  /** Whether the certificate must be one that is trusted. */
  readonly isVerified: boolean;
  readonly login: { readonly user: string; readonly pass: string } | undefined;
}

export interface SmtpSinkOptions {
  readonly address: SmtpAddress;
  readonly from: Mailbox;
  /** Of messages that name nobody. */
  readonly to: readonly Mailbox[];
  readonly subject: string;
}

/** One mail for each message, over a connection of its own: delivered is what the server has accepted for each of its recipients. */
export class SmtpSink implements Sink {
  readonly #options: SmtpSinkOptions;
  readonly #sockets = new Set<Socket>();
  /** Of messages that were not accepted for all, by their ids: who has it, and gets it no more. The last ones are at the end. */
  readonly #partly = new Map<string, ReadonlySet<string>>();

  constructor(options: SmtpSinkOptions) {
    this.#options = options;
  }

  async send(message: SinkMessage): Promise<void> {
    const { id } = message;
    const to = this.#recipientsOf(message);
    const has = this.#partly.get(id) ?? new Set<string>();
    const addresses = to.map(({ address }) => address).filter((address) => !has.has(address));
    const refusals = await this.#mail(message, to, addresses);
    const refused = new Set(refusals.map(({ recipient }) => recipient));
    this.#partly.delete(id);
    if (refused.size > 0) this.#remember(id, new Set([...has, ...addresses.filter((each) => !refused.has(each))]));
    const refusal = refusals.find((each) => !isPermanent(each)) ?? refusals[0];
    if (refusal === undefined) return;
    const named = refusals.map(({ recipient, response }) => `${recipient}: ${response}`).join('; ');
    throw failureOf(refusal, `the server does not accept it for all (${named})`);
  }

  #remember(id: string, has: ReadonlySet<string>): void {
    this.#partly.set(id, has);
    const [oldest] = this.#partly.keys();
    if (this.#partly.size > PARTLY_MAX && oldest !== undefined) this.#partly.delete(oldest);
  }

  /** The server's refusals of recipients, where it has accepted the mail for others. @throws DeliveryFailure where it has not */
  async #mail(message: SinkMessage, to: readonly Mailbox[], addresses: readonly string[]): Promise<readonly Refusal[]> {
    const { address, from, subject } = this.#options;
    try {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ ...transportOptions(address), connection: await this.#connect() });
      const { rejectedErrors = [] } = await transport.sendMail({
        from,
        to: [...to],
        envelope: { from: from.address, to: [...addresses] },
        ...mailText(message, subject),
        // What is sent again is the same mail to whoever compares.
        messageId: `<${encodeURIComponent(message.id)}@cep>`,
        headers: { 'auto-submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return rejectedErrors;
    } catch (cause) {
      throw failureOf(cause);
    }
  }

  /** One address at most is that of the message: whoever sends events must not choose many. @throws DeliveryFailure */
  #recipientsOf({ topic }: SinkMessage): readonly Mailbox[] {
    const { to } = this.#options;
    if (topic === null && to.length > 0) return to;
    const mailbox = topic === null ? undefined : mailboxOf(topic);
    if (mailbox !== undefined) return [mailbox];
    const text = topic === null ? 'the mail has no recipient' : `'${topic}' is not one address of mail`;
    throw new DeliveryFailure('bad_topic', text, { isPermanent: true });
  }

  async #connect(): Promise<Socket> {
    const { door, host, port } = this.#options.address;
    const socket = door.connect({ host, port, heldBytesMax: ANSWER_BYTES_MAX });
    const late = setTimeout(() => socket.destroy(new Error(`not done within ${MAIL_MS_MAX / 1000} s`)), MAIL_MS_MAX);
    this.#sockets.add(socket);
    socket.once('close', () => {
      clearTimeout(late);
      this.#sockets.delete(socket);
    });
    await new Promise<void>((resolve, reject) => {
      socket
        .once('connect', resolve)
        .once('error', reject)
        .setTimeout(ANSWER_MS_MAX, () => socket.destroy(new Error('no answer in time')));
    });
    return socket;
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy(new Error('the connection was closed'));
    return Promise.resolve();
  }
}

function transportOptions({ host, port, tls, isVerified, login }: SmtpAddress) {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    tls: { rejectUnauthorized: isVerified, ...(isIP(host) === 0 ? { servername: host } : {}) },
    ...(login === undefined ? {} : { auth: login }),
    greetingTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX,
  };
}

/** As the library has it. */
interface Refusal {
  readonly code?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  readonly recipient?: string | undefined;
  readonly message?: string | undefined;
}

/** A login that is refused may be renewed; a mail that is refused stays so. */
function isPermanent({ code, responseCode = 0 }: Refusal): boolean {
  return responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
}

function failureOf(cause: unknown, text?: string): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  const refusal = cause as Refusal;
  const { code = '', responseCode, message = String(cause) } = refusal;
  return new DeliveryFailure(responseCode === undefined ? code.toLowerCase() || 'unreachable' : `smtp_${responseCode}`, text ?? message, {
    isPermanent: isPermanent(refusal),
    cause,
  });
}
