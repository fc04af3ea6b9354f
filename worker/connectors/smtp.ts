import { CepError } from '../../shared/errors/error.ts';
import { isArray } from '../../shared/events/value.ts';
import { ForbiddenAddress } from '../../shared/security/network-policy.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import { numberParameter, type Parameters, textParameter } from './parameters.ts';
import { type Mailbox, mailboxOf } from './smtp/mailbox.ts';
import { type SmtpAddress, SmtpSink } from './smtp/smtp-sink.ts';
import { reachSteps } from './testing/reach.ts';

const ports = { implicit: 465, starttls: 587, none: 25 } as const;
const SUBJECT = '{event_type}';

/** Mail to people. */
export const smtpConnector: ConnectorType = {
  name: 'smtp',
  openSink: (settings, environment) => {
    const { name, parameters } = settings;
    const from = requireMailbox(name, 'from', textParameter(parameters, 'from') ?? '');
    const to = recipientsOf(parameters).map((each) => requireMailbox(name, 'to', each));
    return new SmtpSink({ address: addressOf(settings, environment), from, to, subject: textParameter(parameters, 'subject') ?? SUBJECT });
  },
  requireTopic: ({ name }, topic) => {
    if (mailboxOf(topic) !== undefined) return;
    throw new CepError('validation_error', `connector '${name}': found '${topic}' at \`.to\`, expected one address of mail`, {
      hint: 'write several recipients where the connector is declared: to: ["a@example.com", "b@example.com"]',
    });
  },
  async *test(use, environment) {
    const { door, host, port, tls, isVerified } = addressOf(use, environment);
    yield* reachSteps({ door, host, port, tls: tls === 'implicit' && isVerified });
    yield { name: 'permission', untested: 'a server tells what it takes only when a mail is sent' };
  },
};

function wrong(name: string, problem: string, hint: string): CepError {
  return new CepError('connector_error', `connector '${name}': ${problem}`, { hint });
}

function recipientsOf(parameters: Parameters): readonly string[] {
  const value = parameters.get('to') ?? parameters.get('topic') ?? null;
  const written = isArray(value) ? value.map(String) : String(value ?? '').split(',');
  return written.map((text) => text.trim()).filter((text) => text !== '');
}

/** @throws CepError `connector_error` */
function requireMailbox(name: string, parameter: string, text: string): Mailbox {
  const mailbox = mailboxOf(text);
  if (mailbox !== undefined) return mailbox;
  throw wrong(name, `${parameter}: found '${text}', expected an address of mail`, `write ${parameter}: "name@example.com"`);
}

/** @throws CepError `connector_error` */
function addressOf(settings: ConnectorSettings, { door: way, isSmtpUnverified = false }: ConnectorEnvironment): SmtpAddress {
  const { name, parameters } = settings;
  const door = way.withoutPublic();
  const host = textParameter(parameters, 'host') ?? '';
  const tls = (textParameter(parameters, 'tls') ?? 'starttls') as keyof typeof ports;
  const [user, pass] = [textParameter(parameters, 'username'), textParameter(parameters, 'password')];
  if ((user === undefined) !== (pass === undefined))
    throw wrong(name, 'a login needs both a user and a password', 'write username and password, or leave out both');
  if (user !== undefined && tls === 'none' && !isSmtpUnverified) {
    throw wrong(name, 'a password would go without TLS, for all to read', 'leave out tls: "none", or the login');
  }
  try {
    door.requireHost(host);
  } catch (cause) {
    if (!(cause instanceof ForbiddenAddress)) throw cause;
    throw wrong(name, cause.message, 'whoever runs the server can allow a network with --tenant-networks');
  }
  const login = user === undefined || pass === undefined ? undefined : { user, pass };
  return { door, host, port: numberParameter(parameters, 'port', ports[tls]), tls, isVerified: !isSmtpUnverified, login };
}
