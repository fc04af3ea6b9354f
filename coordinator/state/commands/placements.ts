import Type from 'typebox';
import { externalSource } from '../../../shared/protocol/placements.ts';
import { bounds } from '../bounds.ts';
import { type ClusterState, indexKey, type Manifest, type Migration, type Placement } from '../cluster-state.ts';
import { mayBecome } from '../transitions.ts';
import { withoutFormerProgram } from './former-programs.ts';
import { withoutIngressUpTo } from './ingress.ts';
import { changed, command, type Outcome, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const idSchema = Type.String({ minLength: 1, maxLength: 512 });
const indexSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const errorSchema = Type.Optional(Type.String({ maxLength: 4_096 }));

/** Who runs what. An epoch is the index at which a placement was given to a worker; what is said under an older one is refused. */
export const placementCommands = {
  AssignPlacement: command(Type.Object({ id: idSchema, workerId: idSchema }, strict), (state, { id, workerId }, place) => {
    const placement = state.placements.get(id);
    if (placement === undefined) return unknownPlacement(id);
    const problem = placeProblem(state, placement, workerId);
    if (problem) return problem;
    const { error: _error, formerHolder: _former, ...rest } = placement;
    const next: Placement = { ...rest, workerId, status: 'assigned', epoch: place.index, tenure: place.index };
    return kept(state, next, 'PlacementAssigned', { id, epoch: place.index });
  }),

  /** Its worker does not have it any more, and no other has it yet. Whoever proposes it knows that nothing of it runs there. */
  ReleasePlacement: command(Type.Object({ id: idSchema, epoch: indexSchema }, strict), (state, { id, epoch }) => {
    const placement = state.placements.get(id);
    if (placement === undefined) return unknownPlacement(id);
    if (placement.epoch !== epoch) return staleEpoch(placement, epoch);
    const { workerId: _worker, error: _error, formerHolder: _former, ...rest } = placement;
    return kept(state, { ...rest, status: 'pending' }, 'PlacementReleased', { id });
  }),

  /** What its worker says of it. What runs, runs with the program of its group; what has failed with the one of before goes on with that too. */
  ReportPlacement: command(
    Type.Object({ id: idSchema, epoch: indexSchema, status: Type.Enum(['running', 'degraded', 'failed']), error: errorSchema }, strict),
    (state, { id, epoch, status, error }) => {
      const placement = state.placements.get(id);
      if (placement === undefined) return unknownPlacement(id);
      if (placement.epoch !== epoch || placement.workerId === undefined) return staleEpoch(placement, epoch);
      if (!mayBecome('placement', placement.status, status)) {
        return refused('transition_refused', `placement '${id}' is ${placement.status}, and that does not become ${status}`);
      }
      const told = status === 'degraded' ? state : withoutFormerProgram(state, id);
      const { error: _error, ...rest } = told.placements.get(id) ?? placement;
      const next = { ...rest, status, ...(error === undefined ? {} : { error }) };
      return kept(told, next, 'PlacementReported', { id, status });
    },
  ),
};

/** Moves of placements from worker to worker, with their state. */
export const migrationCommands = {
  StartMigration: command(Type.Object({ placementId: idSchema, targetWorker: idSchema }, strict), (state, payload, place) => {
    const placement = state.placements.get(payload.placementId);
    if (placement === undefined) return unknownPlacement(payload.placementId);
    const { workerId: sourceWorker, epoch } = placement;
    if (sourceWorker === undefined)
      return refused('transition_refused', `placement '${placement.id}' is pending: there is nothing to move`);
    const problem = placeProblem(state, placement, payload.targetWorker);
    if (problem) return problem;
    const open = [...state.migrations.values()].find(({ placementId, status }) => placementId === placement.id && isOpen(status));
    if (open) return refused('transition_refused', `placement '${placement.id}' is on its way already, by migration '${open.id}'`);
    const room = withRoomForOne(state);
    if (room === undefined) return refused('quota_exceeded', `${bounds.migrationsMax} migrations are under way, and no more are taken`);
    const id = `m_${indexKey(place.index)}`;
    const started = { status: 'started', startedIndex: place.index, startedAtMs: place.nowMs } as const;
    const migration: Migration = { id, ...payload, sourceWorker, epoch, ...started };
    return changed({ ...room, migrations: room.migrations.set(id, migration) }, { id, epoch }, { type: 'MigrationStarted', id });
  }),

  /** The point after which the target has the placement, under a new epoch. Refused when the placement has changed hands meanwhile. */
  MovePlacement: command(Type.Object({ migrationId: idSchema }, strict), (state, { migrationId }, place) => {
    const migration = state.migrations.get(migrationId);
    if (migration === undefined) return unknownMigration(migrationId);
    const placement = state.placements.get(migration.placementId);
    if (placement === undefined) return unknownPlacement(migration.placementId);
    if (!mayBecome('migration', migration.status, 'moved') || migration.status === 'moved') {
      return refused('transition_refused', `migration '${migrationId}' is ${migration.status}, and that does not become moved`);
    }
    if (placement.epoch !== migration.epoch) return staleEpoch(placement, migration.epoch);
    const problem = placeProblem(state, placement, migration.targetWorker);
    if (problem) return problem;
    const { error: _error, ...rest } = placement;
    const epoch = place.index;
    const placements = state.placements.set(rest.id, {
      ...rest,
      workerId: migration.targetWorker,
      status: 'assigned',
      epoch,
      tenure: epoch,
    });
    const migrations = state.migrations.set(migrationId, { ...migration, status: 'moved', epoch });
    return changed({ ...state, placements, migrations }, { id: migrationId, epoch }, { type: 'PlacementMoved', id: rest.id });
  }),

  EndMigration: command(
    Type.Object({ migrationId: idSchema, status: Type.Enum(['completed', 'failed']), error: errorSchema }, strict),
    (state, { migrationId, status, error }) => {
      const migration = state.migrations.get(migrationId);
      if (migration === undefined) return unknownMigration(migrationId);
      if (!mayBecome('migration', migration.status, status)) {
        return refused('transition_refused', `migration '${migrationId}' is ${migration.status}, and that does not become ${status}`);
      }
      const ended = { ...migration, status, ...(error === undefined ? {} : { error }) };
      const migrations = state.migrations.set(migrationId, ended);
      return changed({ ...state, migrations }, { id: migrationId, status }, { type: 'MigrationEnded', id: migrationId });
    },
  ),
};

/** That a checkpoint is complete and where it is; with this it counts. */
export const checkpointCommands = {
  CommitCheckpoint: command(
    Type.Object(
      {
        placementId: idSchema,
        epoch: indexSchema,
        sequence: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        bytes: indexSchema,
        checksum: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
        locations: Type.Array(Type.String({ minLength: 1, maxLength: 2_048 }), { minItems: 1, maxItems: bounds.manifestLocationsMax }),
        received: Type.Record(Type.String({ maxLength: 512 }), indexSchema),
        /** It is of a program of before. */
        isFormer: Type.Optional(Type.Boolean()),
      },
      strict,
    ),
    (state, { placementId: id, isFormer = false, ...payload }, place) => {
      const placement = state.placements.get(id);
      if (placement === undefined) return unknownPlacement(id);
      if (placement.epoch !== payload.epoch || placement.workerId === undefined) return staleEpoch(placement, payload.epoch);
      const before = state.manifests.get(id) ?? [];
      const newest = before.at(-1);
      // Whoever did not hear the answer says it again.
      if (newest && isSame(newest, payload)) return changed(state, { id, sequence: newest.sequence });
      const next = (newest?.sequence ?? 0) + 1;
      if (payload.sequence !== next) {
        return refused('transition_refused', `placement '${id}' has checkpoint ${next - 1}: expected ${next}, found ${payload.sequence}`);
      }
      const received = payload.received[externalSource] ?? 0;
      const sent = state.ingressLogs.get(id)?.last ?? 0;
      if (received > sent) return refused('transition_refused', `placement '${id}' was sent ${sent} batches, and cannot have ${received}`);
      const manifest: Manifest = { ...payload, committedIndex: place.index };
      const manifests = state.manifests.set(id, [...before, manifest].slice(-bounds.manifestsMax));
      const rest = withoutIngressUpTo(isFormer ? state : withoutFormerProgram(state, id), id, received);
      return changed({ ...rest, manifests }, { id, sequence: next }, { type: 'CheckpointCommitted', id });
    },
  ),
};

function isSame(one: Pick<Manifest, 'sequence' | 'epoch' | 'checksum'>, other: Pick<Manifest, 'sequence' | 'epoch' | 'checksum'>): boolean {
  return one.sequence === other.sequence && one.epoch === other.epoch && one.checksum === other.checksum;
}

function kept(state: ClusterState, placement: Placement, type: string, value: Parameters<typeof changed>[1]): Outcome {
  return changed({ ...state, placements: state.placements.set(placement.id, placement) }, value, { type, id: placement.id });
}

/** Why a worker cannot be given a placement. */
function placeProblem(state: ClusterState, placement: Placement, workerId: string): Outcome | undefined {
  const worker = state.workers.get(workerId);
  if (worker === undefined || worker.status === 'removed') return refused('worker_not_found', `the cluster has no worker '${workerId}'`);
  if (worker.status !== 'ready') return refused('transition_refused', `worker '${workerId}' is ${worker.status}, and takes no pipelines`);
  if (placement.workerId === workerId) return refused('transition_refused', `worker '${workerId}' has placement '${placement.id}' already`);
  if (!state.groups.get(placement.groupId)?.isDraining) return undefined;
  return refused('transition_refused', `the group of placement '${placement.id}' is being taken down`);
}

function isOpen(status: Migration['status']): boolean {
  return status === 'started' || status === 'moved';
}

/** Without the oldest migration that has ended, when there are as many as are kept; undefined when none has. */
function withRoomForOne(state: ClusterState): ClusterState | undefined {
  if (state.migrations.size < bounds.migrationsMax) return state;
  const ended = [...state.migrations.values()].find(({ status }) => !isOpen(status));
  return ended && { ...state, migrations: state.migrations.delete(ended.id) };
}

function unknownPlacement(id: string): Outcome {
  return refused('pipeline_not_found', `the cluster has no placement '${id}'`);
}

function unknownMigration(id: string): Outcome {
  return refused('migration_not_found', `the cluster has no migration '${id}'`);
}

function staleEpoch({ id, epoch, workerId }: Placement, found: number): Outcome {
  const now = workerId === undefined ? 'no worker has it' : `worker '${workerId}' has it under epoch ${epoch}`;
  return refused('stale_epoch', `placement '${id}' is not held under epoch ${found}: ${now}`);
}
