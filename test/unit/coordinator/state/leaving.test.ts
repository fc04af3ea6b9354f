import { describe, expect, it } from 'vitest';
import { desiredRevision, placementRequest } from '../../../../coordinator/reconcile/desired-placement.ts';
import { type ClusterState, emptyState, ingressKey, type Placement } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { LEAVING_FORMAT } from '../../../../coordinator/state/format.ts';
import { decodeSnapshot, encodeSnapshot } from '../../../../coordinator/state/snapshot.ts';
import { step } from './commands.ts';
import { stateProblems } from './invariants.ts';

const groupId = 'g_00000000000003';
const [first, second, receiver] = [`${groupId}:a:0`, `${groupId}:a:1`, `${groupId}:b:0`] as const;
const routes = [{ fromPipeline: 'a', toPipeline: 'b', eventTypes: ['*'] }];
const a = (replicas: number, source = 'a') => ({ name: 'a', source, replicas, partitionKey: 'k' });
const b = { name: 'b', source: 'b', replicas: 1 };

function run(commands: readonly Command[], from: ClusterState) {
  let state = from;
  const results = commands.map((command) => {
    const applied = step(state, { command, request: undefined, atMs: 0 });
    state = applied.state;
    return applied.result.kind === 'done' ? 'done' : applied.result.refusal.code;
  });
  return { state, results };
}

const assign = (id: string): Command => ({ type: 'AssignPlacement', payload: { id, workerId: 'w' } });
const append = (placementId: string): Command => ({
  type: 'AppendIngress',
  payload: { batches: [{ placementId, receivedAtMs: 1, events: '[{}]', eventCount: 1 }] },
});
const update = (pipelines: Extract<Command, { type: 'UpdateGroup' }>['payload']['pipelines'], withRoutes = true): Command => ({
  type: 'UpdateGroup',
  payload: { id: groupId, pipelines, routes: withRoutes ? routes : [] },
});
const remove = (id: string, epoch: number): Command => ({ type: 'RemovePlacement', payload: { id, epoch } });

/** A worker that has both replicas of `a`, under the epochs 4 and 5, and `b`; an event was accepted for the second replica. */
function begun(format: number): ClusterState {
  const { state, results } = run(
    [
      { type: 'RegisterWorker', payload: { id: 'w', address: 'http://w', incarnation: 'i', version: '1', cpuCores: 1, pipelinesMax: 0 } },
      { type: 'SetWorkerStatus', payload: { id: 'w', incarnation: 'i', status: 'ready' } },
      { type: 'CreateGroup', payload: { name: 'g', pipelines: [a(2), b], routes } },
      ...[first, second, receiver].map(assign),
      append(second),
    ],
    { ...emptyState, format },
  );
  expect(results).toEqual(Array(7).fill('done'));
  return state;
}

const placement = (state: ClusterState, id: string) => state.placements.get(id) as Placement;

const told = { hasCreation: true, hasFormer: true };

describe('a replica of which there are to be fewer', () => {
  it('keeps its worker, its epoch and what was accepted for it, and takes nothing more', () => {
    const { state, results } = run([update([a(1, 'new'), b]), append(second), append(first)], begun(LEAVING_FORMAT));
    expect(results).toEqual(['done', 'pipeline_not_found', 'done']);
    expect(placement(state, second)).toMatchObject({ workerId: 'w', epoch: 5, leavingVersion: 1 });
    expect(state.ingress.get(ingressKey(second, 1))?.events).toBe('[{}]');
    expect([placement(state, first).epoch, placement(state, first).leavingVersion]).toEqual([8, undefined]);
    expect(stateProblems(state)).toEqual([]);
  });

  it('runs by what the group was, and sends to where its receivers are now', () => {
    const before = begun(LEAVING_FORMAT);
    const { state } = run([update([a(1, 'new'), b])], before);
    const request = (id: string) => placementRequest(state, placement(state, id), told);
    expect(request(second)).toMatchObject({ source: 'a', replicas: 2, replica: 1, epoch: 5 });
    expect(request(second)?.routes).toEqual([
      { event_types: ['*'], targets: [{ placement_id: receiver, replica: 0, address: 'http://w', epoch: 8 }] },
    ]);
    expect(request(first)).toMatchObject({ source: 'new', replicas: 1 });
  });

  it('goes when that is said under its epoch, with what it ran by, and nothing else does', () => {
    const changed = run([update([a(1), b])], begun(LEAVING_FORMAT)).state;
    const { state, results } = run([remove(first, 8), remove(second, 4), remove(second, 5), remove(second, 5)], changed);
    expect(results).toEqual(['transition_refused', 'stale_epoch', 'done', 'pipeline_not_found']);
    expect([state.placements.size, state.ingress.size, state.groups.get(groupId)?.former]).toEqual([2, 0, undefined]);
    expect(stateProblems(state)).toEqual([]);
  });

  it('stays after all, with all that it has, when there are to be more again', () => {
    const { state, results } = run([update([a(1), b]), update([a(2), b]), append(second)], begun(LEAVING_FORMAT));
    expect(results).toEqual(Array(3).fill('done'));
    expect(placement(state, second)).toMatchObject({ workerId: 'w', epoch: 9 });
    expect(placement(state, second)).not.toHaveProperty('leavingVersion');
    expect([state.ingressLogs.get(second)?.last, state.groups.get(groupId)?.former]).toEqual([2, undefined]);
  });

  it('has nothing to do where no worker ever had it: it is gone at once', () => {
    const grown = run([update([a(3), b]), update([a(2), b])], begun(LEAVING_FORMAT)).state;
    expect([grown.placements.size, grown.groups.get(groupId)?.former]).toEqual([3, undefined]);
  });

  it('is gone at once in a log that members of the version before read', () => {
    const { state, results } = run([update([a(1), b])], begun(LEAVING_FORMAT - 1));
    expect([results, state.placements.has(second), state.ingress.size]).toEqual([['done'], false, 0]);
  });

  it('is in a snapshot as it is', () => {
    const { state } = run([update([a(1), b])], begun(LEAVING_FORMAT));
    const read = decodeSnapshot(Buffer.concat([...encodeSnapshot(state)]));
    expect([placement(read, second), read.groups.get(groupId)]).toEqual([placement(state, second), state.groups.get(groupId)]);
  });
});

describe('a pipeline that is taken out of its group', () => {
  it('leaves; what was sent to it before still finds its way, and nothing new goes there', () => {
    const { state } = run([update([a(2)], false)], begun(LEAVING_FORMAT));
    expect(placement(state, receiver)).toMatchObject({ workerId: 'w', epoch: 6, leavingVersion: 1 });
    expect(placementRequest(state, placement(state, first), told)?.routes).toEqual([
      { event_types: [], targets: [{ placement_id: receiver, replica: 0, address: 'http://w', epoch: 6 }] },
    ]);
    const gone = run([remove(receiver, 6)], state).state;
    expect(placementRequest(gone, placement(gone, first), told)?.routes).toEqual([]);
    expect(desiredRevision(gone, placement(gone, first))).not.toBe(desiredRevision(state, placement(state, first)));
  });

  it('sends to its receivers also where those leave after it', () => {
    const c = { name: 'c', source: 'c', replicas: 1 };
    const receivers = { name: 'b', source: 'b', replicas: 2, partitionKey: 'k' };
    const begin = run([update([a(2), receivers]), assign(`${groupId}:b:1`)], begun(LEAVING_FORMAT)).state;
    const target = (replica: number) => expect.objectContaining({ placement_id: `${groupId}:b:${replica}`, replica, address: 'http://w' });
    const routesOf = (state: ClusterState) => placementRequest(state, placement(state, first), told)?.routes;
    const withoutSender = run([update([receivers], false)], begin).state;
    const all = { event_types: ['*'], partition_key: 'k', targets: [target(0), target(1)] };
    expect(routesOf(withoutSender)).toEqual([all]);
    const withFewer = run([update([b], false)], withoutSender).state;
    expect(routesOf(withFewer)).toEqual([
      { event_types: ['*'], targets: [target(0)] },
      { event_types: [], targets: [target(1)] },
    ]);
    const withNone = run([update([c], false)], withoutSender).state;
    const waysTo = (replica: number) => ({ event_types: [], targets: [target(replica)] });
    expect(routesOf(withNone)).toEqual([all, waysTo(0), waysTo(1)]);
    const ofBoth = run([update([c], false)], withFewer).state;
    expect(routesOf(ofBoth)).toEqual([{ event_types: ['*'], targets: [target(0)] }, waysTo(1), waysTo(0)]);
    expect(stateProblems(ofBoth)).toEqual([]);
  });

  it('leaves version by version, each by what it was', () => {
    const { state } = run([update([a(1, 'new'), b]), update([b], false)], begun(LEAVING_FORMAT));
    expect([first, second].map((id) => placement(state, id).leavingVersion)).toEqual([2, 1]);
    expect([first, second].map((id) => placementRequest(state, placement(state, id), told)?.source)).toEqual(['new', 'a']);
    expect(state.groups.get(groupId)?.former?.map(({ version }) => version)).toEqual([1, 2]);
    const gone = run([remove(second, 5)], state).state;
    expect(gone.groups.get(groupId)?.former?.map(({ version }) => version)).toEqual([2]);
    expect(stateProblems(gone)).toEqual([]);
  });

  it('is waited for where the programs that still leave are too long to keep another', () => {
    const long = 'x'.repeat(600_000);
    const begin = run([update([a(2), { ...b, source: long }])], begun(LEAVING_FORMAT)).state;
    const { state, results } = run([update([a(2, long)], false), update([{ name: 'c', source: '', replicas: 1 }], false)], begin);
    expect(results).toEqual(['done', 'transition_refused']);
    expect(run([remove(receiver, 8), update([b], false)], state).results).toEqual(['done', 'done']);
  });
});
