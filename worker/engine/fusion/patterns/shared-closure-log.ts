/** Fewer values than this are not worth looking through. */
const TRIM_LEAST = 1_024;

/** A run of such a list, as far as the list must know it. */
interface TakingRun {
  readonly first: number;
  readonly last: number;
  readonly next: TakingRun | null;
  seen?: number;
}

/** What a run takes over when it catches up. */
export type TakenEvents = Pick<SharedClosureLog, 'taken' | 'base' | 'lastAt' | 'values' | 'past' | 'pastFrom'>;

/**
 * What the runs of one list take together: the events of a closure that asks nothing of a single run. Such an event is noted once,
 * however many runs wait. A run knows how many it has `seen`, and catches up before anything is read of it.
 */
export class SharedClosureLog {
  /** Events so far. */
  taken = 0;
  /** Of the last one: time, position, and what runs keep of it. */
  base = 0;
  lastAt = 0;
  readonly values: unknown[] = [];
  /** What runs keep of every event, one behind the other, from the one with the number `pastFrom`. */
  past: unknown[] = [];
  pastFrom = 0;
  /** So many values are looked through for such as all runs have seen. */
  trimAt = TRIM_LEAST;
  /** No run holds too many events before so many are taken. */
  fullAt = Infinity;
  /** No run ends sooner. */
  least = Infinity;
  /** No run began later. */
  newest = -Infinity;
  /** The runs end in the order of the list, the last of them then. */
  isOrdered = true;
  #greatest = -Infinity;

  /** A run has come into the list. `spare`: how many events it may still take. */
  join(run: TakingRun, isAlone: boolean, spare: number): void {
    if (isAlone) this.#restart();
    this.isOrdered = this.isOrdered && run.next === null && run.last >= this.#greatest;
    this.least = Math.min(this.least, run.last);
    this.#greatest = Math.max(this.#greatest, run.last);
    this.newest = Math.max(this.newest, run.first);
    this.fullAt = Math.min(this.fullAt, this.taken + spare);
    run.seen = this.taken;
  }

  /**
   * The list, of one run, had taken more events before its runs were saved: these, of which the run has seen none. `events` are as many
   * as `past` has.
   */
  regain(events: number, { past, values, base, lastAt }: Pick<SharedClosureLog, 'past' | 'values' | 'base' | 'lastAt'>): void {
    this.taken += events;
    this.fullAt += events;
    this.past = past;
    this.values.push(...values);
    this.base = base;
    this.lastAt = lastAt;
  }

  #restart(): void {
    if (this.past.length > 0) this.past = [];
    this.pastFrom = this.taken;
    this.fullAt = Infinity;
    this.least = Infinity;
    this.isOrdered = true;
    this.#greatest = -Infinity;
    this.newest = -Infinity;
  }

  /** Forgets what all runs of the list have seen. */
  trim(head: TakingRun | null): void {
    const columns = this.past.length / (this.taken - this.pastFrom);
    let seen = this.taken;
    for (let run: TakingRun | null = head; run !== null; run = run.next) seen = Math.min(seen, run.seen as number);
    this.past = this.past.slice((seen - this.pastFrom) * columns);
    this.pastFrom = seen;
    this.trimAt = Math.max(TRIM_LEAST, 2 * this.past.length);
  }
}

/** The values of events with those from a position on behind them. */
export function pastWith(past: unknown[] | null, shared: readonly unknown[], from: number): unknown[] {
  const longer = past ?? [];
  for (let at = from; at < shared.length; at++) longer.push(shared[at]);
  return longer;
}
