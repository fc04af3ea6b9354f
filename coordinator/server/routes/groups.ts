import Type, { type Static } from 'typebox';
import { fitting } from '../../../shared/collections/fitting.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { flagParameter, limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import type { Code } from '../../../shared/language/diagnostics/codes.ts';
import { limits } from '../../../shared/limits.ts';
import {
  type groupChangeSchema as changeSchema,
  groupChangedSchema,
  groupChangeSchema,
  groupRequestSchema,
  groupSchema,
  tornDownSchema,
} from '../../../shared/protocol/cluster.ts';
import type { Controller } from '../../reconcile/controller.ts';
import type { Group } from '../../state/cluster-state.ts';
import type { RequestId } from '../../state/commands.ts';
import { connectorsOf, groupNamed, groupsOf, placementsOf, requireGroup } from '../../state/queries.ts';
import { type ClusterRequests, consistencyParameter, indexHeader } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { divisionWarnings } from '../division-warnings.ts';
import { groupChars, groupStatus, groupWire } from '../group-wire.ts';
import { leaderErrors } from './leader-errors.ts';
import { type ValidateProgram, validateWith } from './programs.ts';

const tag = 'pipeline groups';
const groupsPath = `${clusterPath}/pipeline-groups`;
export const groupPath = `${groupsPath}/{id}` as const;
/** How long an answer waits until the workers have done it. */
const WAIT_MS_MAX = 20_000;
const UNREADABLE_IMPORT: Code = 'E097';
const NO_FILES = 'a group takes the text of each program and no files: put what it imports into it';
const changeErrors = [
  'validation_error',
  'quota_exceeded',
  'queue_full',
  'session_expired',
  'idempotency_conflict',
  ...leaderErrors,
] as const;

const wait = flagParameter('wait', 'Answer when the workers have done it, or have failed to; else at once.', true);

export interface GroupRoutesOptions {
  readonly requests: ClusterRequests;
  readonly controller: Controller;
  readonly validate: ValidateProgram;
}

/** What the cluster runs. */
export function groupRoutes(options: GroupRoutesOptions): readonly ClusterRoute[] {
  return [...deploymentRoutes(options), ...inspectionRoutes(options), removalRoute(options)];
}

function deploymentRoutes({ requests, controller, validate }: GroupRoutesOptions): readonly ClusterRoute[] {
  const { group } = requests;
  const shown = (one: Group): Static<typeof groupSchema> => groupWire(group.state, one);
  /** The group as it is when its workers are done; the member that was asked waits, whoever leads. Undefined when it has not even heard of it. */
  const settled = async ({ id, version }: Static<typeof groupSchema>, index: number): Promise<Static<typeof groupSchema> | undefined> => {
    await controller.until((state) => {
      const now = state.groups.get(id);
      if (state.index < index) return false;
      return now === undefined || now.version !== version || groupStatus(now, placementsOf(state, now)) !== 'deploying';
    }, WAIT_MS_MAX);
    return group.state.index < index ? undefined : shown(requireGroup(group.state, id));
  };
  return [
    clusterRoute({
      method: 'POST',
      path: groupsPath,
      operation: 'createGroup',
      summary: 'Deploy pipelines together; workers are found for them',
      tag,
      access: 'key',
      body: groupRequestSchema,
      query: { wait },
      success: { 201: groupSchema, 202: groupSchema },
      errors: ['name_taken', 'no_workers_available', ...changeErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: async (call) => {
        const { name, ...content } = call.body;
        const isNew = requests.doneBefore(call) === undefined;
        if (isNew && !requests.isForwarded(call)) await requireValid(validate, requests, { content, call });
        const isWaiting = call.query.wait;
        const command = { type: 'CreateGroup', payload: { name, ...contentOf(content) } } as const;
        const answered = await requests.change(
          call,
          command,
          ({ value }) => new Answer(isWaiting ? 201 : 202, shown(requireGroup(group.state, (value as { readonly id: string }).id))),
          {
            require: async (id) => {
              if (!isWaiting || hasWorkers(requests)) return;
              const { isRepeat } = await requests.foreseen(command, id);
              if (!isRepeat && !hasWorkers(requests)) throw noWorkers();
            },
          },
        );
        // A repeat may find that those are gone who would do it.
        return await waited(answered, isWaiting && hasWorkers(requests) && !requests.isForwarded(call), settled);
      },
    }),
    clusterRoute({
      method: 'PUT',
      path: groupPath,
      operation: 'updateGroup',
      summary: 'Change what a group runs; pipelines that stay keep their workers and their state',
      tag,
      access: 'key',
      body: groupChangeSchema,
      query: { wait },
      success: { 200: groupChangedSchema, 202: groupChangedSchema },
      errors: ['group_not_found', 'transition_refused', ...changeErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: async (call) => {
        const { name, ...content } = call.body;
        const done = requests.doneBefore(call) as GroupDone | undefined;
        const known = done?.id ?? call.params.id;
        const before = groupNamed(group.state, known) ?? requireGroup(await requests.caughtUp(call), known);
        if (name !== undefined && name !== before.name) {
          throw new CepError('validation_error', `name: found '${name}', and the group is called '${before.name}'`, {
            hint: 'groups keep their names',
          });
        }
        const isAsked = !requests.isForwarded(call);
        if (!done && isAsked) await requireValid(validate, requests, { content, call });
        const was = groupNamed(group.state, known) ?? before;
        const warnings = done || !isAsked ? [] : divisionWarnings(was, contentOf(content).pipelines);
        const isWaiting = call.query.wait;
        const command = async (request: RequestId) => {
          return { type: 'UpdateGroup', payload: { id: await meant(requests, call.params.id, request), ...contentOf(content) } } as const;
        };
        const answered = await requests.change(call, command, ({ value }) => {
          return new Answer(isWaiting ? 200 : 202, shown(requireGroup(group.state, (value as unknown as GroupDone).id)));
        });
        return withWarnings(await waited(answered, isWaiting && isAsked, settled), warnings);
      },
    }),
  ];
}

function withWarnings(answer: Answer, warnings: readonly string[]): Answer {
  if (answer.status >= 300 || warnings.length === 0) return answer;
  return new Answer(answer.status, { ...toldIn(answer), warnings: [...warnings] }, answer.headers);
}

function inspectionRoutes({ requests }: GroupRoutesOptions): readonly ClusterRoute[] {
  return [
    clusterRoute({
      method: 'GET',
      path: groupsPath,
      operation: 'listGroups',
      summary: 'List the pipeline groups, oldest first',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: { 200: Type.Array(groupSchema) },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) => {
        const { limit, offset, consistency } = call.query;
        return requests.read(call, consistency, (state) => {
          const all = groupsOf(state);
          const page = fitting(all.slice(offset, offset + limit), (one) => groupChars(state, one), limits.groupPageCharsMax);
          return new Answer(
            200,
            page.map((one) => groupWire(state, one)),
            { 'x-total-count': String(all.length) },
          );
        });
      },
    }),
    clusterRoute({
      method: 'GET',
      path: groupPath,
      operation: 'getGroup',
      summary: 'Show a pipeline group, by its id or its name',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: groupSchema },
      errors: ['group_not_found', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.read(call, call.query.consistency, (state) => {
          return new Answer(200, groupWire(state, requireGroup(state, call.params.id)));
        }),
    }),
  ];
}

function removalRoute({ requests, controller }: GroupRoutesOptions): ClusterRoute {
  return clusterRoute({
    method: 'DELETE',
    path: groupPath,
    operation: 'deleteGroup',
    summary: 'Take a pipeline group down, with its state',
    tag,
    access: 'key',
    query: { wait },
    success: { 200: tornDownSchema, 202: tornDownSchema },
    errors: ['group_not_found', 'session_expired', 'idempotency_conflict', ...leaderErrors],
    idempotency: 'handler',
    isAudited: true,
    handle: async (call) => {
      const command = async (request: RequestId) => {
        return { type: 'DrainGroup', payload: { id: await meant(requests, call.params.id, request) } } as const;
      };
      const answered = await requests.change(call, command, () => new Answer(202, { torn_down: false }));
      if (answered.status >= 300 || requests.isForwarded(call) || !call.query.wait) return answered;
      const index = indexOf(answered);
      // A repeat says nothing of a group that has had the name since.
      const done = requests.doneBefore(call) as GroupDone | undefined;
      let id = done?.id;
      const isGone = await controller.until((state) => {
        if (state.index < index) return false;
        id ??= groupNamed(state, call.params.id)?.id ?? '';
        return !state.groups.has(id);
      }, WAIT_MS_MAX);
      return isGone ? new Answer(200, { torn_down: true }, answered.headers) : answered;
    },
  });
}

/**
 * On the leader: the id of the group that a change names. The member that was asked may know of it later than its client.
 * @throws CepError `group_not_found`; RaftRefusal
 */
async function meant(requests: ClusterRequests, idOrName: string, request: RequestId): Promise<string> {
  const done = (await requests.doneBy(request)) as GroupDone | undefined;
  return done?.id ?? requireGroup(requests.group.state, idOrName).id;
}

function indexOf({ headers }: Answer): number {
  return Number(headers[indexHeader] ?? 0);
}

/** What the state remembers of a change of a group. */
interface GroupDone {
  readonly id: string;
}

type Content = Omit<Static<typeof changeSchema>, 'name'>;

function contentOf({ pipelines, routes = [] }: Content) {
  return {
    pipelines: pipelines.map(({ name, source, replicas = 1, worker_affinity: workerAffinity, partition_key: partitionKey }) => ({
      ...{ name, source, replicas },
      ...(workerAffinity === undefined ? {} : { workerAffinity }),
      ...(partitionKey === undefined ? {} : { partitionKey }),
    })),
    routes: routes.map(({ from_pipeline: fromPipeline, to_pipeline: toPipeline, event_types: eventTypes }) => {
      return { fromPipeline, toPipeline, eventTypes };
    }),
  };
}

type GroupCall = Parameters<ClusterRequests['caughtUp']>[0] & { readonly signal: AbortSignal };

/** The diagnostics of all programs at once. @throws CepError `validation_error` */
async function requireValid(
  validate: ValidateProgram,
  requests: ClusterRequests,
  { content, call }: { readonly content: Content; readonly call: GroupCall },
): Promise<void> {
  // One that was made or deleted at another member is judged by as well.
  const connectors = connectorsOf(await requests.caughtUp(call));
  const { signal } = call;
  const checked = await Promise.all(
    content.pipelines.map(async ({ name, source }) => {
      const { valid, statements, diagnostics } = await validateWith(validate, { source, connectors, signal });
      return { name, isRight: valid && statements > 0, isEmpty: statements === 0, diagnostics: diagnostics.map(asInGroup) };
    }),
  );
  const wrong = checked.filter(({ isRight }) => !isRight);
  const [first] = wrong;
  if (first === undefined) return;
  const found = first.diagnostics.find(({ severity }) => severity === 'error')?.message;
  const problem = found ?? (first.isEmpty ? 'it is empty' : 'it cannot work');
  const isImporting = wrong.some(({ diagnostics }) => diagnostics.some(({ code }) => code === UNREADABLE_IMPORT));
  throw new CepError('validation_error', `the program of pipeline '${first.name}' cannot be deployed: ${problem}`, {
    details: { pipelines: wrong.map(({ name, diagnostics }) => ({ name, diagnostics })) },
    ...(isImporting ? { hint: NO_FILES } : {}),
  });
}

/** What helps a program that is sent with its files does not help here. */
function asInGroup<T extends { readonly code: string }>(diagnostic: T): T {
  return diagnostic.code === UNREADABLE_IMPORT ? { ...diagnostic, hint: NO_FILES } : diagnostic;
}

function hasWorkers({ group }: ClusterRequests): boolean {
  for (const { status } of group.state.workers.values()) if (status === 'ready') return true;
  return false;
}

function noWorkers(): CepError {
  return new CepError('no_workers_available', 'no worker is ready to take the pipelines; nothing of the group was kept', {
    hint: 'start a worker (cep server --coordinator ..), or deploy with ?wait=false, which has them wait for one',
    retryAfterSeconds: 5,
  });
}

/** The leader's answer may have come as bytes, from another member. */
function toldIn({ body }: Answer): Static<typeof groupSchema> {
  return (Buffer.isBuffer(body) ? JSON.parse(body.toString()) : body) as Static<typeof groupSchema>;
}

async function waited(
  answered: Answer,
  isWaiting: boolean,
  settled: (told: Static<typeof groupSchema>, index: number) => Promise<Static<typeof groupSchema> | undefined>,
): Promise<Answer> {
  if (answered.status >= 300 || !isWaiting) return answered;
  const told = toldIn(answered);
  return new Answer(answered.status, (await settled(told, indexOf(answered))) ?? told, answered.headers);
}
