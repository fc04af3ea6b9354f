import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter } from '../../time/instants.ts';
import type { FusedRun } from './fused-run.ts';
import type { RunClass } from './kept-matches.ts';
import { nanIfNull } from './number-columns.ts';
import { EARLY_WAKES, LOOKS } from './open-runs.ts';
import { NONE, RunColumns } from './run-columns.ts';
import type { Kept } from './run-form.ts';

/** The number counts for a run as long as that run has it. */
interface Queued {
  readonly run: number;
  readonly began: number;
}

export interface FlatRunsOptions {
  readonly kept: readonly Kept[];
  readonly isPartitioned: boolean;
  readonly withinMs: number | null;
  /** The end of a run by time must be at its time. */
  readonly isEndSeen: boolean;
  readonly watermark: () => number;
  /** Ends a run; it calls `remove`. */
  readonly close: (run: number) => void;
}

/** All open runs of a pattern, in order of creation and by their deadlines, as `OpenRuns` has them. */
export class FlatRuns extends RunColumns {
  /** As in `OpenRuns`: at or before the watermark, a wake is due. */
  due = Infinity;
  #size = 0;
  #oldest = NONE;
  #newest = NONE;
  readonly #isPartitioned: boolean;
  readonly #slackMs: number;
  #earlyWakes = EARLY_WAKES;
  readonly #watermark: () => number;
  readonly #close: (run: number) => void;
  /** By deadline, when they are not so in order of creation. */
  #byDeadline: DeadlineQueue<Queued> | null = null;

  constructor({ kept, isPartitioned, withinMs, isEndSeen, watermark, close }: FlatRunsOptions) {
    super(kept);
    this.#isPartitioned = isPartitioned;
    this.#slackMs = isEndSeen ? 0 : (withinMs ?? 0) / LOOKS;
    this.#watermark = watermark;
    this.#close = close;
  }

  /** With those that time has passed. */
  get size(): number {
    return this.#size;
  }

  /** A run that keeps nothing yet, and is not found yet; gives its number. */
  begin(state: number, indexKey: number | null, key: FusedRun['key'], began: number, first: number, last: number): number {
    if (last < this.due) this.#wakeFor(last);
    const run = this.allot();
    this.state[run] = state;
    this.indexKey[run] = nanIfNull(indexKey);
    this.began[run] = began;
    this.first[run] = first;
    this.last[run] = last;
    if (this.#isPartitioned) this.key[run] = key;
    this.#append(run, last);
    return run;
  }

  #append(run: number, last: number): void {
    const before = this.#newest;
    this.before[run] = before;
    this.after[run] = NONE;
    this.#newest = run;
    if (before === NONE) this.#oldest = run;
    else this.after[before] = run;
    this.#size++;
    if (this.#byDeadline !== null || (before !== NONE && last < (this.last[before] as number))) this.#queue(run);
  }

  /** A run that begins when its time is over already stays until time is next looked at. */
  #wakeFor(deadline: number): void {
    const watermark = this.#watermark();
    if (deadline >= watermark) {
      const isEarly = this.#earlyWakes > 0 && watermark > -Infinity;
      if (isEarly) this.#earlyWakes--;
      this.due = Math.min(this.due, justAfter(isEarly ? watermark : deadline + this.#slackMs));
      return;
    }
    this.clean();
    this.due = Math.min(this.due, justAfter(deadline));
  }

  remove(run: number): void {
    const before = this.before[run] as number;
    const after = this.after[run] as number;
    if (before === NONE) this.#oldest = after;
    else this.after[before] = after;
    if (after === NONE) this.#newest = before;
    else this.before[after] = before;
    this.free(run);
    this.#size--;
    if (this.#byDeadline !== null && this.#byDeadline.size > 2 * this.#size + 1_000) this.#byDeadline.retain((one) => this.#isOpen(one));
  }

  #queue(run: number): void {
    if (this.#byDeadline !== null) this.#push(run);
    else {
      this.#byDeadline = new DeadlineQueue();
      for (let one = this.#oldest; one !== NONE; one = this.after[one] as number) this.#push(one);
    }
  }

  #push(run: number): void {
    const began = this.began[run] as number;
    this.#byDeadline?.push(this.last[run] as number, began, { run, began });
  }

  /** No two runs begin with one event. */
  #isOpen({ run, began }: Queued): boolean {
    return this.state[run] !== NONE && this.began[run] === began;
  }

  /** Time has come to the watermark: ends the runs whose deadline lies before. */
  advance(watermark: number): void {
    for (let run = this.#earliest(); run !== NONE && (this.last[run] as number) < watermark; run = this.#earliest()) this.#close(run);
    const run = this.#earliest();
    this.due = run === NONE ? Infinity : justAfter((this.last[run] as number) + this.#slackMs);
  }

  /** Whether time has not yet passed the run, or has and is about to look at it. */
  isAlive(run: number): boolean {
    const watermark = this.#watermark();
    return (this.last[run] as number) >= watermark || this.due <= watermark;
  }

  /** Ends the runs that time has passed, unless a wake is about to, and works `due` out again. */
  clean(): void {
    const watermark = this.#watermark();
    if (this.due > watermark) this.advance(watermark);
  }

  closeOldest(): void {
    if (this.#oldest !== NONE) this.#close(this.#oldest);
  }

  /** The run whose deadline is the first; -1 when there is none. */
  #earliest(): number {
    const queue = this.#byDeadline;
    if (queue === null) return this.#oldest;
    if (this.#size === 0) {
      this.#byDeadline = null;
      return NONE;
    }
    for (;;) {
      const [first] = queue.items();
      if (first === undefined) return NONE;
      if (this.#isOpen(first)) return first.run;
      queue.popDue(Infinity);
    }
  }

  /** Open runs as objects, in order of creation. */
  *objects(Run: RunClass): Iterable<FusedRun> {
    for (let run = this.#oldest; run !== NONE; run = this.after[run] as number) yield this.objectOf(run, Run);
  }

  /** An open run like this; gives its number. `indexKey`: the value by which it is found. */
  add(object: FusedRun, indexKey: number | null): number {
    const { state, key, began, first, last } = object;
    const run = this.begin(state, indexKey, key, began, first, last);
    this.keep(run, object);
    return run;
  }
}
