import { CepError } from '../../shared/errors/error.ts';
import { topicKind } from '../../shared/language/connectors/descriptor.ts';
import { findConnector } from '../../shared/language/connectors/table.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType } from './connector.ts';
import { numberParameter, textParameter } from './parameters.ts';
import { followed } from './profiles.ts';
import { requireReachable } from './reachable-host.ts';
import { RedisChannelSource } from './redis/channel-source.ts';
import type { RedisAddress } from './redis/redis-client.ts';
import { RedisLookup } from './redis/redis-lookup.ts';
import { RedisSink } from './redis/redis-sink.ts';
import { redisSteps } from './redis/redis-test.ts';
import { RedisStreamSource } from './redis/stream-source.ts';

const PORT = 6379;

/** Channels and streams of Redis. */
export const redisConnector: ConnectorType = {
  name: 'redis',
  openSource: (settings, environment) => {
    const { name, topic, subscription, parameters, textFields, declaredFields, messagesMax } = settings;
    if (topic === null)
      throw new CepError('connector_error', `connector '${name}' has nothing to read`, { hint: 'write `channel: ".."` or `stream: ".."`' });
    const address = followed(settings, (now) => addressOf(now, environment));
    if (!isStream(settings))
      return new RedisChannelSource({
        get address() {
          return address();
        },
        channel: topic,
      });
    const group = textParameter(parameters, 'group');
    const consumer = textParameter(parameters, 'consumer') ?? subscription;
    return new RedisStreamSource({
      get address() {
        return address();
      },
      stream: topic,
      group,
      consumer,
      textFields: new Set(textFields),
      declaredFields: declaredFields === undefined ? undefined : new Set(declaredFields),
      messagesMax,
    });
  },
  openSink: (settings, environment) => {
    const { parameters } = settings;
    const target = ['stream', 'channel', 'topic'].map((name) => textParameter(parameters, name)).find((text) => text !== undefined);
    const maxLength = parameters.has('max_len') ? numberParameter(parameters, 'max_len', 0) : undefined;
    return new RedisSink({ address: addressOf(settings, environment), target, isStream: isStream(settings), maxLength });
  },
  openLookup: (settings, environment) =>
    new RedisLookup({ address: addressOf(settings, environment), keyPrefix: textParameter(settings.parameters, 'key_prefix') ?? '' }),
  async *test(use, environment) {
    const { role, topic, parameters } = use;
    const group = textParameter(parameters, 'group');
    yield* redisSteps({ address: addressOf(use, environment), isStream: isStream(use), group, role, topic });
  },
};

function isStream({ type, writtenType, parameters }: ConnectorSettings): boolean {
  const kinds = findConnector(type)?.kinds;
  return kinds !== undefined && topicKind(kinds, writtenType, parameters) === kinds.other;
}

/** @throws CepError `connector_error` */
function addressOf({ name, parameters }: ConnectorSettings, environment: ConnectorEnvironment): RedisAddress {
  const door = environment.door.withoutPublic();
  const text = textParameter(parameters, 'url') ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '' || !/^rediss?:$/.test(url.protocol)) {
    throw new CepError('connector_error', `connector '${name}': its url is no address of a Redis server`, {
      hint: 'write it as "redis://host:6379", or "rediss://host:6380" for TLS',
    });
  }
  requireReachable(name, door, [url.hostname]);
  return {
    door,
    host: url.hostname,
    port: Number(url.port) || PORT,
    tls: url.protocol === 'rediss:',
    database: Number(url.pathname.slice(1)) || 0,
    username: textParameter(parameters, 'username') ?? (url.username === '' ? undefined : decodeURIComponent(url.username)),
    password: textParameter(parameters, 'password') ?? (url.password === '' ? undefined : decodeURIComponent(url.password)),
  };
}
