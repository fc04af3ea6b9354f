import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter } from '../../time/instants.ts';
import type { FusedRun } from './fused-run.ts';

/** How many times within a pattern's span runs that come to nothing are looked for. */
const LOOKS = 64;

/**
 * All open runs of a pattern in order of creation, which is that of their deadlines as long as events come in order of time.
 * A run that ends without a match is nothing that anybody sees, so time is asked to wake the program for many of them at once.
 */
export class OpenRuns {
  size = 0;
  first: FusedRun | null = null;
  #last: FusedRun | null = null;
  /** At or behind the first deadline: until then no run that is open ends later than `slackMs` behind its deadline. */
  due = Infinity;
  readonly #slackMs: number;
  /** Runs by deadline, when they are not so in order of creation. */
  #byDeadline: DeadlineQueue<FusedRun> | null = null;

  constructor(withinMs: number | null) {
    this.#slackMs = (withinMs ?? 0) / LOOKS;
  }

  add(run: FusedRun): void {
    const before = this.#last;
    run.before = before;
    this.#last = run;
    if (before === null) this.first = run;
    else before.after = run;
    this.size++;
    if (this.#byDeadline !== null || (before !== null && run.last < before.last)) this.#queue(run);
    if (run.last < this.due) this.due = Math.min(this.due, this.#dueOf(run.last));
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
    this.size--;
    if (this.#byDeadline !== null && this.#byDeadline.size > 2 * this.size + 1_000) this.#byDeadline.retain((one) => one.state >= 0);
  }

  #queue(run: FusedRun): void {
    if (this.#byDeadline !== null) {
      this.#byDeadline.push(run.last, run.began, run);
      return;
    }
    this.#byDeadline = new DeadlineQueue();
    for (let one = this.first; one !== null; one = one.after) this.#byDeadline.push(one.last, one.began, one);
  }

  /** The run whose deadline is the first; null when there is none. */
  earliest(): FusedRun | null {
    const queue = this.#byDeadline;
    if (queue === null) return this.first;
    if (this.size === 0) {
      this.#byDeadline = null;
      return null;
    }
    for (;;) {
      const [run] = queue.items();
      if (run === undefined || run.state >= 0) return run ?? null;
      queue.popDue(Infinity);
    }
  }

  /** Works `due` out again. */
  settle(): number {
    const run = this.earliest();
    this.due = run === null ? Infinity : this.#dueOf(run.last);
    return this.due;
  }

  #dueOf(deadline: number): number {
    return justAfter(deadline + this.#slackMs);
  }
}
