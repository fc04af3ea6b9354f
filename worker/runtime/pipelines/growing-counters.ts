import type { StreamMetrics } from '../service.ts';
import type { CountersReply } from '../threads/messages.ts';
import type { BudgetDrop } from './budget-drops.ts';

export const noCounters: CountersReply = {
  eventsIncomplete: 0,
  eventsLate: 0,
  eventsUnread: 0,
  unreadTypes: {},
  nearestTypes: {},
  watermark: null,
  streams: [],
  eventsByType: {},
  incompleteFields: {},
};

/** Counters of an engine, and what its streams have counted together, those that the program has no longer included. */
export interface GrownCounters extends CountersReply {
  readonly taps: Counts;
}

/** Counters remembered of streams and types that are gone, before the oldest of them are forgotten. */
const REMEMBERED_MAX = 20_000;
/** The same of taps, whose names a program gives. */
const TAPS_REMEMBERED_MAX = 1_000;

type Counts = Readonly<Record<string, number>>;

/**
 * What the engines of one pipeline have counted, one after the other, as numbers that only grow. An engine counts on from the
 * state that it is given. Where that is the state it had (it was moved, or what came since its last saved state comes again), a
 * number that is lower than before is one that will be reached again. Where it is another state, `rebase` says so.
 */
export class GrowingCounters {
  /** By counter: what the engine said last, at its highest, and what that amounts to with all that came before. */
  readonly #counters = new Map<string, { last: number; total: number }>();
  /** Of all streams together: what the engine of each says grew. */
  readonly #taps = new Map<string, number>();
  #streams = new Set<string>();
  #grown = noCounters;

  /** As the engine's own, each with all that was counted before. */
  get grown(): GrownCounters {
    return { ...this.#grown, taps: Object.fromEntries(this.#taps) };
  }

  /** Gives what streams have dropped since they were heard of last; what one comes with that nothing was heard of is not new. */
  take(counters: CountersReply): readonly BudgetDrop[] {
    const known = this.#streams;
    const drops: BudgetDrop[] = [];
    this.#startAfresh(counters.streams);
    this.#grown = mapped(counters, (name, count, part) => {
      const { total, more } = this.#grow(name, count);
      if (more === 0 || part === undefined) return total;
      const { stream, tap, dropped } = part;
      if (tap !== undefined) this.#taps.set(tap, (this.#taps.get(tap) ?? 0) + more);
      else if (known.has(stream)) drops.push({ stream, reason: dropped, count: more });
      return total;
    });
    if (this.#counters.size > REMEMBERED_MAX) this.#forget(counters);
    if (this.#taps.size > TAPS_REMEMBERED_MAX) this.#forgetTaps(counters);
    return drops;
  }

  /** The engine has another state: what it says from now on counts from these numbers on. */
  rebase(counters: CountersReply): void {
    for (const counter of this.#counters.values()) counter.last = 0;
    this.#streams = new Set(counters.streams.map(({ name }) => name));
    this.#grown = mapped(counters, (name, count) => {
      const { total } = this.#counters.get(name) ?? { total: 0 };
      this.#counters.set(name, { last: count, total });
      return total;
    });
  }

  #grow(name: string, count: number): { readonly total: number; readonly more: number } {
    const counter = this.#counters.get(name) ?? { last: 0, total: 0 };
    const more = Math.max(0, count - counter.last);
    const total = counter.total + more;
    this.#counters.set(name, { last: counter.last + more, total });
    return { total, more };
  }

  /** A stream that the program has again counts from 0. */
  #startAfresh(streams: readonly StreamMetrics[]): void {
    const now = new Set(streams.map(({ name }) => name));
    const gone = [...this.#streams].filter((name) => !now.has(name)).map((name) => `stream\0${name}\0`);
    this.#streams = now;
    if (gone.length === 0) return;
    for (const [name, counter] of this.#counters) if (gone.some((prefix) => name.startsWith(prefix))) counter.last = 0;
  }

  #forgetTaps({ streams }: CountersReply): void {
    const present = new Set(streams.flatMap(({ taps }) => Object.keys(taps)));
    for (const name of this.#taps.keys()) {
      if (this.#taps.size <= TAPS_REMEMBERED_MAX) return;
      if (!present.has(name)) this.#taps.delete(name);
    }
  }

  #forget(counters: CountersReply): void {
    const present = new Set<string>();
    mapped(counters, (name, count) => {
      present.add(name);
      return count;
    });
    for (const name of this.#counters.keys()) {
      if (this.#counters.size <= REMEMBERED_MAX) return;
      if (!present.has(name)) this.#counters.delete(name);
    }
  }
}

/** A counter of a stream that has a name of its own. */
type Part = { readonly stream: string } & (
  | { readonly tap: string; readonly dropped?: undefined }
  | { readonly dropped: string; readonly tap?: undefined }
);
type Change = (name: string, count: number, part?: Part) => number;

function mapped(counters: CountersReply, change: Change): CountersReply {
  const { eventsIncomplete, eventsLate, eventsUnread, unreadTypes, nearestTypes, watermark, streams, eventsByType, incompleteFields } =
    counters;
  return {
    eventsIncomplete: change('incomplete', eventsIncomplete),
    eventsLate: change('late', eventsLate),
    eventsUnread: change('unread', eventsUnread),
    unreadTypes: changed(unreadTypes, (type, count) => change(`unread\0${type}`, count)),
    nearestTypes,
    watermark,
    streams: streams.map((stream) => changedStream(stream, change)),
    eventsByType: changed(eventsByType, (type, count) => change(`type\0${type}`, count)),
    incompleteFields: Object.fromEntries(
      Object.entries(incompleteFields).map(([type, fields]) => [
        type,
        changed(fields, (field, count) => change(`field\0${type}\0${field}`, count)),
      ]),
    ),
  };
}

/** What runs and waits is no counter. */
function changedStream(stream: StreamMetrics, change: Change): StreamMetrics {
  const of = `stream\0${stream.name}\0`;
  const { eventsIn, eventsOut, late, failures, suppressed, runsDropped, taps } = stream;
  return {
    ...stream,
    ...changed({ eventsIn, eventsOut, late, failures, suppressed }, (name, count) => change(`${of}${name}`, count)),
    runsDropped: changed(runsDropped, (reason, count) =>
      change(`${of}dropped\0${reason}`, count, { stream: stream.name, dropped: reason }),
    ),
    taps: changed(taps, (name, count) => change(`${of}tap\0${name}`, count, { stream: stream.name, tap: name })),
  };
}

function changed(counts: Counts, change: (name: string, count: number) => number): Counts {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, change(name, count)]));
}
