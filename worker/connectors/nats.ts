import { CepError } from '../../shared/errors/error.ts';
import { isArray, isMap } from '../../shared/events/value.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import type { NatsAddress, NatsLogin } from './nats/nats-client.ts';
import { NatsSink } from './nats/nats-sink.ts';
import { natsSteps } from './nats/nats-test.ts';
import { NatsStreamSource } from './nats/stream-source.ts';
import { NatsSubjectSource } from './nats/subject-source.ts';
import { flagParameter, type Parameters, textParameter } from './parameters.ts';
import { followed } from './profiles.ts';
import { requireReachable } from './reachable-host.ts';

const PORT = 4222;

/** Subjects of NATS, and streams of JetStream. */
export const natsConnector: ConnectorType = {
  name: 'nats',
  openSource: (settings, environment) => {
    const { name, topic, parameters } = settings;
    const address = followed(settings, (now) => addressOf(now, environment));
    const stream = textParameter(parameters, 'stream');
    if (topic === null && stream === undefined) throw wrong(name, 'it has nothing to read', 'write `subject: ".."`, or `stream: ".."`');
    if (topic !== null && !isFilter(topic)) {
      throw wrong(
        name,
        `'${topic}' is no subject`,
        'words with dots between them; `*` stands for a word, `>` at the end for all that follow',
      );
    }
    const queueGroup = textParameter(parameters, 'queue_group');
    if (!isJetStream(parameters))
      return new NatsSubjectSource({
        get address() {
          return address();
        },
        subject: topic ?? '',
        queueGroup,
      });
    const durable = durableOf(settings);
    const start = textParameter(parameters, 'start') === 'latest' ? 'latest' : 'earliest';
    return new NatsStreamSource({
      get address() {
        return address();
      },
      stream,
      subject: topic,
      durable,
      isShared: queueGroup !== undefined,
      start,
    });
  },
  openSink: (settings, environment) => {
    const { parameters } = settings;
    return new NatsSink({
      address: addressOf(settings, environment),
      subject: textParameter(parameters, 'subject') ?? textParameter(parameters, 'topic'),
      isJetStream: isJetStream(parameters),
      stream: textParameter(parameters, 'stream'),
    });
  },
  async *test(use, environment) {
    const { role, topic, parameters } = use;
    const [address, stream] = [addressOf(use, environment), textParameter(parameters, 'stream')];
    const isStream = isJetStream(parameters);
    yield* natsSteps({ address, isJetStream: isStream, stream, durable: isStream ? durableOf(use) : undefined, role, topic });
  },
};

function wrong(connector: string, problem: string, hint: string): CepError {
  return new CepError('connector_error', `connector '${connector}': ${problem}`, { hint });
}

/** What names a stream or its consumer means one. */
function isJetStream(parameters: Parameters): boolean {
  return flagParameter(parameters, 'jetstream') || ['stream', 'durable'].some((name) => parameters.has(name));
}

/** Members of a group share a consumer. */
function durableOf({ name, parameters }: ConnectorSettings): string | undefined {
  const durable = textParameter(parameters, 'durable') ?? textParameter(parameters, 'queue_group');
  if (durable === undefined || /^[^\s.*>/\\]+$/.test(durable)) return durable;
  throw wrong(name, `'${durable}' is no name of a consumer`, 'leave out blanks, dots, slashes, `*` and `>`');
}

function isFilter(text: string): boolean {
  return /^(?:[^\s.>]+\.)*(?:[^\s.>]+|>)$/.test(text);
}

/** @throws CepError `connector_error` */
function addressOf({ name, parameters }: ConnectorSettings, environment: ConnectorEnvironment): NatsAddress {
  const door = environment.door.withoutPublic();
  const urls = serversOf(name, parameters);
  const servers = urls.map(({ hostname, port }) => ({ host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || PORT }));
  requireReachable(
    name,
    door,
    servers.map(({ host }) => host),
  );
  const tls = flagParameter(parameters, 'tls') || urls.some(({ protocol }) => protocol === 'tls:');
  return { door, servers, tls, login: loginOf(name, parameters, urls[0]) };
}

function serversOf(name: string, parameters: Parameters): readonly URL[] {
  const value = parameters.get('servers') ?? null;
  const written = isArray(value) ? value.map(String) : String(value ?? '').split(',');
  const texts = written.map((text) => text.trim()).filter((text) => text !== '');
  return (texts.length === 0 ? [''] : texts).map((text) => {
    const full = /^\w+:\/\//.test(text) ? text : `nats://${text}`;
    const url = URL.canParse(full) ? new URL(full) : undefined;
    if (url !== undefined && url.hostname !== '' && /^(?:nats|tls):$/.test(url.protocol)) return url;
    throw wrong(
      name,
      'one of its servers is no address of a NATS server',
      'write servers: ["nats://host:4222"], or "tls://host:4222" for TLS',
    );
  });
}

/** Of several ways to log in the most particular counts. */
function loginOf(name: string, parameters: Parameters, url: URL | undefined): NatsLogin | undefined {
  const auth = parameters.get('auth') ?? null;
  const given = (...names: readonly string[]): string | undefined => {
    const texts = [...names.map((key) => textParameter(parameters, key)), ...names.map((key) => (isMap(auth) ? auth.get(key) : undefined))];
    return texts.find((text): text is string => typeof text === 'string');
  };
  const [nkey, creds, token] = [given('nkey'), given('creds'), given('token')];
  if (creds !== undefined) return { creds };
  if (nkey !== undefined) return { nkey };
  if (token !== undefined) return { token };
  const user = given('username', 'user') ?? textOf(url?.username);
  const pass = given('password', 'pass') ?? textOf(url?.password);
  if (user !== undefined && pass !== undefined) return { user, pass };
  // A url with one text before the @ has a token there.
  if (user !== undefined && user === textOf(url?.username)) return { token: user };
  if (user === undefined && pass === undefined) return undefined;
  throw wrong(name, 'a login needs both a user and a password', 'write username and password, or a token');
}

function textOf(part: string | undefined): string | undefined {
  return part === undefined || part === '' ? undefined : decodeURIComponent(part);
}
