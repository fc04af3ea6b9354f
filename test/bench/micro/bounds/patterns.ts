import type { MakeMicroBound } from '../case.ts';

const WITHIN_MS = 60_000;

interface Run {
  readonly since: number;
  readonly id: number;
  readonly least: number;
  value: number;
  isDone: boolean;
  next: Run | null;
}

/** A -> B -> C by id, a B's value above that of its A: runs that wait for a B, and for a C, each by id; all in order of their ends. */
export const chainBound: MakeMicroBound = (output) => {
  const waitForB = new Map<number, Run>();
  const waitForC = new Map<number, Run>();
  let runs: Run[] = [];
  let oldest = 0;
  const expire = (time: number): void => {
    for (; oldest < runs.length; oldest++) {
      const run = runs[oldest] as Run;
      if (!run.isDone && time - run.since <= WITHIN_MS) break;
      if (run.isDone) continue;
      waitForB.delete(run.id);
      waitForC.delete(run.id);
    }
    if (oldest < 4_096 || oldest * 2 < runs.length) return;
    runs = runs.slice(oldest);
    oldest = 0;
  };
  return [
    (time: number, id: number, value: number) => {
      expire(time);
      const run: Run = { since: time, id, least: value, value: 0, isDone: false, next: waitForB.get(id) ?? null };
      waitForB.set(id, run);
      runs.push(run);
    },
    (time: number, id: number, value: number) => {
      expire(time);
      const first = waitForB.get(id);
      if (first === undefined) return;
      let left: Run | null = null;
      for (let run: Run | null = first; run !== null; ) {
        const { next }: Run = run;
        if (value > run.least) {
          run.value = value;
          run.next = waitForC.get(id) ?? null;
          waitForC.set(id, run);
        } else {
          run.next = left;
          left = run;
        }
        run = next;
      }
      if (left === null) waitForB.delete(id);
      else waitForB.set(id, left);
    },
    (time: number, id: number) => {
      expire(time);
      const first = waitForC.get(id);
      if (first === undefined) return;
      waitForC.delete(id);
      for (let run: Run | null = first; run !== null; run = run.next) {
        run.isDone = true;
        output({ id, value: run.value }, run.value);
      }
    },
  ];
};

/**
 * A -> B+ -> C within a time: every B is in all open closures, so a run is where its part of the Bs begins. `isAny`: a match ends all
 * runs, else they are independent of each other.
 */
export function closureBound(withinMs: number, isAny: boolean): MakeMicroBound {
  return (output) => {
    const times: number[] = [];
    const ids: number[] = [];
    const starts: number[] = [];
    let taken = 0;
    let oldest = 0;
    const clear = (): void => {
      times.length = 0;
      ids.length = 0;
      starts.length = 0;
      oldest = 0;
    };
    const expire = (time: number): void => {
      while (oldest < times.length && time - (times[oldest] as number) > withinMs) oldest++;
      if (oldest === times.length && oldest > 0) clear();
    };
    return [
      (time: number, id: number) => {
        expire(time);
        times.push(time);
        ids.push(id);
        starts.push(taken);
      },
      () => {
        taken++;
      },
      (time: number) => {
        expire(time);
        let kept = oldest;
        for (let run = oldest; run < times.length; run++) {
          const count = taken - (starts[run] as number);
          if (count > 0) {
            output({ id: ids[run], taken: count }, count);
            if (isAny) return clear();
            continue;
          }
          times[kept] = times[run] as number;
          ids[kept] = ids[run] as number;
          starts[kept++] = starts[run] as number;
        }
        times.length = kept;
        ids.length = kept;
        starts.length = kept;
      },
    ];
  };
}

/** Trends of A -> B+ in windows, for several beginnings and the same B: what was counted for each, two numbers. */
export function trendsBound(windowMs: number, beginnings: number, queries: number): MakeMicroBound {
  return (output) => {
    const begun = new Float64Array(beginnings);
    const trends = new Float64Array(beginnings);
    let end = Number.NaN;
    const close = (time: number): void => {
      for (let query = 0; query < queries; query++) {
        const count = trends[query % beginnings] as number;
        if (count > 0) output({ trends: count }, count);
      }
      begun.fill(0);
      trends.fill(0);
      end = Math.floor(time / windowMs) * windowMs + windowMs;
    };
    const begin = Array.from({ length: beginnings }, (_, which) => (time: number) => {
      if (!(time < end)) close(time);
      begun[which] = (begun[which] as number) + 1;
    });
    const take = (time: number): void => {
      if (!(time < end)) close(time);
      for (let which = 0; which < beginnings; which++) {
        trends[which] = 2 * (trends[which] as number) + (begun[which] as number);
      }
    };
    return [...begin, take];
  };
}
