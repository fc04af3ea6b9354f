import { expect, it } from 'vitest';
import type { CoordinatorAnswer, CoordinatorRequest } from '../../../worker/membership/coordinator-client.ts';
import { PlacementTable } from '../../../worker/placements/placement-table.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

const id = 'g_1:p:0';
const request = {
  ...{ epoch: 1, tenure: 1, revision: '1', group: 'g', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 },
  ...{ source: 'stream S = A', connectors: [], routes: [] },
};
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A placement whose clock makes something more during each commit of a checkpoint, unless its input waits. */
async function speaking() {
  const host = new SimulatedHost();
  let isRefused = false;
  const speak = (): void => {
    for (const { request: placed, seen } of host.pipelines) {
      placed.placing.unlike(seen.push(seen.length + 1));
      placed.placing.speaks();
    }
  };
  const waits = (): boolean[] => Array.from(host.pipelines, (pipeline) => pipeline.request.placing.outputs.isFull());
  const inputWaits: boolean[] = [];
  const ask = async ({ path }: CoordinatorRequest): Promise<CoordinatorAnswer> => {
    if (path.endsWith('/commit')) inputWaits.push(...waits());
    if (path.endsWith('/commit') && !inputWaits.at(-1)) speak();
    const isTaken = !(isRefused && inputWaits.at(-1));
    return { status: isTaken ? 200 : 503, bytes: Buffer.from('{"locations":["node-1"]}'), code: undefined, message: undefined };
  };
  const table = new PlacementTable({
    ...{ host, coordinators: { url: 'any', learn: () => undefined, ask }, now: () => 0, clusterTime: () => 0 },
    // Checkpoints are those that the test asks for, and those for which nothing waits.
    ...{ wait: () => new Promise<void>(() => undefined), post: () => Promise.reject(new Error('there are no routes')) },
    ...{ report: () => undefined, changed: () => undefined, fenced: () => undefined },
  });
  table.put(id, request);
  await turns();
  table.acknowledged(table.report(), { sentAt: 0, leaseMs: 1_000, fenced: [] });
  await turns();
  const checkpoint = async (): Promise<void> => {
    await table.get(id).checkpoint(1);
    await turns();
  };
  const refuse = (): void => {
    isRefused = true;
  };
  return { speak, checkpoint, refuse, waits, inputWaits, isOpen: () => [...host.pipelines].map((pipeline) => pipeline.isOpen) };
}

it('what the clock makes faster than checkpoints count is said all the same: input waits for one', async () => {
  const { speak, checkpoint, waits, inputWaits, isOpen } = await speaking();
  expect(isOpen()).toEqual([true]);
  speak();
  for (let count = 0; count < 3; count++) {
    expect([isOpen(), waits()]).toEqual([[false], [false]]);
    await checkpoint();
  }
  expect(inputWaits).toEqual([false, false, false, true]);
  expect([isOpen(), waits()]).toEqual([[true], [false]]);
});

it('input goes on when that checkpoint does not count', async () => {
  const { speak, checkpoint, refuse, waits, inputWaits, isOpen } = await speaking();
  refuse();
  speak();
  for (let count = 0; count < 3; count++) await checkpoint();
  expect(inputWaits).toEqual([false, false, false, true]);
  expect([isOpen(), waits()]).toEqual([[false], [false]]);
});
