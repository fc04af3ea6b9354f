import { expect, it } from 'vitest';
import type { Placement } from '../../../../coordinator/state/cluster-state.ts';
import { CepError } from '../../../../shared/errors/error.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import { settled } from './simulated-network.ts';
import type { SimulatedWorker } from './simulated-worker.ts';

async function beats(cluster: SimulatedCluster, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const worker of cluster.processes) cluster.beat(worker);
    await cluster.settle(500);
  }
}

it('a pipeline that stays in its group goes on, when its checkpoint comes before its worker is told of the change', async () => {
  const cluster = new SimulatedCluster();
  cluster.start('w1');
  cluster.deploy(['p']);
  await beats(cluster, 3);
  const { id, epoch } = cluster.placement(0) as { id: string; epoch: number };
  const worker = cluster.process('w1');
  const [pipeline] = worker?.host.pipelines ?? [];
  cluster.inject(id);
  await beats(cluster, 1);
  const saved = worker?.table
    .get(id)
    .checkpoint(epoch)
    .catch(({ code }: { readonly code: string }) => code);
  cluster.change(['p'], 1);
  // Without a look of the leader nothing is said to the worker but the answers that it waits for.
  for (let answers = 0; answers < 4; answers++) {
    await settled();
    cluster.network.deliver(0);
  }
  expect([await saved, pipeline?.isAbandoned, worker?.table.get(id).status]).toEqual(['storage_unavailable', false, 'running']);
  await cluster.turn();
  await beats(cluster, 2);
  expect([worker?.table.get(id).epoch, pipeline?.isAbandoned]).toEqual([cluster.placement(0)?.epoch, false]);
  const again = pipeline?.saveNow();
  await beats(cluster, 2);
  expect([await again, cluster.state.manifests.get(id)?.at(-1)?.epoch]).toEqual([true, cluster.placement(0)?.epoch]);
  expect([...cluster.problems, ...(await cluster.heal())]).toEqual([]);
});

/** A group whose pipeline runs, and is changed; `done` and `fail` say what comes of it at its worker. */
async function changing() {
  const cluster = new SimulatedCluster();
  cluster.start('w1');
  cluster.deploy(['p']);
  await beats(cluster, 3);
  const { host, table } = cluster.process('w1') as SimulatedWorker;
  const ends: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  host.replacing = () => new Promise((done, fail) => ends.push({ done, fail }));
  cluster.change(['p'], 2);
  await cluster.turn();
  await beats(cluster, 3);
  const { id } = cluster.placement(0) as Placement;
  return { cluster, table, ends, id };
}

it('a group that is changed is deploying until the program of before is replaced, and works meanwhile', async () => {
  const { cluster, table, ends, id } = await changing();
  expect([cluster.placement(0)?.status, table.get(id).status, table.get(id).epoch]).toEqual([
    'assigned',
    'running',
    cluster.placement(0)?.epoch,
  ]);
  cluster.inject(id);
  await beats(cluster, 2);
  expect([table.get(id).pipeline?.received, ends.length]).toEqual([{ _external: 1 }, 1]);
  ends[0]?.done();
  await beats(cluster, 2);
  expect(cluster.placement(0)?.status).toBe('running');
  // Without any time that passes.
  const now = cluster.network.nowMs;
  cluster.change(['p'], 3);
  await cluster.turn();
  await beats(cluster, 1);
  expect([ends.length, cluster.network.nowMs]).toEqual([2, now]);
});

it('a group whose new program a worker refuses says why, and the one before runs on', async () => {
  const { cluster, table, ends, id } = await changing();
  const epoch = cluster.placement(0)?.epoch;
  ends[0]?.fail(new CepError('validation_error', 'it does not run here'));
  await beats(cluster, 2);
  expect(cluster.placement(0)).toMatchObject({
    status: 'degraded',
    error: 'its new program cannot run, and the one before runs on: it does not run here',
  });
  cluster.inject(id);
  await beats(cluster, 10);
  expect([table.get(id).pipeline?.received, cluster.placement(0)?.epoch]).toEqual([{ _external: 1 }, epoch]);
});
