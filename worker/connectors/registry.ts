import { CepError } from '../../shared/errors/error.ts';
import { decodeValue, type StoredValue } from '../../shared/events/stored-value.ts';
import { isArray, isMap, type Value } from '../../shared/events/value.ts';
import { type ConnectorDescriptor, topicKind } from '../../shared/language/connectors/descriptor.ts';
import { findConnector, findConnectorParameter } from '../../shared/language/connectors/table.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType, Lookup, Sink, Source, SourceSettings } from './connector.ts';
import { consoleConnector } from './console.ts';
import { databaseConnectors } from './database.ts';
import { fileConnector } from './file.ts';
import { httpConnector } from './http.ts';
import { kafkaConnector } from './kafka.ts';
import { mqttConnector } from './mqtt.ts';
import { natsConnector } from './nats.ts';
import { followed } from './profiles.ts';
import { redisConnector } from './redis.ts';
import { renewedLookup, renewedSink } from './renewed.ts';
import { smtpConnector } from './smtp.ts';
import { syslogConnector } from './syslog.ts';
import { websocketConnector } from './websocket.ts';

/** The code of the connector types, by the language's name: there for each role that the language's table says is built. */
export const connectorTypes: ReadonlyMap<string, ConnectorType> = new Map(
  [
    consoleConnector,
    ...databaseConnectors,
    fileConnector,
    httpConnector,
    kafkaConnector,
    mqttConnector,
    natsConnector,
    redisConnector,
    websocketConnector,
    syslogConnector,
    smtpConnector,
  ].map((type) => [type.name, type]),
);

/** A declaration with aliases of type and parameters resolved. `stored`: values as `encodeValue` gives them. */
export function settingsOf(name: string, type: string, stored: readonly (readonly [string, unknown])[]): ConnectorSettings {
  const descriptor = findConnector(type);
  const parameters = stored.map(([key, value]): [string, Value] => {
    const known = descriptor && findConnectorParameter(descriptor, key);
    return [known?.name ?? key, decodeValue(value as StoredValue)];
  });
  const secrets = secretTexts(parameters, descriptor);
  return { name, type: descriptor?.name ?? type, writtenType: type, parameters: new Map(parameters), secrets };
}

function secretTexts(parameters: readonly (readonly [string, Value])[], descriptor: ConnectorDescriptor | undefined): readonly string[] {
  return parameters.flatMap(([name, value]) =>
    descriptor !== undefined && findConnectorParameter(descriptor, name)?.secret === true ? textsOf(value) : [],
  );
}

function textsOf(value: Value): readonly string[] {
  if (isMap(value)) return [...value.values()].flatMap(textsOf);
  if (isArray(value)) return value.flatMap(textsOf);
  return typeof value === 'string' ? [value] : [];
}

/** The connector as one `.from` uses it, whose parameters go before its own. `stored`: as for `settingsOf`. */
export function withUse(
  settings: ConnectorSettings,
  stored: readonly (readonly [string, unknown])[],
): Omit<SourceSettings, 'subscription' | 'textFields' | 'declaredFields' | 'events'> {
  const use = settingsOf(settings.name, settings.type, stored);
  const used = (from: ConnectorSettings): ConnectorSettings => ({
    ...from,
    parameters: new Map([...from.parameters, ...use.parameters]),
    secrets: [...from.secrets, ...use.secrets],
  });
  const { latest } = settings;
  const { parameters, secrets } = used(settings);
  const topics = findConnector(settings.type)?.topics ?? [];
  // `topic` at the use stands for whatever the connector calls it, and goes before that.
  const topic = [use.parameters.get('topic'), ...topics.map((name) => parameters.get(name))].find((value) => typeof value === 'string');
  const now = latest === undefined ? {} : { latest: followed({ ...settings, latest }, used) };
  return { ...settings, parameters, secrets, ...now, topic: typeof topic === 'string' ? topic : null };
}

/** @throws CepError `connector_error` */
export function openSource(settings: SourceSettings, environment: ConnectorEnvironment): Source {
  const open = connectorTypes.get(settings.type)?.openSource;
  if (open === undefined) {
    const known = [...connectorTypes.values()].flatMap((type) => (type.openSource === undefined ? [] : [type.name]));
    throw new CepError('connector_error', `connector '${settings.name}': this build cannot read from connectors of type ${settings.type}`, {
      hint: `it can from ${known.join(', ')}`,
    });
  }
  return open(settings, environment);
}

/** @throws CepError `connector_error` */
export function openSink(settings: ConnectorSettings, environment: ConnectorEnvironment): Sink {
  const open = connectorTypes.get(settings.type)?.openSink;
  if (open === undefined) {
    const known = [...connectorTypes.keys()].join(', ');
    throw new CepError('connector_error', `connector '${settings.name}': this build cannot send to connectors of type ${settings.type}`, {
      hint: `it has ${known}`,
    });
  }
  return settings.latest === undefined ? open(settings, environment) : renewedSink(settings, (now) => open(now, environment));
}

/** What a stream sends to a connector, on a topic that is the same for every event. */
export interface KnownSend {
  readonly stream: string;
  readonly connector: string;
  readonly topic: string;
  /** The names of what else the stream says of it. */
  readonly parameters: readonly string[];
}

/** What can be said of it before the first event. `settings`: with the profile. @throws CepError `validation_error` */
export function requireSend(
  settings: ConnectorSettings,
  { stream, topic, parameters: names }: KnownSend,
  environment: ConnectorEnvironment,
): void {
  const { name, type, writtenType, parameters } = settings;
  const kinds = findConnector(type)?.kinds;
  const kind = kinds && topicKind(kinds, writtenType, parameters);
  const other = kinds && names.find((each) => each !== kind && (each === kinds.usual || each === kinds.other));
  if (other !== undefined) {
    throw new CepError('validation_error', `connector '${name}': found \`${other}\` at \`.to\` of '${stream}', and it sends to a ${kind}`, {
      hint: `write \`${kind}: ..\` there, or declare another connector with \`${other}: ..\``,
    });
  }
  connectorTypes.get(type)?.requireTopic?.(settings, topic, environment);
}

/** @throws CepError `connector_error` */
export function openLookup(settings: ConnectorSettings, environment: ConnectorEnvironment): Lookup {
  const open = connectorTypes.get(settings.type)?.openLookup;
  if (open === undefined) {
    const known = [...connectorTypes.values()].flatMap((type) => (type.openLookup === undefined ? [] : [type.name]));
    const message = `connector '${settings.name}': this build cannot look anything up in connectors of type ${settings.type} (.enrich)`;
    throw new CepError('connector_error', message, { hint: `it can in ${known.join(', ')}` });
  }
  return settings.latest === undefined ? open(settings, environment) : renewedLookup(settings, (now) => open(now, environment));
}
