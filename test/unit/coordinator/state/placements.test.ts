import { describe, expect, it } from 'vitest';
import { type ClusterState, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { LATEST_FORMAT } from '../../../../coordinator/state/format.ts';
import { step } from './commands.ts';

const register = (id: string, incarnation = 'i1'): Command => ({
  type: 'RegisterWorker',
  payload: { id, address: 'http://w', incarnation, version: '1', cpuCores: 2, pipelinesMax: 9 },
});
type Status = Extract<Command, { type: 'SetWorkerStatus' }>['payload']['status'];
const status = (id: string, to: Status, incarnation = 'i1'): Command => ({
  type: 'SetWorkerStatus',
  payload: { id, incarnation, status: to },
});
const pipeline = (name: string, more: object = {}) => ({ name, source: '', replicas: 1, ...more });
const group = (name: string, ...pipelines: ReturnType<typeof pipeline>[]): Command => ({
  type: 'CreateGroup',
  payload: { name, pipelines, routes: [] },
});

/** The state after commands in turn, and what each came to: `done`, or the code of its refusal. */
function run(commands: readonly Command[], from: ClusterState = emptyState) {
  let state = from;
  const results = commands.map((command) => {
    const applied = step(state, { command, request: undefined, atMs: 0 });
    state = applied.state;
    return applied.result.kind === 'done' ? 'done' : applied.result.refusal.code;
  });
  return { state, results };
}

/** Workers `a`, `b`, `c`, of which `c` is not ready, and a group with one pipeline, which `a` runs: indexes 1 to 8. */
const begun = run([
  ...['a', 'b'].flatMap((id) => [register(id), status(id, 'ready')]),
  register('c'),
  group('g', pipeline('p')),
  { type: 'AssignPlacement', payload: { id: 'g_00000000000006:p:0', workerId: 'a' } },
  { type: 'ReportPlacement', payload: { id: 'g_00000000000006:p:0', epoch: 7, status: 'running' } },
]);
const groupId = 'g_00000000000006';
const id = `${groupId}:p:0`;
const placement = (state: ClusterState) => state.placements.get(id);

describe('a placement', () => {
  it('is given to a worker under the index of that decision', () => {
    expect(begun.results).toEqual(Array(8).fill('done'));
    expect(placement(begun.state)).toMatchObject({ workerId: 'a', epoch: 7, status: 'running' });
    const moved = run([{ type: 'AssignPlacement', payload: { id, workerId: 'b' } }], begun.state);
    expect(placement(moved.state)).toMatchObject({ workerId: 'b', epoch: 9, status: 'assigned' });
  });

  it.each([
    ['a worker that nobody knows', { id, workerId: 'x' }, 'worker_not_found'],
    ['a worker that is not ready', { id, workerId: 'c' }, 'transition_refused'],
    ['the worker that has it', { id, workerId: 'a' }, 'transition_refused'],
  ])('is not given to %s', (_what, payload, code) => {
    const { state, results } = run([{ type: 'AssignPlacement', payload }], begun.state);
    expect([results, placement(state)]).toEqual([[code], placement(begun.state)]);
  });

  it('takes word only from who has it, under its epoch', () => {
    const report = (epoch: number, to: 'running' | 'failed'): Command => ({ type: 'ReportPlacement', payload: { id, epoch, status: to } });
    const { state, results } = run([report(6, 'failed'), report(8, 'failed'), report(7, 'failed'), report(7, 'running')], begun.state);
    expect([results, placement(state)?.status]).toEqual([['stale_epoch', 'stale_epoch', 'done', 'transition_refused'], 'failed']);
    const pending = run([{ type: 'ReleasePlacement', payload: { id, epoch: 7 } }, report(7, 'running')], begun.state);
    expect(pending.results).toEqual(['done', 'stale_epoch']);
  });

  it('has a new epoch when its program changes, and keeps its worker', () => {
    const update: Command = { type: 'UpdateGroup', payload: { id: groupId, pipelines: [pipeline('p', { source: 'new' })], routes: [] } };
    const { state } = run([update], begun.state);
    expect(placement(state)).toMatchObject({ workerId: 'a', epoch: 9, status: 'assigned' });
  });

  it('waits for another worker when its own is removed, or begins anew', () => {
    for (const command of [{ type: 'RemoveWorker', payload: { id: 'a' } }, register('a', 'i2')] as Command[]) {
      const { state } = run([command], begun.state);
      expect(placement(state)).toEqual({
        id,
        groupId,
        pipeline: 'p',
        replica: 0,
        status: 'pending',
        epoch: 7,
        tenure: 7,
        formerHolder: { workerId: 'a', address: 'http://w', incarnation: 'i1' },
      });
    }
    expect(placement(run([register('a')], begun.state).state)).toMatchObject({ workerId: 'a', epoch: 7 });
  });

  it('is gone with its group, its checkpoints and its migrations', () => {
    const { state } = run([checkpoint(1), migrate('b'), { type: 'DeleteGroup', payload: { id: groupId } }], begun.state);
    expect([state.placements.size, state.manifests.size, state.migrations.size]).toEqual([0, 0, 0]);
  });
});

const checkpoint = (sequence: number, { epoch = 7, checksum = 6, received = 0 } = {}): Command => ({
  type: 'CommitCheckpoint',
  payload: { placementId: id, epoch, sequence, bytes: 5, checksum, locations: ['x'], received: { _external: received } },
});
const inject = (...events: string[]): Command => ({
  type: 'AppendIngress',
  payload: { batches: events.map((text) => ({ placementId: id, receivedAtMs: 1, events: text, eventCount: 1 })) },
});
const waiting = (state: ClusterState) => Array.from(state.ingress.values(), ({ sequence, events }) => [sequence, events]);
const migrate = (targetWorker: string): Command => ({ type: 'StartMigration', payload: { placementId: id, targetWorker } });
const move = (index: number): Command => ({ type: 'MovePlacement', payload: { migrationId: `m_${index.toString(16).padStart(14, '0')}` } });

describe('a checkpoint', () => {
  it('counts in its order, under the epoch of its placement, and the last three do', () => {
    const { state, results } = run(
      [checkpoint(2), checkpoint(1), checkpoint(2, { epoch: 6 }), ...[2, 3, 4].map((n) => checkpoint(n))],
      begun.state,
    );
    expect(results).toEqual(['transition_refused', 'done', 'stale_epoch', 'done', 'done', 'done']);
    expect(state.manifests.get(id)?.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
  });

  it('may be committed again by whoever did not hear that it was, and by nobody else', () => {
    const { state, results } = run([checkpoint(1), checkpoint(1), checkpoint(1, { checksum: 7 })], begun.state);
    expect([results, state.manifests.get(id)?.length]).toEqual([['done', 'done', 'transition_refused'], 1]);
  });
});

describe('events from outside', () => {
  it('have a place in the order of their placement, and are kept until a checkpoint has them', () => {
    const appended = run([inject('[1]', '[2]'), inject('[3]')], begun.state);
    expect(waiting(appended.state)).toEqual([
      [1, '[1]'],
      [2, '[2]'],
      [3, '[3]'],
    ]);
    const covered = run([checkpoint(1, { received: 2 }), inject('[4]')], appended.state);
    expect(waiting(covered.state)).toEqual([
      [3, '[3]'],
      [4, '[4]'],
    ]);
    expect(covered.state.ingressChars).toBe(6);
  });

  it('survive the worker that had them, and go with their group', () => {
    const lost = run([inject('[1]'), { type: 'RemoveWorker', payload: { id: 'a' } }], begun.state);
    expect([waiting(lost.state), placement(lost.state)?.formerHolder?.incarnation]).toEqual([[[1, '[1]']], 'i1']);
    const gone = run([{ type: 'DeleteGroup', payload: { id: groupId } }], lost.state);
    expect([gone.state.ingress.size, gone.state.ingressLogs.size, gone.state.ingressChars]).toEqual([0, 0, 0]);
  });

  it('are refused all together when one of them has no placement, or too many wait', () => {
    const elsewhere: Command = {
      type: 'AppendIngress',
      payload: { batches: [id, 'x'].map((placementId) => ({ placementId, receivedAtMs: 1, events: '[1]', eventCount: 1 })) },
    };
    const large = inject('x'.repeat(1_048_576));
    const { state, results } = run([elsewhere, ...Array<Command>(9).fill(large)], begun.state);
    expect(results).toEqual(['pipeline_not_found', ...Array<string>(8).fill('done'), 'queue_full']);
    expect(state.ingress.size).toBe(8);
  });

  it('are not said to be part of a checkpoint before they were sent', () => {
    expect(run([checkpoint(1, { received: 1 })], begun.state).results).toEqual(['transition_refused']);
  });
});

describe('a migration', () => {
  it('moves a placement once, under a new epoch, and then ends', () => {
    const end: Command = { type: 'EndMigration', payload: { migrationId: 'm_00000000000009', status: 'completed' } };
    const { state, results } = run([migrate('b'), migrate('b'), end, move(9), move(9), end], begun.state);
    expect(results).toEqual(['done', 'transition_refused', 'transition_refused', 'done', 'transition_refused', 'done']);
    expect(placement(state)).toMatchObject({ workerId: 'b', epoch: 12, status: 'assigned' });
    expect([...state.migrations.values()]).toMatchObject([{ status: 'completed', epoch: 12, sourceWorker: 'a', targetWorker: 'b' }]);
  });

  it('does not move what has changed hands meanwhile, nor to a worker that is ready no more', () => {
    const changed = run(
      [
        migrate('b'),
        { type: 'ReleasePlacement', payload: { id, epoch: 7 } },
        { type: 'AssignPlacement', payload: { id, workerId: 'a' } },
        move(9),
      ],
      begun.state,
    );
    expect([changed.results.at(-1), placement(changed.state)]).toMatchObject(['stale_epoch', { workerId: 'a', epoch: 11 }]);
    const unhealthy = run([migrate('b'), status('b', 'unhealthy'), move(9)], begun.state);
    expect([unhealthy.results.at(-1), placement(unhealthy.state)?.workerId]).toEqual(['transition_refused', 'a']);
  });
});

describe('a worker', () => {
  it('changes its status as the table says', () => {
    const { results } = run([status('a', 'drained'), status('a', 'draining'), status('a', 'ready'), status('a', 'drained')], begun.state);
    expect(results).toEqual(['transition_refused', 'done', 'transition_refused', 'transition_refused']);
    const empty = run(
      [status('a', 'draining'), { type: 'ReleasePlacement', payload: { id, epoch: 7 } }, status('a', 'drained')],
      begun.state,
    );
    expect(empty.results).toEqual(['done', 'done', 'done']);
  });

  it('says nothing any more when another process has its place, or it was removed', () => {
    const { results } = run([register('a', 'i2'), status('a', 'ready'), register('a', 'i1'), status('a', 'ready', 'i2')], begun.state);
    expect(results).toEqual(['done', 'stale_incarnation', 'stale_incarnation', 'done']);
    const removed = run(
      [{ type: 'RemoveWorker', payload: { id: 'a' } }, status('a', 'ready'), register('a'), register('a', 'i2')],
      begun.state,
    );
    expect(removed.results).toEqual(['done', 'worker_not_found', 'stale_incarnation', 'done']);
    expect(removed.state.workers.get('a')).toMatchObject({ status: 'registering', fenced: ['i1'] });
  });
});

describe('a pipeline group', () => {
  const create = (payload: object): Command =>
    ({ type: 'CreateGroup', payload: { name: 'h', routes: [], pipelines: [pipeline('p')], ...payload } }) as Command;
  const route = (fromPipeline: string, toPipeline: string) => ({ fromPipeline, toPipeline, eventTypes: ['*'] });

  it.each([
    ['a name that another has', { name: 'g' }, 'name_taken'],
    ['two pipelines of a name', { pipelines: [pipeline('p'), pipeline('p')] }, 'validation_error'],
    ['replicas that nothing divides', { pipelines: [pipeline('p', { replicas: 2 })] }, 'validation_error'],
    ['a route from nowhere', { routes: [route('x', 'p')] }, 'validation_error'],
    ['a route to nowhere', { routes: [route('p', 'x')] }, 'validation_error'],
    ['a route to the outside', { routes: [route('p', '_external')] }, 'validation_error'],
    [
      'programs that are too long together',
      { pipelines: [pipeline('p', { source: 'x'.repeat(600_000) }), pipeline('q', { source: 'x'.repeat(600_000) })] },
      'validation_error',
    ],
  ])('is refused with %s', (_what, payload, code) => {
    expect(run([create(payload)], begun.state).results).toEqual([code]);
  });

  it('is taken with routes from the outside and a placement for each replica', () => {
    const pipelines = [pipeline('p', { replicas: 3, partitionKey: 'k' }), pipeline('q')];
    const { state, results } = run([create({ pipelines, routes: [route('_external', 'p'), route('p', 'q')] })], begun.state);
    expect(results).toEqual(['done']);
    expect([...state.placements.values()].filter(({ groupId: of }) => of !== groupId).map(({ id: one }) => one.slice(17))).toEqual([
      'p:0',
      'p:1',
      'p:2',
      'q:0',
    ]);
  });

  it('is another one when it was taken away and comes again, whoever has it meanwhile', () => {
    const update = (...names: string[]): Command => ({
      type: 'UpdateGroup',
      payload: { id: groupId, pipelines: names.map((name) => pipeline(name)), routes: [] },
    });
    const raised = run([{ type: 'RaiseFormat', payload: { format: LATEST_FORMAT } }, update('p', 'q')], begun.state);
    const createdOf = (state: ClusterState, name: string) => state.placements.get(`${groupId}:${name}:0`)?.createdIndex;
    // What came before the group had this format never says it.
    expect([createdOf(raised.state, 'p'), createdOf(raised.state, 'q')]).toEqual([undefined, 10]);
    const q = `${groupId}:q:0`;
    const moved = run(
      [
        { type: 'AssignPlacement', payload: { id: q, workerId: 'a' } },
        { type: 'ReleasePlacement', payload: { id: q, epoch: 11 } },
        { type: 'AssignPlacement', payload: { id: q, workerId: 'b' } },
        update('p', 'q'),
      ],
      raised.state,
    );
    expect([moved.results, createdOf(moved.state, 'q')]).toEqual([Array(4).fill('done'), 10]);
    const remove: Command = { type: 'RemovePlacement', payload: { id: q, epoch: 14 } };
    const again = run([update('p'), remove, update('p', 'q')], moved.state);
    expect([again.results, createdOf(again.state, 'p'), createdOf(again.state, 'q')]).toEqual([Array(3).fill('done'), undefined, 17]);
  });

  it('says nothing of when it came in a format that a member of before reads', () => {
    expect(placement(begun.state)).not.toHaveProperty('createdIndex');
  });

  it('is given no worker while it is taken down, and does not change', () => {
    const { results } = run(
      [
        { type: 'DrainGroup', payload: { id: groupId } },
        { type: 'AssignPlacement', payload: { id, workerId: 'b' } },
        { type: 'UpdateGroup', payload: { id: groupId, pipelines: [pipeline('p')], routes: [] } },
        { type: 'DeleteGroup', payload: { id: groupId } },
        { type: 'DeleteGroup', payload: { id: groupId } },
      ],
      begun.state,
    );
    expect(results).toEqual(['done', 'transition_refused', 'transition_refused', 'done', 'group_not_found']);
  });
});

describe('the program of before of a placement', () => {
  const update = (source: string, replicas = 1): Command => ({
    type: 'UpdateGroup',
    payload: { id: groupId, pipelines: [pipeline('p', { source, replicas, partitionKey: 'k' })], routes: [] },
  });
  const raise: Command = { type: 'RaiseFormat', payload: { format: LATEST_FORMAT } };
  const former = (state: ClusterState, replica = 0) => {
    const { formerProgram } = state.placements.get(`${groupId}:p:${replica}`) ?? {};
    return formerProgram === undefined ? undefined : state.groups.get(groupId)?.formerPrograms?.[formerProgram];
  };
  const epochOf = (state: ClusterState) => placement(state)?.epoch as number;
  const commit = (state: ClusterState, more: object = {}): Command => {
    const sequence = (state.manifests.get(id)?.at(-1)?.sequence ?? 0) + 1;
    const manifest = { sequence, bytes: 1, checksum: 1, locations: ['node-1'], received: {} };
    return { type: 'CommitCheckpoint', payload: { placementId: id, epoch: epochOf(state), ...manifest, ...more } };
  };
  const report = (state: ClusterState, to: 'running' | 'degraded' | 'failed'): Command => {
    return { type: 'ReportPlacement', payload: { id, epoch: epochOf(state), status: to } };
  };
  const raised = run([raise, update('v1')], begun.state).state;

  it('is the one that its state is of, whatever comes behind that, until a checkpoint is of the program of now', () => {
    expect(former(raised)).toBe('');
    const again = run([update('v2')], raised).state;
    expect(former(again)).toBe('');
    const kept = run(
      [commit(again, { isFormer: true }), report(again, 'degraded'), { type: 'AssignPlacement', payload: { id, workerId: 'b' } }],
      again,
    );
    expect([kept.results, former(kept.state)]).toEqual([['done', 'done', 'done'], '']);
    const changed = run([commit(kept.state)], kept.state).state;
    expect([former(changed), changed.groups.get(groupId)?.formerPrograms]).toEqual([undefined, undefined]);
    expect(changed.manifests.get(id)?.map((manifest) => 'isFormer' in manifest)).toEqual([false, false]);
    expect(former(run([update('v3')], changed).state)).toBe('v2');
  });

  it('is none when it is asked for again, when the new one runs, and when it has failed', () => {
    for (const command of [update(''), report(raised, 'running'), report(raised, 'failed')]) {
      const { state, results } = run([command], raised);
      expect([results, former(state), state.groups.get(groupId)?.formerPrograms]).toEqual([['done'], undefined, undefined]);
      expect(placement(state)).not.toHaveProperty('formerProgram');
    }
    const ran = run([report(raised, 'running')], raised).state;
    expect(former(run([update('v2')], ran).state)).toBe('v1');
    const failed = run([report(raised, 'failed')], raised).state;
    expect(former(run([update('v2')], failed).state)).toBeUndefined();
  });

  it('is of each replica, and kept once for all of them', () => {
    const more = run([update('v1', 2)], run([commit(raised)], raised).state).state;
    const both = run([{ type: 'AssignPlacement', payload: { id: `${groupId}:p:1`, workerId: 'a' } }, update('v2', 2)], more).state;
    expect([former(both), former(both, 1), Object.values(both.groups.get(groupId)?.formerPrograms ?? {})]).toEqual(['v1', 'v1', ['v1']]);
    const one = run([commit(both), update('v3', 2)], both).state;
    expect([former(one), former(one, 1)]).toEqual(['v2', 'v1']);
    const fewer = run([update('v3')], one).state;
    const kept = (state: typeof fewer) => Object.values(state.groups.get(groupId)?.formerPrograms ?? {});
    // The one that leaves is of what it was until it has gone.
    expect([former(fewer), former(fewer, 1), kept(fewer)]).toEqual(['v2', 'v1', ['v2', 'v1']]);
    const id = `${groupId}:p:1`;
    const epoch = fewer.placements.get(id)?.epoch as number;
    const gone = run([{ type: 'RemovePlacement', payload: { id, epoch } }], fewer).state;
    expect([former(gone), kept(gone)]).toEqual(['v2', ['v2']]);
  });

  it('is not kept of what no worker has had, nor in a format that a member of before reads', () => {
    const fresh = run([raise, group('h', pipeline('q'))], begun.state).state;
    const name = [...fresh.groups.values()].find(({ name: one }) => one === 'h')?.id as string;
    const changed = run(
      [{ type: 'UpdateGroup', payload: { id: name, pipelines: [pipeline('q', { source: 'x' })], routes: [] } }],
      fresh,
    ).state;
    expect(changed.groups.get(name)).not.toHaveProperty('formerPrograms');
    expect(run([update('v1')], begun.state).state.groups.get(groupId)).not.toHaveProperty('formerPrograms');
  });
});

describe('the scaling policy', () => {
  it.each([
    [{ workersMin: 2, workersMax: 9, upThreshold: 4, downThreshold: 2 }, 'done'],
    [{ workersMin: 9, workersMax: 2, upThreshold: 4, downThreshold: 2 }, 'validation_error'],
    [{ workersMin: 2, workersMax: 9, upThreshold: 2, downThreshold: 2 }, 'validation_error'],
  ])('%j is %s', (payload, result) => {
    const { state, results } = run([{ type: 'SetScalingPolicy', payload }]);
    expect([results, state.scaling]).toEqual([[result], result === 'done' ? payload : emptyState.scaling]);
  });
});
