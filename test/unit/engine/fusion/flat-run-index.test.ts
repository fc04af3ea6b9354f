import { describe, expect, it } from 'vitest';
import { FlatRunIndex } from '../../../../worker/engine/fusion/patterns/flat-run-index.ts';
import { FlatRuns } from '../../../../worker/engine/fusion/patterns/flat-runs.ts';
import { NONE } from '../../../../worker/engine/fusion/patterns/run-columns.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

class Runs {
  readonly columns = new FlatRuns({
    kept: [],
    isPartitioned: false,
    withinMs: null,
    isEndSeen: false,
    watermark: () => 0,
    close: (run) => this.end(run),
  });
  readonly index = new FlatRunIndex(this.columns);

  begin(value: number | null, began: number): number {
    const run = this.columns.begin(0, value, null, began, 0, ALWAYS);
    this.index.add(run);
    return run;
  }

  end(run: number): void {
    this.index.remove(run);
    this.columns.remove(run);
  }

  /** When the runs of a value began, in the order in which they are found. */
  found(value: number | null): number[] {
    const begun: number[] = [];
    for (let run = this.index.find(value); run !== NONE; run = this.columns.next[run] as number)
      begun.push(this.columns.began[run] as number);
    return begun;
  }
}

/** Whole numbers, halves, thirds, large ones, and such as all fall on one place of a table of 32 bits. */
const spreads: readonly (readonly [name: string, of: (value: number) => number])[] = [
  ['small whole numbers', (value) => value - 20],
  ['halves', (value) => value / 2],
  ['thirds', (value) => value / 3],
  ['multiples of 2 to the power of 16', (value) => value * 2 ** 16],
  ['multiples of 2 to the power of 70', (value) => value * 2 ** 70],
];

describe('runs that are numbers', () => {
  it.each(spreads)('are found in order of beginning, whatever comes and goes: %s', (_, of) => {
    const runs = new Runs();
    const open: { run: number; value: number; began: number }[] = [];
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let began = 0; began < 6_000; began++) {
      if (open.length === 0 || (open.length < 450 && random(3) > 0)) {
        const value = of(random(400));
        open.push({ run: runs.begin(value, began), value, began });
      } else runs.end(open.splice(random(open.length), 1)[0]?.run as number);
      const value = of(random(400));
      expect(runs.found(value)).toEqual(open.filter((one) => one.value === value).map((one) => one.began));
      expect(runs.columns.size).toBe(open.length);
    }
  });

  it('stand in order of beginning even when they come late', () => {
    const runs = new Runs();
    for (const began of [5, 9, 2, 7, 1]) runs.begin(7, began);
    expect(runs.found(7)).toEqual([1, 2, 5, 7, 9]);
  });

  it('are found by zero whatever its sign, and nowhere without a value', () => {
    const runs = new Runs();
    runs.begin(-0, 1);
    const nowhere = runs.begin(null, 2);
    expect(runs.found(0)).toEqual([1]);
    expect(runs.found(null)).toEqual([]);
    runs.end(nowhere);
    expect(runs.found(0)).toEqual([1]);
  });

  it('end by their deadlines, also where these are not in order of beginning', () => {
    const runs = new Runs();
    for (const [began, last] of [
      [1, 50],
      [2, 10],
      [3, 30],
      [4, 70],
    ] as const)
      runs.index.add(runs.columns.begin(0, 7, null, began, 0, last));
    runs.columns.advance(40);
    expect(runs.found(7)).toEqual([1, 4]);
    runs.columns.closeOldest();
    expect(runs.found(7)).toEqual([4]);
    runs.columns.advance(ALWAYS);
    expect(runs.columns.size).toBe(0);
  });
});
