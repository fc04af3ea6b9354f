import type { MakeMicroBound } from '../case.ts';

/** Values above a threshold. */
export const filterBound: MakeMicroBound = (output) => [
  (_time: number, key: string, value: number) => {
    if (value > 50) output({ key, value }, value);
  },
];

/** A filter for each key, all with thresholds of their own: one look-up, then those below the value. */
export function equalityBound(thresholds: ReadonlyMap<string, number>): MakeMicroBound {
  return (output) => [
    (_time: number, key: string, value: number) => {
      const threshold = thresholds.get(key);
      if (threshold !== undefined && value > threshold) output({ key, value }, value);
    },
  ];
}

export interface Range {
  readonly above: number;
  readonly below: number;
}

/** Ranges that overlap: between two of their ends all values fit the same ones, which are listed. */
export function rangesBound(ranges: readonly Range[]): MakeMicroBound {
  const ends = Float64Array.from(new Set(ranges.flatMap(({ above, below }) => [above, below]))).sort();
  const fitting = Array.from({ length: ends.length + 1 }, (_, slot) => {
    const [from, to] = [ends[slot - 1] ?? Number.NEGATIVE_INFINITY, ends[slot] ?? Number.POSITIVE_INFINITY];
    return Int32Array.from(ranges.flatMap(({ above, below }, index) => (above <= from && below >= to ? [index] : [])));
  });
  return (output) => [
    (_time: number, key: string, value: number) => {
      const slot = firstFrom(ends, value);
      // A value that is itself an end fits those ranges alone that reach beyond it on both sides.
      const isEnd = ends[slot] === value;
      for (const index of fitting[slot] as Int32Array) {
        if (!isEnd || (ranges[index] as Range).below !== value) output({ key, value }, value);
      }
    },
  ];
}

/** How many of the sorted numbers are smaller. */
function firstFrom(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
