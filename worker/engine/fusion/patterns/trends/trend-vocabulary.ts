/** NaN stands for no value. */
function lesserOf(a: number, b: number): number {
  return b < a || Number.isNaN(a) ? b : a;
}

function greaterOf(a: number, b: number): number {
  return b > a || Number.isNaN(a) ? b : a;
}

/** Functions that the generated code of trends calls. */
export const trendLibrary = {
  lesserOf,
  greaterOf,
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
  'groups',
  'moved',
  'counts',
  'pane',
  'end',
] as const;
