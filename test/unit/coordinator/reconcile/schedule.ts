import fc from 'fast-check';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { SimulatedPipeline } from './simulated-pipeline.ts';
import type { SimulatedWorker } from './simulated-worker.ts';

type Act = (cluster: SimulatedCluster, at: number, other: number) => void | Promise<void>;

export interface Step {
  readonly what: string;
  readonly at: number;
  readonly other: number;
}

const ids = ['w1', 'w2', 'w3'];
const changes = [
  ['p', 'q', 'r'],
  ['p', 'q'],
  ['q', 'r', 's'],
];
const advances = [100, 1_000, 5_000, 14_000, 16_000, 31_000];

function idAt(at: number): string {
  return ids[at % ids.length] as string;
}

function withProcess(act: (worker: SimulatedWorker, cluster: SimulatedCluster, other: number) => void): Act {
  return (cluster, at, other) => {
    const worker = cluster.process(idAt(at));
    if (worker !== undefined) act(worker, cluster, other);
  };
}

/** Everything that may happen, and how often it does in proportion. */
const acts: Readonly<Record<string, readonly [weight: number, act: Act]>> = {
  deliver: [8, (cluster, at) => cluster.network.deliver(at)],
  lose: [2, (cluster, at) => cluster.network.lose(at)],
  delay: [2, (cluster, at) => cluster.network.delay(at)],
  settle: [4, (cluster, at) => cluster.settle(at)],
  beat: [5, withProcess((worker, cluster) => cluster.beat(worker))],
  beatAll: [
    4,
    async (cluster, at) => {
      for (const worker of cluster.processes) cluster.beat(worker);
      await cluster.settle(at * 4);
    },
  ],
  advance: [4, (cluster, at) => cluster.network.advance(advances[at % advances.length] as number)],
  kill: [1, withProcess((worker) => worker.kill())],
  proveDead: [
    1,
    (cluster) => {
      for (const worker of cluster.processes) if (!worker.isAlive) cluster.coordinators.leader.reconciler.leases.died(worker);
    },
  ],
  start: [1, (cluster, at) => cluster.start(idAt(at))],
  startElsewhere: [1, (cluster, at) => cluster.startElsewhere(idAt(at))],
  stop: [1, withProcess((worker) => worker.stop())],
  goOn: [2, withProcess((worker) => worker.goOn())],
  drain: [
    1,
    withProcess(({ id, incarnation }, cluster) => {
      cluster.coordinators.agree({ type: 'SetWorkerStatus', payload: { id, incarnation, status: 'draining' } });
    }),
  ],
  remove: [1, (cluster, at) => void cluster.coordinators.agree({ type: 'RemoveWorker', payload: { id: idAt(at) } })],
  migrate: [
    3,
    (cluster, at, other) => {
      const placementId = cluster.placement(at)?.id;
      if (placementId === undefined) return;
      cluster.coordinators.agree({ type: 'StartMigration', payload: { placementId, targetWorker: idAt(other) } });
    },
  ],
  lead: [2, (cluster, at, other) => cluster.coordinators.lead(at, other)],
  inject: [
    3,
    (cluster, at) => {
      const placementId = cluster.placement(at)?.id;
      if (placementId !== undefined) cluster.inject(placementId);
    },
  ],
  save: [
    2,
    withProcess((worker, _cluster, other) => {
      const pipelines = [...worker.host.pipelines];
      const one = pipelines[other % Math.max(1, pipelines.length)];
      if (worker.works && one !== undefined) void one.saveNow();
    }),
  ],
  break: [
    1,
    withProcess((worker, _cluster, other) => {
      const one: SimulatedPipeline | undefined = [...worker.host.pipelines][other % 3];
      if (one?.status === 'running') one.status = 'failed';
    }),
  ],
  refuse: [
    1,
    withProcess((worker) => {
      worker.host.refuses = !worker.host.refuses;
    }),
  ],
  change: [1, (cluster, at, other) => cluster.change(changes[at % changes.length] as string[], other)],
};

export const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  what: fc.oneof(...Object.entries(acts).map(([what, [weight]]) => ({ weight, arbitrary: fc.constant(what) }))),
  at: fc.integer({ min: 0, max: 11 }),
  other: fc.integer({ min: 0, max: 5 }),
});

export async function carryOut(cluster: SimulatedCluster, { what, at, other }: Step): Promise<void> {
  await acts[what]?.[1](cluster, at, other);
  await cluster.turn();
}
