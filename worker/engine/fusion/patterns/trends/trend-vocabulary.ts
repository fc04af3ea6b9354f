/** Functions that the generated code of trends calls. A value of NaN stands for none. */
export const trendLibrary = {
  lesserOf: (a: number, b: number): number => (b < a || Number.isNaN(a) ? b : a),
  greaterOf: (a: number, b: number): number => (b > a || Number.isNaN(a) ? b : a),
  isWhole: (value: number): boolean => value === Math.floor(value),
} as const;

/** Properties of kernels, panes and windows of trends. */
export const trendProperties = [
  'current',
  'paneAt',
  'wasLate',
  'late',
  'last',
  'bursts',
  'unopened',
  'openAll',
  'loud',
  'stir',
  'windows',
  'open',
  'lazy',
  'settle',
  'took',
  'takeSlowly',
  'hold',
  'release',
  'exact',
  'moved',
  'counts',
  'pane',
  'end',
] as const;
