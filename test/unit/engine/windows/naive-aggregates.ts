import { ms, type TestEvent } from './timeline.ts';

/** The aggregates that the tests ask for, as text of the language. */
export const AGGREGATES = [
  'n: count()',
  'nv: count(v)',
  'big: count() where v > 4',
  'total: sum(v * 2)',
  'mean: round(avg(v), 6)',
  'low: min(v)',
  'high: max(v)',
  'range: max(v) - min(v)',
  'sd: round(stddev(v), 6)',
  'var: round(variance(v), 6)',
  'mid: median(v)',
  'p: round(percentile(v, 0.9), 6)',
  'head: first(i)',
  'tail: last(v)',
  'kinds: count_distinct(v)',
  'all: collect(i)',
  'best: top(v, 2)',
  'smooth: round(ema(v, 3), 6)',
];
export const AGGREGATE_NAMES = AGGREGATES.map((one) => one.slice(0, one.indexOf(':')));

type Json = number | string | boolean | null | readonly Json[];

/** What they give for events, told in the order in which the window sees them. */
export function aggregated(seen: readonly TestEvent[]): Record<string, Json> {
  const values = seen.map((event) => event.v).filter((v) => v !== null);
  const byTime = [...seen].sort((a, b) => a.us - b.us || a.index - b.index);
  const sorted = [...values].sort((a, b) => a - b);
  const variance = varianceOf(values);
  return {
    n: seen.length,
    nv: values.length,
    big: values.filter((v) => v > 4).length,
    total: values.reduce((sum, v) => sum + 2 * v, 0),
    mean: round6(values.length === 0 ? null : values.reduce((sum, v) => sum + v, 0) / values.length),
    low: sorted[0] ?? null,
    high: sorted.at(-1) ?? null,
    range: sorted.length === 0 ? null : (sorted.at(-1) as number) - (sorted[0] as number),
    sd: round6(variance === null ? null : Math.sqrt(variance)),
    var: round6(variance),
    mid: quantile(sorted, 0.5),
    p: round6(quantile(sorted, 0.9)),
    head: byTime[0]?.index ?? null,
    tail: byTime.at(-1)?.v ?? null,
    kinds: new Set(values).size,
    all: seen.map((event) => event.index),
    best: sorted.slice(-2).reverse(),
    smooth: round6(values.reduce<number | null>((average, v) => (average === null ? v : v * 0.5 + average * 0.5), null)),
  };
}

/** Half away from zero. */
function round6(value: number | null): number | null {
  if (value === null) return null;
  return (Math.sign(value) * Math.round(Math.abs(value) * 1e6)) / 1e6 + 0;
}

function varianceOf(values: readonly number[]): number | null {
  const n = values.length;
  if (n < 2) return null;
  const mean = values.reduce((sum, v) => sum + v, 0) / n;
  return values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (n - 1);
}

function quantile(sorted: readonly number[], q: number): number | null {
  if (sorted.length === 0) return null;
  const rank = q * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(rank)] as number, sorted[Math.ceil(rank)] as number];
  return low + (high - low) * (rank - Math.floor(rank));
}

/** A window that an oracle found to give a result. */
export interface Result {
  readonly key: string | null;
  /** In the order in which the window sees them. */
  readonly seen: readonly TestEvent[];
  readonly timeUs: number;
  readonly startUs: number;
  readonly endUs: number;
  readonly isFinal: boolean;
}

/** What the window's `.aggregate(..).emit(..)` says of it. */
export const EMIT = `.emit(k: k, ${AGGREGATE_NAMES.map((name) => `${name}: ${name}`).join(', ')}, s: window_start, e: window_end, f: is_final)`;

export function outputOf(stream: string, { key, seen, timeUs, startUs, endUs, isFinal }: Result): string {
  const fields = { k: key, ...aggregated(seen), s: ms(startUs), e: ms(endUs), f: isFinal };
  return `${stream}@${ms(timeUs)} ${JSON.stringify(fields)}`;
}

/** In order of arrival, or with `out_of_order` in order of event time. */
export function asSeen(events: readonly TestEvent[], outOfOrderUs: number): readonly TestEvent[] {
  const arrived = [...events].sort((a, b) => a.index - b.index);
  return outOfOrderUs > 0 ? arrived.sort((a, b) => a.us - b.us || a.index - b.index) : arrived;
}

export function lateOutput(event: TestEvent): string {
  return `L@${ms(event.us)} ${JSON.stringify({ i: event.index })}`;
}
