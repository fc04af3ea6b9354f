import { expect, it } from 'vitest';
import { PlacementTable } from '../../../worker/placements/placement-table.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

const id = 'g_1:p:0';
const startedAt = 1_000_000;
const request = (ingress: object) => ({
  ...{ epoch: 2, tenure: 2, revision: '1', group: 'g', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 },
  ...{ source: 'stream S = A', connectors: [], routes: [], ...ingress },
});
const delivery = (sequence: number) => ({
  ...{ epoch: 2, from: { placement_id: '_external', epoch: 0 } },
  batches: [{ sequence, received_at: startedAt - 5_000, events: Buffer.from('[]') }],
});
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A placement that has no checkpoint to go on from. */
async function started(ingress: object) {
  let elapsedMs = 0;
  const host = new SimulatedHost();
  const table = new PlacementTable({
    host,
    coordinators: { url: 'any', learn: () => undefined, ask: () => Promise.reject(new Error('nobody is asked')) },
    ...{ now: () => elapsedMs, clusterTime: () => startedAt + elapsedMs, wait: async () => undefined },
    ...{
      post: () => Promise.reject(new Error('there are no routes')),
      report: () => undefined,
      changed: () => undefined,
      fenced: () => undefined,
    },
  });
  table.put(id, request(ingress));
  await turns();
  table.acknowledged(table.report(), { sentAt: 0, leaseMs: 100_000, fenced: [] });
  await turns();
  const [pipeline] = [...host.pipelines];
  return {
    tick: () => pipeline?.request.placing.tickTime(),
    deliver: (sequence: number) => table.deliver(id, delivery(sequence) as never),
    pass: (ms: number) => {
      elapsedMs += ms;
    },
  };
}

it('a placement without a checkpoint has no ticks until what was injected before is there', async () => {
  const { tick, deliver } = await started({ ingress_sequence: 2 });
  expect(tick()).toBeUndefined();
  await deliver(1);
  expect(tick()).toBeUndefined();
  await deliver(2);
  expect(tick()).toBe(startedAt - 2_000);
});

it('it waits for half a minute at most', async () => {
  const { tick, pass } = await started({ ingress_sequence: 2 });
  pass(29_999);
  expect(tick()).toBeUndefined();
  pass(1);
  expect(tick()).toBe(startedAt + 28_000);
});

it.each([{}, { ingress_sequence: 0 }])('it has ticks at once where nothing is known to have been injected: %j', async (ingress) => {
  const { tick } = await started(ingress);
  expect(tick()).toBe(startedAt - 2_000);
});
