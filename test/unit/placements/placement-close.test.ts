import { describe, expect, it } from 'vitest';
import type { CoordinatorAnswer, CoordinatorRequest } from '../../../worker/membership/coordinator-client.ts';
import { PlacementTable } from '../../../worker/placements/placement-table.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

const id = 'g_1:p:0';
const request = (epoch: number) => ({
  ...{ epoch, tenure: 1, revision: `${epoch}`, group: 'g', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 },
  ...{ source: 'stream S = A', connectors: [], routes: [] },
});
const delivery = (epoch: number, sequence: number) => ({
  epoch,
  from: { placement_id: '_external', epoch: 0 },
  batches: [{ sequence, received_at: 0, events: Buffer.from('[]') }],
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A placement that runs under epoch 1, has taken a batch, and is being closed; `stop` lets its pipeline come to an end. */
async function closing(flushMs?: number) {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const asked: string[] = [];
  const stops: (() => void)[] = [];
  const wait = (ms: number): Promise<void> => (flushMs === undefined ? Promise.resolve() : new Promise((end) => waits.push({ ms, end })));
  const host = new SimulatedHost(() => new Promise((resolve) => stops.push(resolve)));
  const table = new PlacementTable({
    host,
    coordinators: {
      url: 'any',
      learn: () => undefined,
      ask: async ({ method, path }: CoordinatorRequest): Promise<CoordinatorAnswer> => {
        asked.push(`${method} ${path.replace(/\?.*/, '')}`);
        return { status: 200, bytes: Buffer.from('{"locations":["node-1"]}'), code: undefined, message: undefined };
      },
    },
    ...{ now: () => 0, clusterTime: () => 0, wait, post: () => Promise.reject(new Error('there are no routes')) },
    ...{ report: () => undefined, changed: () => undefined, fenced: () => undefined },
  });
  table.put(id, request(1));
  await turns();
  table.acknowledged(table.report(), { sentAt: 0, leaseMs: 1_000, fenced: [] });
  await turns();
  await table.deliver(id, delivery(1, 1) as never);
  const [pipeline] = [...host.pipelines];
  const placement = table.get(id);
  const closed = placement.close(1, { ...(flushMs !== undefined && { flushMs }) }).then(
    ({ status }) => status,
    ({ code }: { readonly code: string }) => code,
  );
  await turns();
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0)) end();
    await turns();
  };
  return { asked, host, table, placement, pipeline, closed, stop, waits };
}

const commits = (asked: readonly string[]): readonly string[] => asked.filter((one) => one.endsWith('/commit'));

describe('a placement that is being closed', () => {
  it('takes nothing in, and says that it is closed only when its last checkpoint counts', async () => {
    const { asked, table, placement, closed, stop } = await closing();
    expect([placement.status, table.report().pipelines?.[0]?.status, commits(asked)]).toEqual(['running', 'running', []]);
    await expect(table.deliver(id, delivery(1, 2) as never)).rejects.toMatchObject({
      ...{ code: 'pipeline_not_running', message: 'the placement is about to be closed' },
    });
    await stop();
    expect([await closed, placement.status, commits(asked)]).toEqual(['closed', 'closed', ['POST /checkpoints/g_1%3Ap%3A0/1/1/commit']]);
  });

  it('is closed once, however often that is asked for', async () => {
    const { asked, placement, closed, stop } = await closing();
    const again = placement.close(1);
    await stop();
    expect([await closed, (await again).status, commits(asked).length]).toEqual(['closed', 'closed', 1]);
  });

  it('goes on with what it has when it is to run under a newer epoch', async () => {
    const { host, table, placement, pipeline, closed, stop } = await closing();
    table.put(id, request(2));
    await stop();
    expect([await closed, placement.status, placement.epoch]).toEqual(['stale_epoch', 'running', 2]);
    expect([pipeline?.isAbandoned, pipeline?.seen, host.pipelines.size]).toEqual([false, [1], 1]);
    await table.deliver(id, delivery(2, 2) as never);
    expect(pipeline?.seen).toEqual([1, 2]);
  });

  it('has its lease renewed meanwhile', async () => {
    const { table, placement, pipeline, closed, stop } = await closing();
    table.acknowledged(table.report(), { sentAt: 500, leaseMs: 1_000, fenced: [] });
    expect([placement.leaseRemainingMs, pipeline?.isOpen]).toEqual([1_500, true]);
    await stop();
    expect([await closed, placement.leaseRemainingMs]).toEqual(['closed', 0]);
  });

  it('is not closed when another worker has it by then', async () => {
    const { table, placement, pipeline, closed, stop } = await closing();
    table.acknowledged(table.report(), { sentAt: 500, leaseMs: 1_000, fenced: [id] });
    await stop();
    expect([await closed, placement.status, pipeline?.isAbandoned]).toEqual(['pipeline_not_running', 'fenced', true]);
  });

  it('has what is left of its time cut short when its whole group goes, and not taken away', async () => {
    const { table, pipeline, closed, stop } = await closing(60_000);
    const deleted = table.delete(id, 1, 5_000);
    await turns();
    expect([table.list().length, pipeline?.isAbandoned]).toEqual([1, false]);
    await stop();
    expect([await closed, await deleted, table.list()]).toEqual(['closed', true, []]);
  });

  it('is let go when it takes longer than its whole group has', async () => {
    const { table, pipeline, closed, stop, waits } = await closing(60_000);
    const deleted = table.delete(id, 1, 5_000);
    await turns();
    for (const { ms, end } of waits) if (ms === 5_000) end();
    expect([await deleted, pipeline?.isAbandoned, table.list()]).toEqual([true, true, []]);
    await stop();
    expect(await closed).toBe('pipeline_not_running');
  });

  it('waits for nobody any more when it leaves and is to stay after all', async () => {
    const { table, placement, pipeline, closed } = await closing(60_000);
    table.put(id, request(2));
    await turns();
    expect([await closed, placement.status, pipeline?.isOpen]).toEqual(['stale_epoch', 'running', true]);
    await table.deliver(id, delivery(2, 2) as never);
    expect([pipeline?.seen, pipeline?.isAbandoned]).toEqual([[1, 2], false]);
  });

  it('goes on first when it leaves and was closed to go on elsewhere', async () => {
    const { host, table, placement, pipeline, closed, stop } = await closing();
    await stop();
    expect(await closed).toBe('closed');
    await expect(placement.close(1, { flushMs: 0 })).rejects.toMatchObject({ code: 'pipeline_not_running' });
    expect([placement.status, table.report().pipelines?.[0]?.status]).toEqual(['starting', 'starting']);
    table.acknowledged(table.report(), { sentAt: 0, leaseMs: 1_000, fenced: [] });
    await turns();
    expect([placement.status, pipeline?.isOpen, host.pipelines.size]).toEqual(['running', true, 1]);
    const left = placement.close(1, { flushMs: 0 });
    await turns();
    await stop();
    expect([(await left).status, (await placement.close(1, { flushMs: 0 })).status]).toEqual(['closed', 'closed']);
  });
});
