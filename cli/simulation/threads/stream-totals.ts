import type { EngineCounters } from '../../../worker/engine/engine.ts';
import type { NotedCounters } from '../totals.ts';

/** What the noted counters of a stream have gone up by. */
export interface StreamTally {
  readonly name: string;
  readonly failures: number;
  readonly late: number;
  /** Those that went up, in the order in which the engine first counted them. */
  readonly runsDropped: readonly (readonly [string, number])[];
  readonly taps: readonly (readonly [string, number])[];
}

/** Says what the counters of an engine go up by between two moments. */
export class TallyDifference {
  #before = new Map<string, NotedCounters>();

  /** Since the last call. Streams of which nothing went up are left out. */
  next({ streams }: EngineCounters): StreamTally[] {
    const tallies = Array.from(streams, ([name, now]) => difference(name, now, this.#before.get(name) ?? NONE)).filter(isSome);
    for (const { name } of tallies) this.#before.set(name, copyOf(streams.get(name) ?? NONE));
    return tallies;
  }
}

/** The counters of streams, added up from what engines have counted apart. */
export class StreamTotals {
  readonly #streams = new Map<string, NotedCounters>();

  /** `names`: all streams, in the order in which they are told of. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#streams.set(name, copyOf(NONE));
  }

  get streams(): ReadonlyMap<string, NotedCounters> {
    return this.#streams;
  }

  add(tallies: readonly StreamTally[]): void {
    for (const { name, failures, late, runsDropped, taps } of tallies) {
      const total = this.#streams.get(name) ?? copyOf(NONE);
      total.failures += failures;
      total.late += late;
      addAll(total.runsDropped, runsDropped);
      addAll(total.taps, taps);
      this.#streams.set(name, total);
    }
  }
}

const NONE: NotedCounters = { failures: 0, late: 0, runsDropped: new Map(), taps: new Map() };

function copyOf({ failures, late, runsDropped, taps }: NotedCounters): NotedCounters {
  return { failures, late, runsDropped: new Map(runsDropped), taps: new Map(taps) };
}

function difference(name: string, now: NotedCounters, before: NotedCounters): StreamTally {
  return {
    name,
    failures: now.failures - before.failures,
    late: now.late - before.late,
    runsDropped: risen(now.runsDropped, before.runsDropped),
    taps: risen(now.taps, before.taps),
  };
}

function risen(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return Array.from(now, ([key, count]) => [key, count - (before.get(key) ?? 0)] as const).filter(([, more]) => more > 0);
}

function isSome({ failures, late, runsDropped, taps }: StreamTally): boolean {
  return failures > 0 || late > 0 || runsDropped.length > 0 || taps.length > 0;
}

function addAll(totals: Map<string, number>, more: readonly (readonly [string, number])[]): void {
  for (const [key, count] of more) totals.set(key, (totals.get(key) ?? 0) + count);
}
