import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateProblems } from '../state/invariants.ts';
import { carryOut, type Step, stepArbitrary } from './schedule.ts';
import { SimulatedCluster } from './simulated-cluster.ts';

/** More of them: `FUZZ_SEED=random CEP_RECONCILE_RUNS=5000 npx vitest run test/unit/coordinator/reconcile`. */
const runs = Number(process.env['CEP_RECONCILE_RUNS'] ?? 200);

/** Schedules that found something. */
const known: readonly Step[][] = [
  // A pipeline is taken out of its group and put in again while the worker that has it stands still.
  [
    { what: 'stop', at: 0, other: 0 },
    { what: 'change', at: 1, other: 0 },
    { what: 'change', at: 0, other: 0 },
    { what: 'settle', at: 3, other: 0 },
    { what: 'deliver', at: 0, other: 0 },
    { what: 'deliver', at: 0, other: 0 },
    { what: 'beatAll', at: 1, other: 0 },
    { what: 'migrate', at: 0, other: 0 },
  ],
  // The name of a worker leads to another machine while its process goes on where it was.
  [
    { what: 'startElsewhere', at: 0, other: 0 },
    { what: 'beatAll', at: 4, other: 0 },
    { what: 'settle', at: 3, other: 0 },
    { what: 'deliver', at: 0, other: 0 },
    { what: 'deliver', at: 0, other: 0 },
    { what: 'deliver', at: 5, other: 0 },
    { what: 'beat', at: 10, other: 0 },
    { what: 'beatAll', at: 3, other: 0 },
    { what: 'beat', at: 0, other: 0 },
  ],
];

async function run(steps: readonly Step[]): Promise<readonly string[]> {
  const cluster = new SimulatedCluster();
  for (const id of ['w1', 'w2', 'w3']) cluster.start(id);
  cluster.deploy(['p', 'q', 'r']);
  for (let round = 0; round < 3; round++) {
    for (const worker of cluster.processes) cluster.beat(worker);
    await cluster.settle(200);
  }
  for (const step of steps) {
    await carryOut(cluster, step);
    if (cluster.problems.length > 0) return cluster.problems;
  }
  const left = await cluster.heal();
  return [...cluster.problems, ...left, ...stateProblems(cluster.state)];
}

describe('a cluster in which anything fails at any moment', () => {
  it('never has two owners of a pipeline, and ends with each on one live worker, with all that was accepted', async () => {
    const schedules = fc.array(stepArbitrary, { minLength: 1, maxLength: 60, size: 'max' });
    const property = fc.asyncProperty(schedules, async (steps) => {
      expect(await run(steps)).toEqual([]);
    });
    const examples = known.map((steps): [Step[]] => [steps]);
    await fc.assert(property, { numRuns: runs, examples });
  }, 600_000);

  it('forgets workers that are silent for an hour once there are very many, and never while there are few', async () => {
    const cluster = new SimulatedCluster();
    for (const id of ['w1', 'w2']) cluster.start(id);
    const hours = async (count: number) => {
      cluster.network.advance(count * 3_600_000);
      for (let round = 0; round < 3; round++) {
        for (const worker of cluster.processes) cluster.beat(worker);
        await cluster.settle(200);
      }
    };
    const statusOf = (id: string) => cluster.state.workers.get(id)?.status;
    await hours(0);
    cluster.process('w1')?.kill();
    await hours(25);
    expect(['w1', 'w2'].map(statusOf)).toEqual(['unhealthy', 'ready']);
    for (let at = 0; at < 5_000; at++) {
      const payload = {
        id: `gone-${at}`,
        address: `http://gone-${at}`,
        incarnation: `i-${at}`,
        version: '1',
        cpuCores: 1,
        pipelinesMax: 0,
      };
      cluster.coordinators.agree({ type: 'RegisterWorker', payload });
    }
    await hours(2);
    expect(['w1', 'w2'].map(statusOf)).toEqual(['removed', 'ready']);
  });
});
