/** What tells the watermark, as an operator's environment does. */
export interface Watermarked {
  watermark(): number;
  mayHavePassed(time: number): boolean;
}

/** What lies further behind than this, and than ten times what is kept, does not lag: the watermark ran ahead of everything. */
const LAG_MS = 3_600_000;
const LAG_PARTS = 10;

/**
 * The time (ms) at which a row was seen: its own, or the watermark where that lies past it. What is remembered of rows is kept from then on:
 * counted from their own time, that of a key which lags behind others would be gone at once. One event with a time far ahead makes all others
 * lie behind: what is remembered of those is counted from their own time, or every key would stay until time has come to that event.
 * `keptMs`: for how long it is remembered.
 */
export function seenTime(time: number, keptMs: number, environment: Watermarked): number {
  if (!environment.mayHavePassed(time)) return time;
  const watermark = environment.watermark();
  return watermark > time && watermark - time <= Math.max(LAG_MS, LAG_PARTS * keptMs) ? watermark : time;
}
