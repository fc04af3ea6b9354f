/** The middle of some figures, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Of at least one figure. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, min: at(0), max: at(sorted.length - 1) };
}

/** Ratio by ratio, for figures of the same rounds. */
export function ratiosOf(numerators: readonly number[], denominators: readonly number[]): number[] {
  return numerators.map((numerator, round) => numerator / (denominators[round] as number));
}
