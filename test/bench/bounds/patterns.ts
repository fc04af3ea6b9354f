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

interface Rise {
  readonly from: number;
  readonly since: number;
  last: number;
  steps: number;
}

/** Open runs of one symbol, oldest first: those that wait for a higher price, and those that have had one. */
interface Rises {
  readonly waiting: Rise[];
  readonly rising: Rise[];
}

/** The open runs of each symbol; an event that could end a run or go on with it ends it. */
export const risingRunBound: MakeBound = ({ names, output }) => {
  const runsOf: Rises[] = [];
  const endOrGoOn = (runs: Rise[], symbol: number, price: number, time: number): void => {
    let kept = 0;
    for (const run of runs) {
      const took = time - run.since;
      if (took > WITHIN_MS) continue;
      if (price > run.last) {
        const fields = { symbol: names.text(symbol), from_price: run.from, to_price: price, steps: run.steps, took_ms: took };
        output('Rises', time, fields, price);
        continue;
      }
      if (price > run.from) {
        run.last = price;
        run.steps++;
      }
      runs[kept++] = run;
    }
    runs.length = kept;
  };
  const begin = ({ waiting, rising }: Rises, price: number, time: number): void => {
    let kept = 0;
    for (const run of waiting) {
      if (time - run.since > WITHIN_MS) continue;
      if (price > run.from) {
        run.last = price;
        run.steps = 1;
        rising.push(run);
      } else waiting[kept++] = run;
    }
    waiting.length = kept;
  };
  return {
    lines: [
      {
        ...TICK,
        take(time, symbol, price) {
          runsOf[symbol] ??= { waiting: [], rising: [] };
          const runs = runsOf[symbol];
          endOrGoOn(runs.rising, symbol, price, time);
          begin(runs, price, time);
          runs.waiting.push({ from: price, since: time, last: 0, steps: 0 });
        },
      },
    ],
  };
};
