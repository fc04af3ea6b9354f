import { WakingRuns } from '../../patterns/waking-runs.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter } from '../../time/instants.ts';
import type { FusedRun } from './fused-run.ts';

/** All open runs of a pattern in which time alone decides something: a `NOT` that matches, the gap to the next step. */
export class TimedRuns extends WakingRuns<FusedRun> {
  override remove(run: FusedRun): void {
    run.state = -1;
    super.remove(run);
  }
}

/** How many times within a pattern's span runs that come to nothing are looked for. */
export const LOOKS = 64;

/**
 * So many times a pattern asks for a wake at once though nothing is due, and works out what is: else V8 has compiled all that an event does
 * before it sees a run that is the first to end, takes that for impossible, and throws the code away when it comes.
 */
export const EARLY_WAKES = 64;

/**
 * All open runs of a pattern in order of creation, which is that of their deadlines as long as events come in order of time.
 * A run that ends without a match is nothing that anybody sees, so time is asked to wake the program for many of them at
 * once: those that time has passed by then are still here, and are over for whoever asks.
 *
 * It keeps its list itself: with one inherited from a class that others share too, patterns with closures took a sixth more time.
 */
export class OpenRuns {
  #size = 0;
  first: FusedRun | null = null;
  #last: FusedRun | null = null;
  /** The watermark lies before it, and no run ends sooner than `slackMs` before it. At or before the watermark: a wake is due. */
  due = Infinity;
  readonly #slackMs: number;
  #earlyWakes = EARLY_WAKES;
  readonly #watermark: () => number;
  readonly #close: (run: FusedRun) => void;
  /** Runs by deadline, when they are not so in order of creation. */
  #byDeadline: DeadlineQueue<FusedRun> | null = null;

  /** `isEndSeen`: the end of a run by time must be at its time. `close`: ends a run; it calls `remove`. */
  constructor(withinMs: number | null, isEndSeen: boolean, watermark: () => number, close: (run: FusedRun) => void) {
    this.#slackMs = isEndSeen ? 0 : (withinMs ?? 0) / LOOKS;
    this.#watermark = watermark;
    this.#close = close;
  }

  /** With those that time has passed. */
  get size(): number {
    return this.#size;
  }

  add(run: FusedRun): void {
    if (run.last < this.due) this.#wakeFor(run.last);
    const before = this.#last;
    run.before = before;
    this.#last = run;
    if (before === null) this.first = run;
    else before.after = run;
    this.#size++;
    if (this.#byDeadline !== null || (before !== null && run.last < before.last)) this.#queue(run);
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

  remove(run: FusedRun): void {
    const { before, after } = run;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    run.before = null;
    run.after = null;
    run.state = -1;
    this.#size--;
    if (this.#byDeadline !== null && this.#byDeadline.size > 2 * this.#size + 1_000) this.#byDeadline.retain((one) => one.state >= 0);
  }

  #queue(run: FusedRun): void {
    if (this.#byDeadline !== null) {
      this.#byDeadline.push(run.last, run.began, run);
      return;
    }
    this.#byDeadline = new DeadlineQueue();
    for (let one = this.first; one !== null; one = one.after) this.#byDeadline.push(one.last, one.began, one);
  }

  /** Time has come to the watermark: ends the runs whose deadline lies before. */
  advance(watermark: number): void {
    this.#endBefore(watermark);
    const run = this.#earliest();
    this.due = run === null ? Infinity : justAfter(run.last + this.#slackMs);
  }

  #endBefore(watermark: number): void {
    for (let run = this.#earliest(); run !== null && run.last < watermark; run = this.#earliest()) this.#close(run);
  }

  /** Whether time has not yet passed the run, or has and is about to look at it. */
  isAlive(run: FusedRun): boolean {
    const watermark = this.#watermark();
    return run.last >= watermark || this.due <= watermark;
  }

  /** Ends the runs that time has passed, unless a wake is about to, and works `due` out again. */
  clean(): void {
    const watermark = this.#watermark();
    if (this.due > watermark) this.advance(watermark);
  }

  /** The run whose deadline is the first; null when there is none. */
  #earliest(): FusedRun | null {
    const queue = this.#byDeadline;
    if (queue === null) return this.first;
    if (this.#size === 0) {
      this.#byDeadline = null;
      return null;
    }
    for (;;) {
      const [run] = queue.items();
      if (run === undefined || run.state >= 0) return run ?? null;
      queue.popDue(Infinity);
    }
  }
}
