import { expect, it } from 'vitest';
import { SimulatedCluster } from './simulated-cluster.ts';
import { settled } from './simulated-network.ts';

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
