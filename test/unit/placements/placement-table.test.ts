import { expect, it } from 'vitest';
import { PlacementTable } from '../../../worker/placements/placement-table.ts';
import type { PlacedPipeline, PlaceRequest } from '../../../worker/runtime/placed/placement-host.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

/** A host where a start takes until it is told that it is done. */
class SlowHost extends SimulatedHost {
  readonly starting: (() => void)[] = [];

  override async place(request: PlaceRequest): Promise<PlacedPipeline> {
    await new Promise<void>((resolve) => {
      this.starting.push(resolve);
    });
    return super.place(request);
  }
}

const id = 'g_1:p:0';
const request = (epoch: number) => ({
  ...{ epoch, tenure: epoch, revision: '1', group: 'g', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 },
  ...{ source: 'stream S = A', connectors: [], routes: [] },
});
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

it('a placement begins when nothing is under way of one of its id that was deleted', async () => {
  const host = new SlowHost();
  const table = new PlacementTable({
    host,
    coordinators: { url: 'any', learn: () => undefined, ask: () => Promise.reject(new Error('nobody is asked')) },
    ...{ now: () => 0, clusterTime: () => 0, wait: async () => undefined, post: () => Promise.reject(new Error('there are no routes')) },
    ...{ report: () => undefined, changed: () => undefined, fenced: () => undefined },
  });
  table.put(id, request(1));
  await turns();
  expect(await table.delete(id, 1)).toBe(true);
  table.put(id, request(2));
  await turns();
  expect([host.starting.length, table.get(id).status]).toEqual([1, 'starting']);
  host.starting[0]?.();
  await turns();
  expect([host.starting.length, host.pipelines.size]).toEqual([2, 0]);
  host.starting[1]?.();
  await turns();
  expect(host.pipelines.size).toBe(1);
  table.close();
});
