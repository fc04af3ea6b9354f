import Type from 'typebox';
import type { ErrorCode } from '../../../shared/errors/codes.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { Answer } from '../../../shared/http/answer.ts';
import { limitParameter, offsetParameter } from '../../../shared/http/query.ts';
import { migrateRequestSchema, migrationSchema } from '../../../shared/protocol/cluster.ts';
import { partOfRequest } from '../../cluster/part-of-request.ts';
import { RaftRefusal } from '../../raft/group.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { bounds } from '../../state/bounds.ts';
import type { ClusterState, Json, Migration } from '../../state/cluster-state.ts';
import { placementsOf, requireGroup, requireWorker } from '../../state/queries.ts';
import { type ClusterRequests, consistencyParameter } from '../cluster-requests.ts';
import { type ClusterRoute, clusterPath, clusterRoute } from '../cluster-route.ts';
import { migrationWire } from '../group-wire.ts';
import { leaderErrors } from './leader-errors.ts';

const tag = 'migrations';
const repeatable = ['quota_exceeded', 'session_expired', 'idempotency_conflict', ...leaderErrors] as const;

/** Pipelines on their way from worker to worker, with their state. */
export function migrationRoutes(requests: ClusterRequests, controller: Controller): readonly ClusterRoute[] {
  const { group } = requests;
  const shown = (id: string) => migrationWire(group.state, requireMigration(group.state, id));
  return [
    clusterRoute({
      method: 'POST',
      path: `${clusterPath}/pipelines/{group}/{pipeline}/migrate`,
      operation: 'migratePipeline',
      summary: 'Move a pipeline to another worker, with its state',
      tag,
      access: 'key',
      body: migrateRequestSchema,
      isBodyOptional: true,
      success: { 202: migrationSchema },
      errors: ['group_not_found', 'pipeline_not_found', 'worker_not_found', 'no_workers_available', 'transition_refused', ...repeatable],
      idempotency: 'handler',
      isAudited: true,
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const before = await requests.doneBy(id);
          if (before !== undefined) return new Answer(202, shown(startedBy(before)));
          const { target_worker_id: wanted, replica = 0 } = call.body;
          const own = requireGroup(group.state, call.params.group);
          const placement = placementsOf(group.state, own).find((one) => one.pipeline === call.params.pipeline && one.replica === replica);
          if (placement === undefined) {
            throw new CepError(
              'pipeline_not_found',
              `group '${own.name}' has no replica ${replica} of a pipeline '${call.params.pipeline}'`,
            );
          }
          const target = wanted === undefined ? controller.targetFor(placement) : requireWorker(group.state, wanted).id;
          if (target === undefined) throw noTarget();
          const payload = { placementId: placement.id, targetWorker: target };
          const { value } = await group.propose({ type: 'StartMigration', payload }, id);
          return new Answer(202, shown(startedBy(value)));
        }),
    }),
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/migrations`,
      operation: 'listMigrations',
      summary: 'List migrations, the newest first',
      tag,
      access: 'key',
      query: { limit: limitParameter, offset: offsetParameter, consistency: consistencyParameter },
      success: { 200: Type.Array(migrationSchema) },
      errors: ['invalid_limit', 'invalid_offset', 'validation_error', ...leaderErrors],
      handle: (call) => {
        const { limit, offset, consistency } = call.query;
        return requests.read(call, consistency, (state) => {
          const all = [...state.migrations.values()].sort((a, b) => b.startedIndex - a.startedIndex);
          const page = all.slice(offset, offset + limit).map((one) => migrationWire(state, one));
          return new Answer(200, page, { 'x-total-count': String(all.length) });
        });
      },
    }),
    clusterRoute({
      method: 'GET',
      path: `${clusterPath}/migrations/{id}`,
      operation: 'getMigration',
      summary: 'Show a migration',
      tag,
      access: 'key',
      query: { consistency: consistencyParameter },
      success: { 200: migrationSchema },
      errors: ['migration_not_found', 'validation_error', ...leaderErrors],
      handle: (call) =>
        requests.read(call, call.query.consistency, (state) => {
          return new Answer(200, migrationWire(state, requireMigration(state, call.params.id)));
        }),
    }),
    clusterRoute({
      method: 'POST',
      path: `${clusterPath}/rebalance`,
      operation: 'rebalance',
      summary: 'Move pipelines from workers with many to workers with few',
      tag,
      access: 'key',
      success: { 202: Type.Object({ migrations: Type.Array(migrationSchema) }, { additionalProperties: false }) },
      errors: repeatable,
      idempotency: 'handler',
      isAudited: true,
      handle: (call) =>
        requests.changeBy(call, async (id) => {
          const started: string[] = [];
          for (let before = await requests.doneBy(id); before !== undefined; ) {
            started.push(startedBy(before));
            before = await requests.doneBy(partOfRequest(id, started.length));
          }
          // Of more, a repeat would not be known: they are for another request.
          const moves = started.length > 0 ? [] : controller.imbalance().slice(0, bounds.sessionResultsMax);
          for (const payload of moves) {
            try {
              const { value } = await group.propose({ type: 'StartMigration', payload }, partOfRequest(id, started.length));
              started.push(startedBy(value));
            } catch (error) {
              // The worker or the pipeline has changed meanwhile: the other moves are as good as before.
              if (error instanceof CepError && overtaken.has(error.code)) continue;
              // The rest is for another request. Whoever asked is to learn of those that have begun.
              if ((error instanceof CepError || error instanceof RaftRefusal) && started.length > 0) break;
              throw error;
            }
          }
          return new Answer(202, { migrations: started.map(shown) });
        }),
    }),
  ];
}

/** Why a move that was right a moment before is refused. */
const overtaken: ReadonlySet<string> = new Set<ErrorCode>(['transition_refused', 'pipeline_not_found', 'worker_not_found']);

/** The id of a migration, from what its command gives. */
function startedBy(value: Json): string {
  return (value as { readonly id: string }).id;
}

function requireMigration({ migrations }: ClusterState, id: string): Migration {
  const migration = migrations.get(id);
  if (migration) return migration;
  throw new CepError('migration_not_found', `the cluster has no migration '${id}'`);
}

function noTarget(): CepError {
  return new CepError('no_workers_available', 'no other worker is ready and has room', { retryAfterSeconds: 5 });
}
