import type { MakeBound } from './bound.ts';

const WITHIN_MS = 60_000;
const TYPE_A = 'A'.charCodeAt(0);

/** The time of each A without its B, by id; As leave in the order in which they came. */
export const sequenceBound: MakeBound = ({ line, output }) => {
  const openSince = new Map<number, number>();
  const expire = (time: number): void => {
    for (const [id, since] of openSince) {
      if (time - since <= WITHIN_MS) return;
      openSince.delete(id);
    }
  };
  return {
    event(time) {
      const isA = line.type() === TYPE_A;
      const id = line.number('A { id: '.length);
      line.endLine(' }\n'.length);
      if (isA) {
        if ((id & 1023) === 0) expire(time);
        openSince.set(id, time);
        return;
      }
      const since = openSince.get(id);
      if (since === undefined) return;
      openSince.delete(id);
      if (time - since <= WITHIN_MS) output('Pairs', time, { first: id, second: id }, id);
    },
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
export const risingRunBound: MakeBound = ({ line, names, output }) => {
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
    event(time) {
      const symbol = line.name('Tick { symbol: '.length);
      const price = line.number(', price: '.length);
      line.number(', volume: '.length);
      line.endLine(' }\n'.length);
      runsOf[symbol] ??= [];
      const runs = runsOf[symbol];
      let kept = 0;
      for (const run of runs) if (offer(run, symbol, price, time)) runs[kept++] = run;
      runs.length = kept;
      runs.push({ from: price, since: time, last: price, steps: 0 });
    },
  };
};
