/** What a measured process prints of its runs in the same process; the first is cold. */
export interface RunFigures {
  readonly timesMs: readonly number[];
  /** Of the last run. */
  readonly outputs: number;
  readonly sum: number;
}
