import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { Connector, Json } from '../cluster-state.ts';
import { changed, command, type Outcome, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const nameSchema = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' });

/**
 * Whoever proposes a connector has judged it by its descriptor (`connectorProblem`), which is no part of the state: members of another
 * version know other descriptors, and must decide alike.
 */
const definitionSchema = Type.Object(
  {
    name: nameSchema,
    type: Type.String({ minLength: 1, maxLength: 64 }),
    parameters: Type.Record(Type.String(), Type.Unknown()),
    description: Type.Optional(Type.String({ maxLength: 1_024 })),
  },
  strict,
);

type Definition = Pick<Connector, 'name' | 'type' | 'parameters' | 'description'>;

export const connectorCommands = {
  CreateConnector: command(definitionSchema, (state, payload, place) => {
    const definition = payload as Definition;
    const { name } = definition;
    if (state.connectors.has(name))
      return refused('name_taken', `there is a connector '${name}' already`, 'change it, or choose another name');
    if (state.connectors.size >= bounds.connectorsMax) {
      return refused('quota_exceeded', `there are ${state.connectors.size} connectors, and no more than ${bounds.connectorsMax} are kept`);
    }
    const made = { version: 1, createdIndex: place.index, createdAtMs: place.nowMs, updatedAtMs: place.nowMs };
    const connector: Connector = { ...definition, ...made };
    return (
      tooLarge(definition) ??
      changed({ ...state, connectors: state.connectors.set(name, connector) }, asJson(connector), { type: 'ConnectorCreated', id: name })
    );
  }),

  UpdateConnector: command(definitionSchema, (state, payload, place) => {
    const definition = payload as Definition;
    const { name } = definition;
    const before = state.connectors.get(name);
    if (before === undefined) return unknownConnector(name);
    const { version, createdIndex, createdAtMs } = before;
    const connector: Connector = { ...definition, version: version + 1, createdIndex, createdAtMs, updatedAtMs: place.nowMs };
    return (
      tooLarge(definition) ??
      changed({ ...state, connectors: state.connectors.set(name, connector) }, asJson(connector), { type: 'ConnectorUpdated', id: name })
    );
  }),

  DeleteConnector: command(Type.Object({ name: nameSchema }, strict), (state, { name }) => {
    if (!state.connectors.has(name)) return unknownConnector(name);
    return changed({ ...state, connectors: state.connectors.delete(name) }, null, { type: 'ConnectorDeleted', id: name });
  }),
};

function unknownConnector(name: string): Outcome {
  return refused('connector_not_found', `the cluster has no connector '${name}'`, 'GET /api/v1/cluster/connectors lists those there are');
}

function tooLarge({ name, parameters }: Definition): Outcome | undefined {
  const chars = JSON.stringify(parameters).length;
  if (chars <= bounds.connectorCharsMax) return undefined;
  const found = `the parameters of connector '${name}' have ${chars} characters as JSON`;
  return refused('validation_error', `${found}, and ${bounds.connectorCharsMax} are taken`);
}

function asJson(connector: Connector): Json {
  return connector as unknown as Json;
}
