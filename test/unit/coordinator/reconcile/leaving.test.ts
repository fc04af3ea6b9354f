import { expect, it } from 'vitest';
import { SimulatedCluster } from './simulated-cluster.ts';

async function beats(cluster: SimulatedCluster, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const worker of cluster.processes) cluster.beat(worker);
    await cluster.settle(500);
    cluster.network.advance(1_000);
    await cluster.turn();
  }
}

async function begun(): Promise<{ cluster: SimulatedCluster; id: string; epoch: number }> {
  const cluster = new SimulatedCluster();
  cluster.start('w1');
  cluster.deploy(['p', 'q']);
  await beats(cluster, 3);
  const { id, epoch } = cluster.placement(1) as { id: string; epoch: number };
  return { cluster, id, epoch };
}

it('a pipeline that is taken out of its group gets all that was accepted for it, and only then goes', async () => {
  const { cluster, id, epoch } = await begun();
  const worker = cluster.process('w1');
  const pipeline = worker?.table.get(id).pipeline as unknown as { readonly seen: readonly number[]; readonly isAbandoned: boolean };
  worker?.stop();
  for (let batch = 0; batch < 3; batch++) cluster.inject(id);
  cluster.change(['p'], 2);
  await cluster.settle(500);
  expect([pipeline.seen, cluster.state.placements.get(id)]).toEqual([[], expect.objectContaining({ epoch, leavingVersion: 1 })]);
  worker?.goOn();
  await beats(cluster, 6);
  expect([pipeline.seen, pipeline.isAbandoned, cluster.state.placements.has(id)]).toEqual([[1, 2, 3], true, false]);
  expect([worker?.table.list().map((held) => held.placement_id), cluster.state.ingressLogs.get(id)]).toEqual([
    [cluster.placement(0)?.id],
    undefined,
  ]);
  expect([...cluster.problems, ...(await cluster.heal())]).toEqual([]);
});

it('what leaves goes on elsewhere when its worker is lost, and goes from there', async () => {
  const { cluster, id } = await begun();
  cluster.process('w1')?.stop();
  cluster.inject(id);
  cluster.change(['p'], 2);
  cluster.process('w1')?.kill();
  cluster.start('w2');
  for (let round = 0; round < 30 && cluster.state.placements.has(id); round++) await beats(cluster, 1);
  expect([cluster.state.placements.has(id), cluster.state.ingressLogs.get(id)]).toEqual([false, undefined]);
  expect([...cluster.problems, ...(await cluster.heal())]).toEqual([]);
});

it('a group that is taken down goes once its pipelines have done what they were given', async () => {
  const { cluster, id } = await begun();
  const pipeline = cluster.process('w1')?.table.get(id).pipeline as unknown as { readonly seen: readonly number[] };
  cluster.inject(id);
  cluster.inject(id);
  cluster.coordinators.agree({ type: 'DrainGroup', payload: { id: cluster.groupId } });
  await beats(cluster, 5);
  expect([pipeline.seen, cluster.state.groups.size, cluster.process('w1')?.table.list(), cluster.problems]).toEqual([[1, 2], 0, [], []]);
});

it('a group that is taken down waits for its pipelines when another member leads before it has heard of them', async () => {
  const { cluster, id } = await begun();
  const pipeline = cluster.process('w1')?.table.get(id).pipeline as unknown as { readonly seen: readonly number[] };
  cluster.inject(id);
  cluster.inject(id);
  cluster.coordinators.agree({ type: 'DrainGroup', payload: { id: cluster.groupId } });
  cluster.coordinators.lead(1, 0);
  await cluster.settle(500);
  await beats(cluster, 5);
  expect([pipeline.seen, cluster.state.groups.size, cluster.process('w1')?.table.list(), cluster.problems]).toEqual([[1, 2], 0, [], []]);
});

it('a group that is taken down right after a change waits for its pipelines all the same', async () => {
  const { cluster, id } = await begun();
  const pipeline = cluster.process('w1')?.table.get(id).pipeline as unknown as { readonly seen: readonly number[] };
  cluster.change(['p', 'q'], 2);
  cluster.inject(id);
  cluster.inject(id);
  cluster.coordinators.agree({ type: 'DrainGroup', payload: { id: cluster.groupId } });
  await beats(cluster, 6);
  expect([pipeline.seen, cluster.state.groups.size, cluster.process('w1')?.table.list(), cluster.problems]).toEqual([[1, 2], 0, [], []]);
});

it('what cannot do what it was given is not waited for without end', async () => {
  const { cluster, id } = await begun();
  const worker = cluster.process('w1');
  if (worker !== undefined) worker.host.refuses = true;
  const pipeline = worker?.table.get(id).pipeline as unknown as { status: string };
  pipeline.status = 'failed';
  cluster.inject(id);
  cluster.coordinators.agree({ type: 'DrainGroup', payload: { id: cluster.groupId } });
  await beats(cluster, 15);
  expect([cluster.state.groups.size, worker?.table.list()]).toEqual([0, []]);
});
