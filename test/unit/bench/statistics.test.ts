import { describe, expect, it } from 'vitest';
import { noisyRounds } from '../../bench/calibrator.ts';
import { compare, slowerTwice } from '../../bench/comparison.ts';
import { Histogram } from '../../bench/histogram.ts';
import { seeded } from '../../bench/micro/seeded.ts';
import { ratiosOf, spreadOf } from '../../bench/statistics.ts';

describe('the median of figures', () => {
  it('is the middle one, or between the middle two', () => {
    expect(spreadOf([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(spreadOf([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it('sorts as numbers', () => {
    expect(spreadOf([9, 10, 100]).median).toBe(10);
  });

  it('takes ratios round by round, so that a slow round does not show', () => {
    expect(ratiosOf([10, 100], [5, 50])).toEqual([2, 2]);
  });
});

describe('the histogram', () => {
  it('gives percentiles at most a sixteenth of an octave too high', () => {
    const random = seeded(3);
    const values = Array.from({ length: 20_000 }, () => 1 + random(1_000_000));
    const histogram = new Histogram();
    for (const value of values) histogram.add(value);
    values.sort((a, b) => a - b);
    for (const share of [0.5, 0.99, 0.999]) {
      const exact = values[Math.ceil(share * values.length) - 1] as number;
      expect(histogram.percentile(share)).toBeGreaterThanOrEqual(exact);
      expect(histogram.percentile(share)).toBeLessThanOrEqual(exact * 2 ** (1 / 16));
    }
  });

  it('knows the largest duration exactly and gives no percentile above it', () => {
    const histogram = new Histogram();
    for (const ns of [10, 20, 12_345]) histogram.add(ns);
    expect(histogram.max).toBe(12_345);
    expect(histogram.percentile(1)).toBe(12_345);
    expect(histogram.count).toBe(3);
  });

  it('takes durations that the clock did not see', () => {
    const histogram = new Histogram();
    histogram.add(-5);
    histogram.add(0);
    expect(histogram.percentile(0.5)).toBe(0);
  });
});

describe('the noise marker', () => {
  it('marks rounds whose calibration was over a fifth slower than the fastest of the run', () => {
    const rounds = [
      { before: 100, after: 105 },
      { before: 105, after: 121 },
      { before: 121, after: 100 },
      { before: 119, after: 119 },
    ];
    expect(noisyRounds(rounds)).toEqual([false, true, true, false]);
  });
});

describe('the comparison of two checkouts', () => {
  const pair = (name: string, ours: number[], theirs: number[]) => compare({ name, ours, theirs });

  it('says how fast this one is as a share of the other, by the median of the rounds', () => {
    const { ratio, isSlower } = pair('a', [100, 100, 300], [95, 80, 100]);
    expect(ratio.median).toBeCloseTo(0.8);
    expect(ratio.min).toBeCloseTo(1 / 3);
    expect(ratio.max).toBeCloseTo(0.95);
    expect(isSlower).toBe(true);
  });

  it('lets a tenth pass', () => {
    expect(pair('a', [100], [90]).isSlower).toBe(false);
    expect(pair('a', [100], [89]).isSlower).toBe(true);
  });

  it('names what was slower in two runs one after the other', () => {
    const slow = (name: string) => pair(name, [100], [50]);
    const fast = (name: string) => pair(name, [100], [100]);
    expect(slowerTwice([slow('a'), slow('b'), fast('c')], [slow('a'), fast('b')])).toEqual(['a']);
    expect(slowerTwice([slow('a')], [])).toEqual([]);
  });
});

describe('seeded numbers', () => {
  it('are the same for the same seed and others for another', () => {
    const ten = (seed: number): number[] =>
      Array.from(
        { length: 10 },
        (
          (random) => () =>
            random(1_000)
        )(seeded(seed)),
      );
    expect(ten(1)).toEqual(ten(1));
    expect(ten(1)).not.toEqual(ten(2));
    expect(ten(1).every((value) => Number.isInteger(value) && value >= 0 && value < 1_000)).toBe(true);
  });
});
