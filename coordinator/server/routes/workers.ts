import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import { drainedSchema, drainingSchema, drainRequestSchema, workerDeletedSchema, workerSchema } from '../../../shared/protocol/cluster.ts';
import {
  heartbeatAnswerSchema,
  heartbeatRequestSchema,
  registeredSchema,
  registerRequestSchema,
} from '../../../shared/protocol/membership.ts';
import type { Done } from '../../cluster/group-member.ts';
import type { Heartbeats } from '../../liveness/heartbeats.ts';
import type { Controller } from '../../reconcile/controller.ts';
import type { ClusterState, Placement, Worker } from '../../state/cluster-state.ts';
import { placementsByWorker, placementsOn, requireWorker, workersOf } from '../../state/queries.ts';
import { type ClusterRequests, consistencyParameter, indexHeader } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { workerWire } from '../worker-wire.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'workers';
const workersPath = `${clusterPath}/workers`;
const workerPath = `${workersPath}/{id}`;
const DRAIN_SECONDS_DEFAULT = 20;

export interface WorkerRoutesOptions {
  readonly requests: ClusterRequests;
  readonly controller: Controller;
  readonly heartbeats: Heartbeats;
  readonly heartbeatIntervalMs: number;
  readonly heartbeatTimeoutMs: number;
  /** The URLs of all members, for whoever sends a request. */
  readonly coordinators: (request: FastifyRequest) => string[];
}

interface Draining {
  readonly id: string;
  /** How many placements it had. */
  readonly before: number;
  /** Where in the log it stands that it is to be drained. */
  readonly from: number;
  /** How long the answer waits. */
  readonly seconds?: number | undefined;
}

/** Workers: they say that they are there, and people ask after them. */
export function workerRoutes(options: WorkerRoutesOptions): readonly ClusterRoute[] {
  return [...membershipRoutes(options), ...inspectionRoutes(options), ...departureRoutes(options)];
}

function membershipRoutes(options: WorkerRoutesOptions): readonly ClusterRoute[] {
  const { requests, controller, heartbeats, coordinators } = options;
  return [
    clusterRoute({
      method: 'POST',
      path: `${workersPath}/register`,
      operation: 'registerWorker',
      summary: 'Say that a worker is there; its first heartbeat makes it ready',
      tag,
      access: 'key',
      isProbe: true,
      body: registerRequestSchema,
      success: { 201: registeredSchema },
      errors: ['stale_incarnation', 'quota_exceeded', 'session_expired', 'idempotency_conflict', ...leaderErrors],
      handle: (call) => {
        const payload = registration(call.body);
        const answer = ({ value }: Done): Answer => {
          call.telemetry.report('WorkerJoined', { worker: payload.id, address: payload.address });
          const { epoch } = value as { readonly epoch: number };
          return new Answer(201, {
            ...{ worker_id: payload.id, status: 'registered', epoch, coordinators: coordinators(call.request) },
            heartbeat_interval_secs: options.heartbeatIntervalMs / 1_000,
            heartbeat_timeout_secs: options.heartbeatTimeoutMs / 1_000,
            lease_ms: controller.leases.leaseMs,
          });
        };
        return requests.change(call, { type: 'RegisterWorker', payload }, answer, { isOfWorker: true });
      },
    }),
    clusterRoute({
      method: 'POST',
      path: `${workerPath}/heartbeat`,
      operation: 'sendHeartbeat',
      summary: 'Say that a worker lives, and what it runs; the answer is a lease',
      tag,
      access: 'key',
      isProbe: true,
      body: heartbeatRequestSchema,
      success: { 200: heartbeatAnswerSchema },
      errors: ['worker_not_found', 'stale_incarnation', ...leaderErrors],
      handle: (call) =>
        requests.byLeader(call, async () => {
          const answer = await heartbeats.take(call.params.id, call.body);
          return new Answer(200, { ...answer, coordinators: coordinators(call.request) });
        }),
    }),
  ];
}

function inspectionRoutes({ requests, controller }: WorkerRoutesOptions): readonly ClusterRoute[] {
  const { group } = requests;
  const wire = (worker: Worker, placements: readonly Placement[]): Static<typeof workerSchema> =>
    workerWire(group.state, { worker, placements, report: controller.observations.of(worker) });
  return [
    clusterRoute({
      method: 'GET',
      path: workersPath,
      operation: 'listWorkers',
      summary: 'List the workers, oldest registration first, as the leader knows them',
      tag,
      access: 'key',
      isPaced: true,
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: { 200: Type.Array(workerSchema) },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.observed(call, call.query.consistency, () => {
          const { limit, offset } = call.query;
          const all = workersOf(group.state);
          const placements = placementsByWorker(group.state);
          const page = all.slice(offset, offset + limit).map((worker) => wire(worker, placements.get(worker.id) ?? []));
          return new Answer(200, page, { 'x-total-count': String(all.length) });
        }),
    }),
    clusterRoute({
      method: 'GET',
      path: workerPath,
      operation: 'getWorker',
      summary: 'Show a worker, as the leader knows it',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: workerSchema },
      errors: ['worker_not_found', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.observed(call, call.query.consistency, () => {
          const worker = requireWorker(group.state, call.params.id);
          return new Answer(200, wire(worker, placementsOn(group.state, worker.id)));
        }),
    }),
  ];
}

function departureRoutes({ requests, controller }: WorkerRoutesOptions): readonly ClusterRoute[] {
  const { group } = requests;
  const drained = async ({ id, before, from, seconds = DRAIN_SECONDS_DEFAULT }: Draining): Promise<Static<typeof drainedSchema>> => {
    const isOver = ({ index, workers }: ClusterState): boolean => index >= from && workers.get(id)?.status !== 'draining';
    await controller.until(isOver, seconds * 1_000);
    if (group.state.index < from) {
      throw new CepError('outcome_unknown', `this member does not know yet what has become of worker '${id}', which is drained`, {
        hint: 'ask again, or ask another member',
      });
    }
    const left = placementsOn(group.state, id).map((placement) => placement.id);
    // With nothing left it may be stopped, also before the state says `drained`.
    if (left.length > 0 && group.state.workers.get(id)?.status === 'draining') throw incomplete(id, left);
    return { worker_id: id, pipelines_migrated: Math.max(0, before - left.length), status: 'drained' };
  };
  return [
    clusterRoute({
      method: 'POST',
      path: `${workerPath}/drain`,
      operation: 'drainWorker',
      summary: 'Move everything that a worker runs to others, with its state',
      tag,
      access: 'key',
      body: drainRequestSchema,
      isBodyOptional: true,
      success: { 200: drainedSchema, 202: drainingSchema },
      errors: ['worker_not_found', 'drain_incomplete', 'transition_refused', ...leaderErrors],
      isAudited: true,
      handle: async (call) => {
        const before = placementsOn(group.state, call.params.id).length;
        const answered = await requests.byLeader(call, async () => {
          const { id, status, incarnation } = requireWorker((await group.confirmed()).state, call.params.id);
          if (status !== 'draining' && status !== 'drained') {
            await group.propose({ type: 'SetWorkerStatus', payload: { id, incarnation, status: 'draining' } }, undefined);
          }
          return new Answer(202, { worker_id: id, status: 'draining' }, { [indexHeader]: String(group.state.index) });
        });
        // The member that was asked waits, whoever leads.
        if (answered.status >= 300 || requests.isWaitedFor(call)) return answered;
        const from = Number(answered.headers[indexHeader] ?? 0);
        const { timeout_secs: seconds } = call.body;
        return new Answer(200, await drained({ id: call.params.id, before, from, seconds }));
      },
    }),
    clusterRoute({
      method: 'DELETE',
      path: workerPath,
      operation: 'deleteWorker',
      summary: 'Remove a worker; its process is fenced, and others take what it ran',
      tag,
      access: 'key',
      success: { 200: workerDeletedSchema },
      errors: ['worker_not_found', 'session_expired', 'idempotency_conflict', ...leaderErrors],
      idempotency: 'handler',
      isAudited: true,
      handle: (call) =>
        requests.change(call, { type: 'RemoveWorker', payload: { id: call.params.id.slice(0, 128) } }, ({ value }) => {
          return new Answer(200, { deleted: true, reassigned: (value as { readonly reassigned: number }).reassigned });
        }),
    }),
  ];
}

/** @throws CepError `validation_error` */
function registration({ worker_id: id, address, incarnation, version, capacity }: Static<typeof registerRequestSchema>) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new CepError('validation_error', `address: found '${address}', expected a URL such as http://10.0.0.7:9000 without a login`);
  }
  const { cpu_cores: cpuCores, max_pipelines: pipelinesMax } = capacity;
  return { id, address: address.replace(/\/+$/, ''), incarnation, version, cpuCores, pipelinesMax };
}

function incomplete(id: string, left: readonly string[]): CepError {
  return new CepError(
    'drain_incomplete',
    `${left.length === 1 ? '1 pipeline is' : `${left.length} pipelines are`} left on worker '${id}': it goes on moving them as others have room`,
    {
      details: { pipelines: left },
      hint: 'start another worker, or wait and drain it again',
    },
  );
}
