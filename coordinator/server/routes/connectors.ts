import Type from 'typebox';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import { connectorChangeSchema, connectorRequestSchema, connectorSchema } from '../../../shared/protocol/cluster.ts';
import { deletedSchema } from '../../../shared/protocol/pipelines.ts';
import type { ClusterState, Connector, Json } from '../../state/cluster-state.ts';
import type { RequestId } from '../../state/commands.ts';
import { connectorProblem } from '../../state/connector-problem.ts';
import { connectorsOf, requireConnector } from '../../state/queries.ts';
import { type ClusterRequests, consistencyParameter } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { connectorWire } from '../wire.ts';
import { leaderErrors } from './leader-errors.ts';
import { type ValidateProgram, validateWith } from './programs.ts';

const tag = 'connectors';
const connectorsPath = `${clusterPath}/connectors`;
/** Programs are checked before the leader answers, each that may use the connector. */
const CHECKING_MS_MAX = 600_000;

interface Definition {
  readonly connector_type: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly description?: string;
}

/** Connectors that all programs of the cluster share. */
export function connectorRoutes(requests: ClusterRequests, validate: ValidateProgram): readonly ClusterRoute[] {
  return [
    clusterRoute({
      method: 'POST',
      path: connectorsPath,
      operation: 'createConnector',
      summary: 'Make a connector that programs of the cluster share',
      tag,
      access: 'key',
      body: connectorRequestSchema,
      success: { 201: connectorSchema },
      errors: ['name_taken', 'quota_exceeded', 'session_expired', ...leaderErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: (call) => {
        const { name, ...definition } = call.body;
        const payload = { name, ...judged(definition) };
        return requests.change(
          call,
          { type: 'CreateConnector', payload },
          ({ value }) => new Answer(201, connectorWire(asConnector(value))),
        );
      },
    }),
    clusterRoute({
      method: 'GET',
      path: connectorsPath,
      operation: 'listConnectors',
      summary: 'List the connectors of the cluster, oldest first',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: { 200: Type.Array(connectorSchema) },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) => {
        const { limit, offset, consistency } = call.query;
        return requests.read(call, consistency, (state) => {
          const all = connectorsOf(state);
          const page = all.slice(offset, offset + limit).map(connectorWire);
          return new Answer(200, page, { 'x-total-count': String(all.length) });
        });
      },
    }),
    clusterRoute({
      method: 'GET',
      path: `${connectorsPath}/{name}`,
      operation: 'getConnector',
      summary: 'Show a connector of the cluster',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: connectorSchema },
      errors: ['connector_not_found', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.read(call, call.query.consistency, (state) => new Answer(200, connectorWire(requireConnector(state, call.params.name)))),
    }),
    clusterRoute({
      method: 'PUT',
      path: `${connectorsPath}/{name}`,
      operation: 'updateConnector',
      summary:
        'Change a connector of the cluster, so that all pipelines that use it can begin with it; those that run have it once they begin anew',
      tag,
      access: 'key',
      body: connectorChangeSchema,
      success: { 200: connectorSchema },
      errors: ['connector_not_found', 'transition_refused', 'session_expired', 'quota_exceeded', 'queue_full', ...leaderErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: async (call) => {
        const payload = { name: namedIn(call.params.name), ...judged(call.body) };
        const { signal } = call;
        return requests.change(
          call,
          { type: 'UpdateConnector', payload },
          ({ value }) => new Answer(200, connectorWire(asConnector(value))),
          {
            ...{ answerMsMax: CHECKING_MS_MAX, signal },
            require: (id) => requireDispensable(requests, validate, { name: payload.name, becomes: payload, signal, id }),
          },
        );
      },
    }),
    clusterRoute({
      method: 'DELETE',
      path: `${connectorsPath}/{name}`,
      operation: 'deleteConnector',
      summary: 'Remove a connector of the cluster that no pipeline uses',
      tag,
      access: 'key',
      success: { 200: deletedSchema },
      errors: ['connector_not_found', 'transition_refused', 'session_expired', 'quota_exceeded', 'queue_full', ...leaderErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: async (call) => {
        const payload = { name: namedIn(call.params.name) };
        const { signal } = call;
        return requests.change(call, { type: 'DeleteConnector', payload }, () => new Answer(200, { deleted: true }), {
          ...{ answerMsMax: CHECKING_MS_MAX, signal },
          require: (id) => requireDispensable(requests, validate, { name: payload.name, signal, id }),
        });
      },
    }),
  ];
}

interface Checked {
  readonly name: string;
  /** What it becomes. @default it is removed */
  readonly becomes?: Pick<Connector, 'type' | 'parameters'>;
  readonly signal: AbortSignal;
  /** Of the request. */
  readonly id: RequestId;
}

/**
 * On the leader, which knows all groups. A pipeline runs with the connectors that there were when it began: without what it needs it would go on
 * until it is moved, and not begin there. A repeat is not judged by what is there now.
 * @throws CepError `transition_refused` when a program that is valid now is not with the change; RaftRefusal
 */
async function requireDispensable(
  requests: ClusterRequests,
  validate: ValidateProgram,
  { name, becomes, signal, id }: Checked,
): Promise<void> {
  if ((await requests.doneBy(id)) !== undefined) return;
  const checked = new Set<string>();
  let table: ClusterState['connectors'] | undefined;
  // To judge many takes minutes, in which groups come and connectors change: until nothing is left to judge.
  for (;;) {
    const { state } = await requests.group.confirmed();
    const before = connectorsOf(state);
    if (!before.some((one) => one.name === name)) return;
    if (state.connectors !== table) checked.clear();
    table = state.connectors;
    const after = before.flatMap((one) => (one.name !== name ? [one] : becomes === undefined ? [] : [{ ...one, ...becomes }]));
    const left = [...state.groups.values()].flatMap(({ name: groupName, pipelines }) =>
      pipelines.filter(({ source }) => source.includes(name) && !checked.has(source)).map((one) => ({ ...one, groupName })),
    );
    if (left.length === 0) return;
    for (const { source, groupName, name: pipeline } of left) {
      if (checked.has(source)) continue;
      checked.add(source);
      const check = (connectors: readonly Connector[]) => validateWith(validate, { source, connectors, signal });
      const then = await check(after);
      if (then.valid || !(await check(before)).valid) continue;
      throw refusal({ name, isRemoved: becomes === undefined, who: `pipeline '${pipeline}' of group '${groupName}'`, pipeline, then });
    }
  }
}

interface Refused {
  /** Of the connector. */
  readonly name: string;
  readonly isRemoved: boolean;
  readonly who: string;
  readonly pipeline: string;
  /** What its program is with the change. */
  readonly then: Awaited<ReturnType<typeof validateWith>>;
}

function refusal({ name, isRemoved, who, pipeline, then }: Refused): CepError {
  if (isRemoved) {
    return new CepError('transition_refused', `connector '${name}' is used by ${who}`, {
      hint: 'change the connector instead, or change or delete the group first',
    });
  }
  const problem = then.diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'it cannot work';
  return new CepError('transition_refused', `with this, ${who} could not begin anew: ${problem}`, {
    details: { pipelines: [{ name: pipeline, diagnostics: then.diagnostics }] },
    hint: 'make a connector of another name and change the group to it, or change or delete the group first',
  });
}

/** Looked at before anything of it comes into the log, where no secret may stand. @throws CepError `validation_error` */
function judged({ connector_type: type, params, description }: Definition): Pick<Connector, 'type' | 'parameters' | 'description'> {
  const definition = { type, parameters: params as Connector['parameters'], ...(description === undefined ? {} : { description }) };
  const problem = connectorProblem(definition);
  if (problem === undefined) return definition;
  throw new CepError(problem.code, problem.message, problem.hint === undefined ? {} : { hint: problem.hint });
}

/** A name that no connector can have is one that none has. */
function namedIn(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return name;
  throw new CepError('connector_not_found', `the cluster has no connector '${name}'`);
}

function asConnector(value: Json): Connector {
  return value as unknown as Connector;
}
