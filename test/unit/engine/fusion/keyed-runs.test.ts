import { describe, expect, it } from 'vitest';
import type { FusedRun, RunIndexKey } from '../../../../worker/engine/fusion/patterns/fused-run.ts';
import { type KeyedRuns, keyedRuns } from '../../../../worker/engine/fusion/patterns/keyed-runs.ts';

const run = (indexKey: RunIndexKey, began: number): FusedRun => ({
  state: 0,
  indexKey,
  key: null,
  began,
  first: began,
  last: Infinity,
  wake: Infinity,
  queued: Infinity,
  before: null,
  after: null,
  previous: null,
  next: null,
});

function found(runs: KeyedRuns, indexKey: RunIndexKey): number[] {
  const begun: number[] = [];
  for (let one = runs.find(indexKey); one !== null; one = one.next) begun.push(one.began);
  return begun;
}

/** Whole numbers, halves, thirds, large ones, and such as all fall on one place of a table of 32 bits. */
const spreads: readonly (readonly [name: string, of: (value: number) => number])[] = [
  ['small whole numbers', (value) => value - 20],
  ['halves', (value) => value / 2],
  ['thirds', (value) => value / 3],
  ['multiples of 2 to the power of 16', (value) => value * 2 ** 16],
  ['multiples of 2 to the power of 70', (value) => value * 2 ** 70],
];

describe('runs found by a number', () => {
  it.each(spreads)('are found in order of beginning, whatever comes and goes: %s', (_, of) => {
    const runs = keyedRuns('number');
    const open: FusedRun[] = [];
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let step = 0; step < 6_000; step++) {
      if (open.length === 0 || (open.length < 450 && random(3) > 0)) {
        const one = run(of(random(400)), step);
        open.push(one);
        runs.add(one);
      } else runs.remove(open.splice(random(open.length), 1)[0] as FusedRun);
      const indexKey = of(random(400));
      const expected = open.filter((one) => one.indexKey === indexKey).map(({ began }) => began);
      expect(found(runs, indexKey)).toEqual(expected);
    }
  });

  it('are found by zero whatever its sign', () => {
    const runs = keyedRuns('number');
    runs.add(run(-0, 1));
    expect(found(runs, 0)).toEqual([1]);
  });
});

describe.each(['number', 'string'] as const)('runs found by a %s', (as) => {
  const [indexKey, other]: readonly [RunIndexKey, RunIndexKey] = as === 'number' ? [7, 8] : ['7', '8'];

  it('stand in order of beginning even when they come late', () => {
    const runs = keyedRuns(as);
    for (const began of [5, 9, 2, 7, 1]) runs.add(run(indexKey, began));
    expect(found(runs, indexKey)).toEqual([1, 2, 5, 7, 9]);
  });

  it('are nowhere without a value', () => {
    const runs = keyedRuns(as);
    const nowhere = run(null, 1);
    runs.add(nowhere);
    expect(found(runs, null)).toEqual([]);
    runs.remove(nowhere);
    expect(found(runs, indexKey)).toEqual([]);
  });

  it('stay while thousands of others come and go', () => {
    const runs = keyedRuns(as);
    runs.add(run(other, 0));
    for (let began = 1; began < 5_000; began++) {
      const one = run(as === 'number' ? began + 100 : `k${began}`, began);
      runs.add(one);
      runs.remove(one);
    }
    expect(found(runs, other)).toEqual([0]);
  });
});
