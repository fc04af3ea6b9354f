import { CepError } from '../../shared/errors/error.ts';
import { decodeValue, type StoredValue } from '../../shared/events/stored-value.ts';
import { isArray, isMap, type Value } from '../../shared/events/value.ts';
import type { ConnectorDescriptor } from '../../shared/language/connectors/descriptor.ts';
import { findConnector, findConnectorParameter } from '../../shared/language/connectors/table.ts';
import type { ConnectorEnvironment, ConnectorSettings, ConnectorType, Sink } from './connector.ts';
import { consoleConnector } from './console.ts';
import { httpConnector } from './http.ts';

/** The code of the connector types, by the language's name: there for each role that the language's table says is built. */
export const connectorTypes: ReadonlyMap<string, ConnectorType> = new Map(
  [consoleConnector, httpConnector].map((type) => [type.name, type]),
);

/** A declaration with aliases of type and parameters resolved. `stored`: values as `encodeValue` gives them. */
export function settingsOf(name: string, type: string, stored: readonly (readonly [string, unknown])[]): ConnectorSettings {
  const descriptor = findConnector(type);
  const parameters = stored.map(([key, value]): [string, Value] => {
    const known = descriptor && findConnectorParameter(descriptor, key);
    return [known?.name ?? key, decodeValue(value as StoredValue)];
  });
  return { name, type: descriptor?.name ?? type, parameters: new Map(parameters), secrets: secretTexts(parameters, descriptor) };
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

/** @throws CepError `connector_error` */
export function openSink(settings: ConnectorSettings, environment: ConnectorEnvironment): Sink {
  const open = connectorTypes.get(settings.type)?.openSink;
  if (open === undefined) {
    const known = [...connectorTypes.keys()].join(', ');
    throw new CepError('connector_error', `connector '${settings.name}': this build cannot send to connectors of type ${settings.type}`, {
      hint: `it has ${known}`,
    });
  }
  return open(settings, environment);
}
