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
});
