import { expect, it } from 'vitest';
import type { Action } from '../../../../coordinator/reconcile/action.ts';
import { Backoff } from '../../../../coordinator/reconcile/backoff.ts';
import { Executor } from '../../../../coordinator/reconcile/executor.ts';
import { Observations } from '../../../../coordinator/reconcile/observations.ts';
import { UnderWay } from '../../../../coordinator/reconcile/under-way.ts';
import type { Observed } from '../../../../coordinator/reconcile/view.ts';
import type { Placement, Worker } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { applyAll } from '../state/commands.ts';

const close = (incarnation: string): Action => {
  return { key: 'placement p', kind: 'close', worker: { id: 'w1', incarnation }, placement: { id: 'p' } } as Action;
};

it('what is asked of a lost process makes way for others, and its late end ends nothing else', () => {
  const underWay = new UnderWay();
  const lateEnd = underWay.begin(close('i1'));
  underWay.giveUp(({ incarnation }) => incarnation === 'i0');
  expect(underWay.has('placement p')).toBe(true);
  underWay.giveUp(({ incarnation }) => incarnation === 'i1');
  expect(underWay.has('placement p')).toBe(false);
  const end = underWay.begin(close('i2'));
  lateEnd();
  expect(underWay.has('placement p')).toBe(true);
  end();
  expect(underWay.size).toBe(0);
});

it('migrations that failed do not hold up a drain for longer than it waits, and not at all once one was completed', async () => {
  let nowMs = 0;
  const backoff = new Backoff(() => nowMs);
  const state = { migrations: new Map([['m', { placementId: 'p' }]]) };
  const executor = new Executor({ group: { state, propose: async () => ({}) }, backoff } as unknown as ConstructorParameters<
    typeof Executor
  >[0]);
  const ended = (status: 'failed' | 'completed'): Promise<void> => {
    const command = { type: 'EndMigration', payload: { migrationId: 'm', status } } as const;
    return executor.carryOut({ key: 'placement p', kind: 'propose', command }, () => true);
  };
  for (let times = 0; times < 10; times++) await ended('failed');
  expect(backoff.isDue('migrate p')).toBe(false);
  nowMs += 5_000;
  expect(backoff.isDue('migrate p')).toBe(true);
  await ended('failed');
  await ended('completed');
  expect(backoff.isDue('migrate p')).toBe(true);
});

it('a worker that has answered before its first heartbeat is asked for the same pipeline once a second, not at every look', async () => {
  let nowMs = 0;
  let asked = 0;
  const backoff = new Backoff(() => nowMs);
  const observations = new Observations();
  const state = applyAll(
    [
      { type: 'RegisterWorker', payload: { id: 'w', address: 'http://w', incarnation: 'i', version: '1', cpuCores: 2, pipelinesMax: 9 } },
      { type: 'SetWorkerStatus', payload: { id: 'w', incarnation: 'i', status: 'ready' } },
      { type: 'CreateGroup', payload: { name: 'g', pipelines: [{ name: 'p', source: '', replicas: 1 }], routes: [] } },
      { type: 'AssignPlacement', payload: { id: 'g_00000000000003:p:0', workerId: 'w' } },
    ].map((command) => ({ command: command as Command, request: undefined, atMs: 0 })),
  );
  const [worker, placement] = [state.workers.get('w') as Worker, [...state.placements.values()][0] as Placement];
  const put = async (): Promise<Observed> => {
    asked++;
    return { epoch: placement.epoch, status: 'starting' };
  };
  const options = { group: { state }, client: { put }, backoff, observations } as unknown as ConstructorParameters<typeof Executor>[0];
  const executor = new Executor(options);
  const look = async (): Promise<void> => {
    const observed = observations.of(worker)?.held.get(placement.id);
    if (observed === undefined && backoff.isDue(`put ${placement.id}`))
      await executor.carryOut({ key: '', kind: 'put', worker, placement }, () => true);
  };
  for (; nowMs < 3_000; nowMs += 100) await look();
  expect(asked).toBe(3);
  observations.heard(worker, { incarnation: 'i' }, nowMs);
  for (; nowMs < 6_000; nowMs += 100) await look();
  expect(asked).toBe(4);
  expect(backoff.isDue(`put ${placement.id}`)).toBe(true);
});

it('a worker that was not heard yet is asked to make dead letters of what is left, and one of a version before is not', async () => {
  const asked: (number | undefined)[] = [];
  const observations = new Observations();
  const client = { delete: async (_at: unknown, _epoch: number, flushMs?: number) => void asked.push(flushMs) };
  const backoff = new Backoff(() => 0);
  const executor = new Executor({ client, observations, backoff } as unknown as ConstructorParameters<typeof Executor>[0]);
  const worker = { id: 'w', address: 'http://w', incarnation: 'i' } as Worker;
  const gone: Action = { key: 'placement p', kind: 'delete', worker, placementId: 'p', epoch: 1, isForGood: true };
  await executor.carryOut(gone, () => true);
  observations.heard(worker, { incarnation: 'i', state_format: 4 }, 0);
  await executor.carryOut(gone, () => true);
  observations.heard(worker, { incarnation: 'i', state_format: 5 }, 1);
  await executor.carryOut(gone, () => true);
  expect(asked).toEqual([0, undefined, 0]);
});

it('what leaves has the time of its group when that goes meanwhile', async () => {
  const asked: unknown[] = [];
  const observations = new Observations();
  const client = {
    delete: async (_at: unknown, _epoch: number, flushMs?: number) => void asked.push(['delete', flushMs]),
    close: async (_at: unknown, epoch: number, { flushMs }: { readonly flushMs?: number }) => {
      asked.push(['close', flushMs]);
      return { epoch, status: 'closed' };
    },
  };
  const proposed: string[] = [];
  const propose = async ({ type }: Command) => void proposed.push(type);
  const groups = new Map([['g', { isDraining: false }]]);
  const worker = { id: 'w', address: 'http://w', incarnation: 'i', status: 'ready' } as Worker;
  const group = { state: { groups, ingressLogs: new Map(), workers: new Map([['w', worker]]) }, propose };
  const executor = new Executor({ group, client, observations, backoff: new Backoff(() => 0) } as unknown as ConstructorParameters<
    typeof Executor
  >[0]);
  const placement = { id: 'p', groupId: 'g', epoch: 1, leavingVersion: 1 } as Placement;
  const leave: Action = { key: 'leave p', kind: 'leave', worker, placement };
  await executor.carryOut(leave, () => true);
  expect(asked).toEqual([]); // What it may write is not known before it was heard.
  observations.heard(worker, { incarnation: 'i', state_format: 5 }, 0);
  await executor.carryOut(leave, () => true);
  groups.set('g', { isDraining: true });
  await executor.carryOut(leave, () => true);
  expect([asked, proposed]).toEqual([
    [
      ['close', 60_000],
      ['delete', 5_000],
    ],
    ['RemovePlacement'],
  ]);
});
