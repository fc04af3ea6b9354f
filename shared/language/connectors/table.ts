import { brokerConnectors } from './brokers.ts';
import type { ConnectorDescriptor, ConnectorParameter } from './descriptor.ts';
import { endpointConnectors } from './endpoints.ts';

/** Parameters that every type of connector takes. */
export const sharedParameters: readonly ConnectorParameter[] = [
  { name: 'profile', kind: 'str', summary: 'credentials profile that fills in parameters' },
  { name: 'event_type', kind: 'str', summary: 'type of messages that name none' },
  { name: 'format', kind: 'str', words: ['envelope', 'flat'], default: '"envelope"', summary: 'fields under `data`, or at the top' },
  { name: 'omit_null', kind: 'bool', default: 'false', summary: 'a sink leaves null fields out' },
  { name: 'retries', kind: 'int', default: '3', summary: 'requests after the first before a failure counts' },
  { name: 'failure_threshold', kind: 'int', default: '5', summary: 'failures in a row that open the circuit breaker' },
  { name: 'reset_timeout', kind: 'duration', default: '30s', summary: 'how long the breaker stays open' },
];

/** Every type of connector, in the order of the documentation. */
export const connectors: readonly ConnectorDescriptor[] = [...brokerConnectors, ...endpointConnectors];

const byName = new Map(
  connectors.flatMap((connector) => [connector.name, ...(connector.aliases ?? [])].map((name) => [name, connector] as const)),
);

/** Names and aliases of all types. */
export const connectorTypes: readonly string[] = [...byName.keys()];

/** The type that a name or an alias means. */
export function findConnector(type: string): ConnectorDescriptor | undefined {
  return byName.get(type);
}

/** The parameter that a name or an alias means, those of every type included. */
export function findConnectorParameter(connector: ConnectorDescriptor, name: string): ConnectorParameter | undefined {
  return parametersOf(connector).find((parameter) => parameter.name === name || parameter.aliases?.includes(name));
}

/** All parameters of a type, its own first. */
export function parametersOf(connector: ConnectorDescriptor): readonly ConnectorParameter[] {
  return [...connector.parameters, ...sharedParameters];
}
