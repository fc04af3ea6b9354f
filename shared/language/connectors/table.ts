import { brokerConnectors } from './brokers.ts';
import type { ConnectorDescriptor, ConnectorParameter, ConnectorRole } from './descriptor.ts';
import { endpointConnectors } from './endpoints.ts';
import { messageConnectors } from './messages.ts';
import { timerRange } from './parameter-problem.ts';

/** Parameters that every type of connector takes. */
export const sharedParameters: readonly ConnectorParameter[] = [
  { name: 'profile', kind: 'str', summary: 'credentials profile that fills in parameters' },
  { name: 'event_type', kind: 'str', summary: 'type of messages that name none' },
  { name: 'time_field', kind: 'str', summary: 'field that says when a message happened, before anything else does' },
  {
    name: 'format',
    kind: 'str',
    words: ['envelope', 'flat'],
    default: '"envelope"',
    perUse: true,
    summary: 'fields under `data`, or at the top; `.to` takes it too',
  },
  { name: 'omit_null', kind: 'bool', default: 'false', perUse: true, summary: 'a sink leaves null fields out; `.to` takes it too' },
  { name: 'retries', kind: 'int', min: 0, max: 1_000_000, default: '3', summary: 'requests after the first before a failure counts' },
  { name: 'failure_threshold', kind: 'int', min: 1, max: 10_000, default: '5', summary: 'failures in a row that open the circuit breaker' },
  { name: 'reset_timeout', kind: 'duration', ...timerRange, default: '30s', summary: 'how long the breaker stays open' },
];

/** Every type of connector, in the order of the documentation. */
export const connectors: readonly ConnectorDescriptor[] = [...brokerConnectors, ...endpointConnectors, ...messageConnectors];

const byName = new Map(
  connectors.flatMap((connector) => [connector.name, ...(connector.aliases ?? [])].map((name) => [name, connector] as const)),
);

/** Names and aliases of all types. */
export const connectorTypes: readonly string[] = [...byName.keys()];

/** The type that a name or an alias means. */
export function findConnector(type: string): ConnectorDescriptor | undefined {
  return byName.get(type);
}

/** Whether this build has the code for connectors of a type in this role. */
export function canConnect(type: string, role: ConnectorRole): boolean {
  return findConnector(type)?.built?.includes(role) === true;
}

/** The parameter that a name or an alias means, those of every type included. */
export function findConnectorParameter(connector: ConnectorDescriptor, name: string): ConnectorParameter | undefined {
  return parametersOf(connector).find((parameter) => parameter.name === name || parameter.aliases?.includes(name));
}

/** All parameters of a type, its own first. */
export function parametersOf(connector: ConnectorDescriptor): readonly ConnectorParameter[] {
  return [...connector.parameters, ...sharedParameters];
}
