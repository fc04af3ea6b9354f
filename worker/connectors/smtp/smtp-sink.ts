import { isIP, type Socket } from 'node:net';
import type { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { ForbiddenAddress } from '../../../shared/security/network-policy.ts';
import { DeliveryFailure, type Sink, type SinkMessage } from '../connector.ts';
import { mailText } from './mail-text.ts';

const ANSWER_MS_MAX = 10_000;
/** For all of one mail, however often the server gives a sign of life. */
const MAIL_MS_MAX = 60_000;
/** Of one answer. */
const ANSWER_BYTES_MAX = 65_536;

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
  readonly from: string;
  /** Of messages that name nobody. */
  readonly to: readonly string[];
  readonly subject: string;
}

/** One mail for each message, over a connection of its own: delivered is what the server has accepted. */
export class SmtpSink implements Sink {
  readonly #options: SmtpSinkOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: SmtpSinkOptions) {
    this.#options = options;
  }

  async send(message: SinkMessage): Promise<void> {
    const { from, to, subject } = this.#options;
    const recipients = message.topic === null ? to : [message.topic];
    if (recipients.length === 0) throw new DeliveryFailure('bad_topic', 'the mail has no recipient', { isPermanent: true });
    try {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({ ...transportOptions(this.#options.address), connection: await this.#connect() });
      await transport.sendMail({
        from,
        to: [...recipients],
        ...mailText(message, subject),
        // What is sent again is the same mail to whoever compares.
        messageId: `<${encodeURIComponent(message.id)}@cep>`,
        headers: { 'auto-submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    } catch (cause) {
      throw failureOf(cause);
    }
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

function failureOf(cause: unknown): DeliveryFailure {
  if (cause instanceof DeliveryFailure) return cause;
  if (cause instanceof ForbiddenAddress) return new DeliveryFailure(cause.code, cause.message, { isPermanent: true, cause });
  const { code = '', responseCode, message = String(cause) } = cause as { code?: string; responseCode?: number; message?: string };
  // A login that is refused may be renewed; a mail that is refused stays so.
  const isPermanent = responseCode !== undefined && responseCode >= 500 && (code === 'EENVELOPE' || code === 'EMESSAGE');
  return new DeliveryFailure(responseCode === undefined ? code.toLowerCase() || 'unreachable' : `smtp_${responseCode}`, message, {
    isPermanent,
    cause,
  });
}
