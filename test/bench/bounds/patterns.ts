import type { MakeBound } from './bound.ts';
import { TICK } from './lines.ts';

const WITHIN_MS = 60_000;

/** More than can be open within the time. A power of two. */
const OPEN_MAX = 1 << 17;

/** The time of each A without its B, by id; As leave in the order in which they came. */
export const sequenceBound: MakeBound = ({ output }) => {
  const openSince = new Map<number, number>();
  const ids = new Float64Array(OPEN_MAX);
  const times = new Float64Array(OPEN_MAX);
  let oldest = 0;
  let next = 0;
  const expire = (time: number): void => {
    for (; oldest !== next && time - (times[oldest] as number) > WITHIN_MS; oldest = (oldest + 1) & (OPEN_MAX - 1)) {
      openSince.delete(ids[oldest] as number);
    }
  };
  const takeA = (time: number, id: number): void => {
    expire(time);
    openSince.set(id, time);
    times[next] = time;
    ids[next] = id;
    next = (next + 1) & (OPEN_MAX - 1);
  };
  const takeB = (time: number, id: number): void => {
    const since = openSince.get(id);
    if (since === undefined) return;
    openSince.delete(id);
    if (time - since <= WITHIN_MS) output('Pairs', time, { first: id, second: id }, id);
  };
  const fields = { id: 'number' } as const;
  return {
    lines: [
      { type: 'A', fields, take: takeA },
      { type: 'B', fields, take: takeB },
    ],
  };
};

/** A run of rising prices; `steps` is 0 until the closure holds something. */
interface Rise {
  readonly from: number;
  readonly since: number;
  last: number;
  steps: number;
}

/** The open runs of each symbol, oldest first. */
export const risingRunBound: MakeBound = ({ names, output }) => {
  const runsOf: Rise[][] = [];
  /** Whether the run stays open. */
  const offer = (run: Rise, symbol: number, price: number, time: number): boolean => {
    const took = time - run.since;
    if (took > WITHIN_MS) return false;
    if (run.steps > 0 && price > run.last) {
      const fields = { symbol: names.text(symbol), from_price: run.from, to_price: price, steps: run.steps, took_ms: took };
      output('Rises', time, fields, price);
      return false;
    }
    if (price > run.from) {
      run.last = price;
      run.steps++;
    }
    return true;
  };
  return {
    lines: [
      {
        ...TICK,
        take(time, symbol, price) {
          runsOf[symbol] ??= [];
          const runs = runsOf[symbol];
          let kept = 0;
          for (const run of runs) if (offer(run, symbol, price, time)) runs[kept++] = run;
          runs.length = kept;
          runs.push({ from: price, since: time, last: price, steps: 0 });
        },
      },
    ],
  };
};
