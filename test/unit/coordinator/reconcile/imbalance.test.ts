import { expect, it } from 'vitest';
import { imbalance, type Move } from '../../../../coordinator/reconcile/imbalance.ts';
import { type ClusterState, emptyState } from '../../../../coordinator/state/cluster-state.ts';
import type { Command } from '../../../../coordinator/state/commands.ts';
import { step } from '../state/commands.ts';

let state: ClusterState;

function agree(command: Command): { readonly id: string; readonly epoch: number } {
  const applied = step(state, { command, request: undefined, atMs: 0 });
  state = applied.state;
  if (applied.result.kind !== 'done') throw new Error(JSON.stringify(applied.result));
  return applied.result.value as { readonly id: string; readonly epoch: number };
}

/** Workers that are ready, and running pipelines that are all on the first one. */
function cluster({ pipelines, ...capacities }: Readonly<Record<string, number>>): void {
  state = emptyState;
  const workers = Object.entries(capacities);
  for (const [id, pipelinesMax] of workers) {
    const incarnation = `of ${id}`;
    agree({ type: 'RegisterWorker', payload: { id, incarnation, address: 'http://w', version: '1', cpuCores: 1, pipelinesMax } });
    agree({ type: 'SetWorkerStatus', payload: { id, incarnation, status: 'ready' } });
  }
  const wanted = Array.from({ length: pipelines ?? 0 }, (_, n) => ({ name: `p${n}`, source: '', replicas: 1 }));
  agree({ type: 'CreateGroup', payload: { name: 'g', pipelines: wanted, routes: [] } });
  for (const { id } of [...state.placements.values()]) {
    const { epoch } = agree({ type: 'AssignPlacement', payload: { id, workerId: workers[0]?.[0] as string } });
    agree({ type: 'ReportPlacement', payload: { id, epoch, status: 'running' } });
  }
}

const moves = (): readonly Move[] => imbalance({ state, isOver: () => false });
const targets = (): readonly string[] => moves().map(({ targetWorker }) => targetWorker);
const begin = (): readonly string[] => moves().map((payload) => agree({ type: 'StartMigration', payload }).id);
const loads = (): Record<string, number> => {
  const all = [...state.placements.values()].map(({ workerId = 'none' }) => workerId);
  return Object.fromEntries([...state.workers.values()].map(({ id }) => [id, all.filter((one) => one === id).length]));
};

it('is evened once, however often that is asked for', () => {
  cluster({ a: 0, b: 0, c: 0, pipelines: 7 });
  const begun = begin();
  expect([begun.length, targets()]).toEqual([4, []]);
  agree({ type: 'MovePlacement', payload: { migrationId: begun[0] as string } });
  expect(targets()).toEqual([]);
  for (const migrationId of begun.slice(1)) agree({ type: 'MovePlacement', payload: { migrationId } });
  expect([loads(), targets()]).toEqual([{ a: 3, b: 2, c: 2 }, []]);
});

it('gives no worker more pipelines than it takes, those counted that are on their way', () => {
  cluster({ a: 0, full: 1, b: 0, pipelines: 9 });
  expect(targets().filter((id) => id === 'full')).toHaveLength(1);
  for (const migrationId of begin()) {
    expect(targets()).toEqual([]);
    agree({ type: 'MovePlacement', payload: { migrationId } });
  }
  expect([loads(), targets()]).toEqual([{ a: 4, full: 1, b: 4 }, []]);
});

it('is evened among those that can be, where the pipelines of one cannot be moved', () => {
  cluster({ a: 0, b: 0, c: 0, pipelines: 12 });
  const [first, ...others] = [...state.placements.values()];
  for (const { id } of others.slice(0, 4)) {
    agree({
      type: 'MovePlacement',
      payload: { migrationId: agree({ type: 'StartMigration', payload: { placementId: id, targetWorker: 'b' } }).id },
    });
  }
  for (const { id, epoch, workerId } of [...state.placements.values()]) {
    if (workerId === 'a' && id !== first?.id) agree({ type: 'ReportPlacement', payload: { id, epoch, status: 'failed' } });
    if (workerId === 'b') agree({ type: 'ReportPlacement', payload: { id, epoch, status: 'running' } });
  }
  for (const { id, status } of [...state.migrations.values()])
    if (status === 'moved') agree({ type: 'EndMigration', payload: { migrationId: id, status: 'completed' } });
  agree({ type: 'ReportPlacement', payload: { id: first?.id as string, epoch: first?.epoch as number, status: 'failed' } });
  expect(loads()).toEqual({ a: 8, b: 4, c: 0 });
  expect(targets()).toEqual(['c', 'c']);
});
