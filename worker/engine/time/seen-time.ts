/** What tells the watermark, as an operator's environment does. */
export interface Watermarked {
  watermark(): number;
  mayHavePassed(time: number): boolean;
}

/**
 * The time (ms) at which a row was seen: its own, or the watermark where that lies past it. What is remembered of rows is kept from then on:
 * counted from their own time, that of a key which lags behind others would be gone at once.
 */
export function seenTime(time: number, environment: Watermarked): number {
  if (!environment.mayHavePassed(time)) return time;
  const watermark = environment.watermark();
  return watermark > time && watermark < Infinity ? watermark : time;
}
