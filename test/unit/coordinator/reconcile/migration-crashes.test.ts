import { describe, expect, it } from 'vitest';
import { stateProblems } from '../state/invariants.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import type { SimulatedWorker } from './simulated-worker.ts';

const crashes: Readonly<
  Record<string, (cluster: SimulatedCluster, workers: { readonly source: string; readonly target: string }) => void>
> = {
  'the leader is lost, with what it has not had agreed on': (cluster) => cluster.coordinators.lead(1, 0),
  'the leader is lost, and its successor has what it was asked for': (cluster) => cluster.coordinators.lead(1, 9),
  'the source is killed': (cluster, { source }) => cluster.process(source)?.kill(),
  'the source is killed and started again': (cluster, { source }) => cluster.start(source),
  'the source stops, and goes on after its lease': (cluster, { source }) => cluster.process(source)?.stop(),
  'the target is killed': (cluster, { target }) => cluster.process(target)?.kill(),
  'the target is killed and started again': (cluster, { target }) => cluster.start(target),
  'the target stops, and goes on after its lease': (cluster, { target }) => cluster.process(target)?.stop(),
};

async function beats(cluster: SimulatedCluster): Promise<void> {
  for (const worker of cluster.processes) cluster.beat(worker);
  await cluster.settle(500);
}

/** A pipeline with a state, at a worker, and a migration of it to another one that has only just been agreed on. */
async function migrating(): Promise<{ cluster: SimulatedCluster; id: string; source: string; target: string }> {
  const cluster = new SimulatedCluster();
  for (const worker of ['w1', 'w2', 'w3']) cluster.start(worker);
  cluster.deploy(['p']);
  for (let round = 0; round < 3; round++) await beats(cluster);
  const placement = cluster.placement(0);
  const [id, source] = [placement?.id as string, placement?.workerId as string];
  for (let events = 0; events < 3; events++) cluster.inject(id);
  await beats(cluster);
  const target = source === 'w1' ? 'w2' : 'w1';
  cluster.coordinators.agree({ type: 'StartMigration', payload: { placementId: id, targetWorker: target } });
  return { cluster, id, source, target };
}

/** One step of what is under way, and heartbeats when nothing is. False when the migration has ended and the target runs it. */
async function advance(cluster: SimulatedCluster, id: string): Promise<boolean> {
  if (cluster.network.size === 0) for (const worker of cluster.processes) cluster.beat(worker);
  cluster.network.deliver(0);
  await cluster.turn();
  const isOpen = [...cluster.state.migrations.values()].some(({ status }) => status === 'started' || status === 'moved');
  return isOpen || cluster.state.placements.get(id)?.status !== 'running';
}

async function stepsOfMigration(): Promise<number> {
  const { cluster, id } = await migrating();
  let steps = 1;
  while (await advance(cluster, id)) steps++;
  return steps;
}

async function crashAt(step: number, crash: keyof typeof crashes): Promise<readonly string[]> {
  const { cluster, id, source, target } = await migrating();
  for (let at = 0; at < step; at++) await advance(cluster, id);
  cluster.inject(id);
  crashes[crash]?.(cluster, { source, target });
  await cluster.turn();
  cluster.network.advance(16_000);
  await cluster.turn();
  cluster.inject(id);
  const left = await cluster.heal();
  return [...cluster.problems, ...left, ...stateProblems(cluster.state)];
}

describe('a migration', () => {
  it('has more steps than it has phases, so that a crash is tried between any two words', async () => {
    expect(await stepsOfMigration()).toBeGreaterThan(16);
  });

  for (const crash of Object.keys(crashes)) {
    it(`has one owner at each step at which ${crash}, and nothing is lost`, async () => {
      const steps = await stepsOfMigration();
      for (let step = 0; step <= steps; step++) expect([step, await crashAt(step, crash)]).toEqual([step, []]);
    }, 120_000);
  }

  it('leaves the pipeline at work at the source until the target has its program ready', async () => {
    const { cluster, id, source, target } = await migrating();
    const [from, to] = [cluster.process(source), cluster.process(target)] as [SimulatedWorker, SimulatedWorker];
    const seenBefore = [...from.host.pipelines][0]?.seen.length ?? 0;
    cluster.inject(id);
    while (to.host.warmed.size === 0) {
      expect(from.table.get(id).status).toBe('running');
      await advance(cluster, id);
    }
    // The batch was taken meanwhile, or is on its way there: nothing waits for the move yet.
    while (from.table.get(id).status === 'running') await advance(cluster, id);
    expect([...from.host.pipelines][0]?.seen.length).toBe(seenBefore + 1);
    while (await advance(cluster, id));
    expect([to.table.get(id).status, to.host.warmed.size]).toEqual(['running', 0]);
  });

  it('ends where the pipeline runs when its program cannot run at the target', async () => {
    const { cluster, id, source, target } = await migrating();
    (cluster.process(target) as SimulatedWorker).host.refuses = true;
    while (await advance(cluster, id)) expect(cluster.process(source)?.table.get(id).status).toBe('running');
    expect(cluster.state.placements.get(id)).toMatchObject({ workerId: source, status: 'running' });
    const [migration] = [...cluster.state.migrations.values()];
    expect(migration).toMatchObject({ status: 'failed', error: `worker '${target}' cannot run it: it does not run here` });
  });

  it('goes on without, when the target does not say whether it is ready', async () => {
    const { cluster, id, target } = await migrating();
    await advance(cluster, id);
    while (cluster.network.size > 0) cluster.network.lose(0);
    while (await advance(cluster, id));
    expect(cluster.state.placements.get(id)).toMatchObject({ workerId: target, status: 'running' });
  });

  it('is not waited for by a worker that a new leader never hears: that counts as lost', async () => {
    const { cluster, id, source, target } = await migrating();
    cluster.process('w3')?.stop();
    cluster.coordinators.lead(1, 9);
    const step = async (): Promise<void> => {
      for (const worker of [source, target]) cluster.beat(cluster.process(worker) as SimulatedWorker);
      await cluster.settle(50);
    };
    for (let round = 0; round < 3; round++) await step();
    // Nobody knows yet which states the third worker reads.
    expect([cluster.process(source)?.table.get(id).status, cluster.placement(0)?.workerId]).toEqual(['running', source]);
    for (let round = 0; round < 6; round++) {
      cluster.network.advance(5_000);
      await step();
    }
    expect(cluster.state.placements.get(id)).toMatchObject({ workerId: target, status: 'running' });
    expect([...cluster.problems, ...(await cluster.heal())]).toEqual([]);
  });

  it('has one owner when a word to go on at the source comes after it has moved', async () => {
    const { cluster, id, source, target } = await migrating();
    const worker = cluster.process(source);
    const { epoch } = cluster.state.placements.get(id) as { epoch: number };
    while (worker?.table.get(id).status !== 'closed') await advance(cluster, id);
    while (cluster.state.placements.get(id)?.epoch === epoch) await advance(cluster, id);
    await worker.table.get(id).reopen(epoch);
    worker.stop();
    for (let round = 0; round < 3; round++) {
      cluster.beat(cluster.process(target) as SimulatedWorker);
      await cluster.settle(50);
    }
    expect(cluster.state.placements.get(id)).toMatchObject({ workerId: target, status: 'running' });
    const left = await cluster.heal();
    expect([...cluster.problems, ...left]).toEqual([]);
  });

  it('closes the source itself: what was heard of an earlier close may be over', async () => {
    const { cluster, id, source, target } = await migrating();
    const worker = cluster.process(source) as SimulatedWorker;
    while (worker.table.get(id).status !== 'closed') await advance(cluster, id);
    const late = { incarnation: worker.incarnation, ...worker.table.report() };
    // The target takes it no more, so it goes on at the source, and then the heartbeat comes that was made before.
    const { incarnation } = cluster.process(target) as SimulatedWorker;
    cluster.coordinators.agree({ type: 'SetWorkerStatus', payload: { id: target, incarnation, status: 'draining' } });
    while (worker.table.get(id).status !== 'running') await advance(cluster, id);
    cluster.inject(id);
    await beats(cluster);
    await cluster.coordinators.leader.heartbeats.take(source, late);
    const other = ['w1', 'w2', 'w3'].find((one) => one !== source && one !== target) as string;
    cluster.coordinators.agree({ type: 'StartMigration', payload: { placementId: id, targetWorker: other } });
    await cluster.turn();
    while (await advance(cluster, id));
    expect([cluster.problems, await cluster.heal()]).toEqual([[], []]);
  });
});
