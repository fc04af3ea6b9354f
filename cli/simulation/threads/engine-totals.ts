import type { EngineCounters } from '../../../worker/engine/engine.ts';
import type { NotedCounters } from '../totals.ts';

/** What the noted counters of a stream have gone up by. */
export interface StreamTally {
  readonly name: string;
  readonly eventsOut: number;
  readonly failures: number;
  readonly late: number;
  /** Those that went up, in the order in which the engine first counted them. */
  readonly runsDropped: readonly (readonly [string, number])[];
  readonly taps: readonly (readonly [string, number])[];
}

/** What the noted counters of an engine have gone up by. */
export interface EngineTally {
  /** Those of which something went up. */
  readonly streams: readonly StreamTally[];
  readonly late: number;
  readonly untimed: number;
  readonly unread: number;
  readonly unreadTypes: readonly (readonly [string, number])[];
  /** Where event time stands; null before the first event. */
  readonly time: number | null;
}

/** Says what the counters of an engine go up by between two moments. */
export class TallyDifference {
  #before = new Map<string, NotedCounters>();
  #input: Omit<EngineTally, 'streams'> = NO_INPUT;

  /** Since the last call. */
  next({ streams, eventsLate: late, eventsUntimed: untimed, eventsUnread: unread, unreadTypes, time }: EngineCounters): EngineTally {
    const tallies = Array.from(streams, ([name, now]) => difference(name, now, this.#before.get(name) ?? NONE)).filter(isSome);
    for (const { name } of tallies) this.#before.set(name, copyOf(streams.get(name) ?? NONE));
    const before = this.#input;
    this.#input = { late, untimed, unread, unreadTypes: [...unreadTypes], time };
    return {
      streams: tallies,
      late: late - before.late,
      untimed: untimed - before.untimed,
      unread: unread - before.unread,
      unreadTypes: risen(unreadTypes, new Map(before.unreadTypes)),
      time,
    };
  }
}

/** The counters of a program, added up from what engines have counted apart. */
export class EngineTotals {
  readonly #streams = new Map<string, NotedCounters>();
  readonly #unreadTypes = new Map<string, number>();
  late = 0;
  /** Events whose time nothing but an offset in the file, or nothing at all, said. */
  untimed = 0;
  unread = 0;
  /** The highest event time; null before the first event. */
  time: number | null = null;

  /** `names`: all streams, in the order in which they are told of. */
  constructor(names: readonly string[]) {
    for (const name of names) this.#streams.set(name, NONE);
  }

  get streams(): ReadonlyMap<string, NotedCounters> {
    return this.#streams;
  }

  /** Types that no stream reads, with how many events of each. */
  get unreadTypes(): ReadonlyMap<string, number> {
    return this.#unreadTypes;
  }

  add({ streams, late, untimed, unread, unreadTypes, time }: EngineTally): void {
    this.late += late;
    this.untimed += untimed;
    this.unread += unread;
    addAll(this.#unreadTypes, unreadTypes);
    if (time !== null) this.time = Math.max(time, this.time ?? time);
    this.#addStreams(streams);
  }

  #addStreams(tallies: readonly StreamTally[]): void {
    for (const { name, eventsOut, failures, late, runsDropped, taps } of tallies) {
      const before = this.#streams.get(name) ?? NONE;
      this.#streams.set(name, {
        eventsOut: before.eventsOut + eventsOut,
        failures: before.failures + failures,
        late: before.late + late,
        runsDropped: added(before.runsDropped, runsDropped),
        taps: added(before.taps, taps),
      });
    }
  }
}

const NO_INPUT: Omit<EngineTally, 'streams'> = { late: 0, untimed: 0, unread: 0, unreadTypes: [], time: null };
const NO_COUNTS: ReadonlyMap<string, number> = new Map();
const NONE: NotedCounters = { eventsOut: 0, failures: 0, late: 0, runsDropped: NO_COUNTS, taps: NO_COUNTS };

function copyOf({ eventsOut, failures, late, runsDropped, taps }: NotedCounters): NotedCounters {
  return { eventsOut, failures, late, runsDropped: copyOfCounts(runsDropped), taps: copyOfCounts(taps) };
}

function copyOfCounts(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return counts.size === 0 ? NO_COUNTS : new Map(counts);
}

function difference(name: string, now: NotedCounters, before: NotedCounters): StreamTally {
  return {
    name,
    eventsOut: now.eventsOut - before.eventsOut,
    failures: now.failures - before.failures,
    late: now.late - before.late,
    runsDropped: risen(now.runsDropped, before.runsDropped),
    taps: risen(now.taps, before.taps),
  };
}

const NO_RISE: readonly never[] = [];

function risen(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  if (now.size === 0) return NO_RISE;
  return Array.from(now, ([key, count]) => [key, count - (before.get(key) ?? 0)] as const).filter(([, more]) => more > 0);
}

function isSome({ eventsOut, failures, late, runsDropped, taps }: StreamTally): boolean {
  return eventsOut > 0 || failures > 0 || late > 0 || runsDropped.length > 0 || taps.length > 0;
}

function added(counts: ReadonlyMap<string, number>, more: readonly (readonly [string, number])[]): ReadonlyMap<string, number> {
  if (more.length === 0) return counts;
  const all = new Map(counts);
  addAll(all, more);
  return all;
}

function addAll(totals: Map<string, number>, more: readonly (readonly [string, number])[]): void {
  for (const [key, count] of more) totals.set(key, (totals.get(key) ?? 0) + count);
}
