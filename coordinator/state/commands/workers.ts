import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { ClusterState, Placement, Worker } from '../cluster-state.ts';
import { mayBecome, transitions, type WorkerStatus } from '../transitions.ts';
import { changed, command, type Outcome, refused } from './outcome.ts';

const strict = { additionalProperties: false } as const;
const idSchema = Type.String({ minLength: 1, maxLength: 128 });
const incarnationSchema = Type.String({ minLength: 1, maxLength: 64 });
const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** Workers as the group knows them. Heartbeats are not in the log: what follows from their coming or staying away is. */
export const workerCommands = {
  /** A new process takes the place of the one before, which is fenced. The same one may register again. */
  RegisterWorker: command(
    Type.Object(
      {
        id: idSchema,
        address: Type.String({ minLength: 1, maxLength: 2_048 }),
        incarnation: incarnationSchema,
        version: Type.String({ maxLength: 64 }),
        cpuCores: count,
        pipelinesMax: count,
      },
      strict,
    ),
    (state, payload, place) => {
      const before = state.workers.get(payload.id);
      if (before?.fenced.includes(payload.incarnation)) return staleIncarnation(payload.id, payload.incarnation);
      const room = before === undefined ? withRoomForOne(state) : state;
      if (room === undefined) return refused('quota_exceeded', `there are ${bounds.workersMax} workers, and no more are kept`);
      const isSame = before !== undefined && before.incarnation === payload.incarnation && before.status !== 'removed';
      const fenced = before === undefined || isSame ? (before?.fenced ?? []) : fencedWith(before);
      const worker: Worker = {
        ...payload,
        status: isSame ? before.status : 'registering',
        fenced,
        registeredIndex: place.index,
        registeredAtMs: place.nowMs,
      };
      const next = { ...room, workers: room.workers.set(worker.id, worker) };
      // What the process before ran, the new one does not run.
      const released = isSame || before === undefined ? next : release(next, before);
      return changed(released, { id: worker.id, epoch: place.index }, { type: 'WorkerRegistered', id: worker.id });
    },
  ),

  SetWorkerStatus: command(
    Type.Object(
      { id: idSchema, incarnation: incarnationSchema, status: Type.Enum(Object.keys(transitions.worker) as WorkerStatus[]) },
      strict,
    ),
    (state, { id, incarnation, status }) => {
      const worker = state.workers.get(id);
      if (worker === undefined || worker.status === 'removed') return unknownWorker(id);
      if (worker.incarnation !== incarnation) return staleIncarnation(id, incarnation);
      if (status === 'removed') return removed(state, worker);
      if (!mayBecome('worker', worker.status, status)) {
        return refused('transition_refused', `worker '${id}' is ${worker.status}, and that does not become ${status}`);
      }
      if (status === 'drained' && runningOn(state, id).length > 0) {
        return refused('transition_refused', `worker '${id}' is not drained: ${runningOn(state, id).length} pipelines are left`);
      }
      return changed(
        { ...state, workers: state.workers.set(id, { ...worker, status }) },
        { id, status },
        { type: 'WorkerStatusChanged', id },
      );
    },
  ),

  /** Its process is fenced, and what it ran waits for another worker. */
  RemoveWorker: command(Type.Object({ id: idSchema }, strict), (state, { id }) => {
    const worker = state.workers.get(id);
    return worker === undefined || worker.status === 'removed' ? unknownWorker(id) : removed(state, worker);
  }),
};

/** Without the worker that was removed first, when there are as many as are kept; undefined when none was. */
function withRoomForOne(state: ClusterState): ClusterState | undefined {
  if (state.workers.size < bounds.workersMax) return state;
  const gone = [...state.workers.values()].filter(({ status }) => status === 'removed');
  const oldest = gone.reduce<Worker | undefined>(
    (least, one) => (least && least.registeredIndex < one.registeredIndex ? least : one),
    undefined,
  );
  return oldest && { ...state, workers: state.workers.delete(oldest.id) };
}

function removed(state: ClusterState, worker: Worker): Outcome {
  const { id } = worker;
  const gone: Worker = { ...worker, status: 'removed', fenced: fencedWith(worker) };
  const reassigned = runningOn(state, id).length;
  const next = release({ ...state, workers: state.workers.set(id, gone) }, worker);
  return changed(next, { id, reassigned }, { type: 'WorkerRemoved', id });
}

function fencedWith({ fenced, incarnation }: Worker): readonly string[] {
  return [...fenced.filter((one) => one !== incarnation), incarnation].slice(-bounds.fencedIncarnationsMax);
}

function runningOn(state: ClusterState, workerId: string): readonly Placement[] {
  return [...state.placements.values()].filter((placement) => placement.workerId === workerId);
}

/** What a worker had waits for another one, which is not to begin before the process that had it has stopped. */
function release(state: ClusterState, { id: workerId, address, incarnation }: Worker): ClusterState {
  const formerHolder = { workerId, address, incarnation };
  let { placements } = state;
  for (const { workerId: _gone, error: _error, ...rest } of runningOn(state, workerId)) {
    placements = placements.set(rest.id, { ...rest, status: 'pending', formerHolder });
  }
  return { ...state, placements };
}

function unknownWorker(id: string): Outcome {
  return refused('worker_not_found', `the cluster has no worker '${id}'`);
}

function staleIncarnation(id: string, incarnation: string): Outcome {
  return refused(
    'stale_incarnation',
    `another process has taken the place of incarnation '${incarnation}' of worker '${id}'`,
    'restart it',
  );
}
