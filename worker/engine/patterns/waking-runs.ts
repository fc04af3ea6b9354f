import { DeadlineQueue } from '../time/deadline-queue.ts';
import { justAfter } from '../time/instants.ts';

/** A place among the open runs. */
interface Listed<R> {
  before: R | null;
  after: R | null;
}

/** A run that stands in line for a time of its own. */
interface Waking<R> extends Listed<R> {
  readonly began: number;
  /** Event time after which something is due: a `NOT` that matches, or the end of the run. */
  wake: number;
  /** The time under which it stands in line, at or before its own; Infinity = it does not. */
  queued: number;
}

export interface WakingOptions<R> {
  /** When the run is to be woken, as it stands. */
  readonly wakeOf: (run: R) => number;
  readonly isOpen: (run: R) => boolean;
  /** The order of runs that are due at one time. */
  readonly compare: (a: R, b: R) => number;
  /** The time of a run has come. */
  readonly wake: (run: R) => void;
}

/**
 * The open runs of a pattern in order of creation, each woken by time when something is due. `OpenRuns`, where nothing but the end of a
 * run is due, keeps such a list itself: with one base class for both, patterns with closures took a sixth more time.
 */
export class WakingRuns<R extends Waking<R>> {
  #size = 0;
  first: R | null = null;
  #last: R | null = null;
  /** The smallest watermark at which a run is due. */
  due = Infinity;
  readonly #options: WakingOptions<R>;
  readonly #line = new DeadlineQueue<R>();

  constructor(options: WakingOptions<R>) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  add(run: R): void {
    const before = this.#last;
    run.before = before;
    this.#last = run;
    if (before === null) this.first = run;
    else before.after = run;
    this.#size++;
    this.moved(run);
  }

  /** The run has taken an event, or stands elsewhere. */
  moved(run: R): void {
    run.wake = this.#options.wakeOf(run);
    if (run.wake < run.queued) this.#queue(run);
  }

  /** A run stands in line once, at or before its time: one that waits longer by then goes back in line. */
  #queue(run: R): void {
    run.queued = run.wake;
    this.#line.push(justAfter(run.wake), run.began, run);
    this.due = this.#line.next();
  }

  /** The run is open no more. */
  remove(run: R): void {
    const { before, after } = run;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.#last = before;
    else after.before = before;
    run.before = null;
    run.after = null;
    this.#size--;
    if (this.#line.size > 2 * this.#size + 1_000) this.#line.retain(this.#options.isOpen);
  }

  /** Time has come to the watermark: wakes the runs whose time has passed. */
  advance(watermark: number): void {
    for (let due = this.#takeDue(watermark); due.length > 0; due = this.#takeDue(watermark)) {
      for (const run of due) if (this.#options.isOpen(run)) this.#options.wake(run);
    }
    this.clean();
  }

  /** The runs that are due first, all at one time, in order; empty when none is due at this watermark. */
  #takeDue(watermark: number): readonly R[] {
    const { isOpen, compare } = this.#options;
    const due: R[] = [];
    for (let time = this.#line.next(); time < Infinity && time <= watermark && due.length === 0; time = this.#line.next()) {
      for (let run = this.#line.popDue(time); run !== undefined; run = this.#line.popDue(time)) {
        if (!isOpen(run) || justAfter(run.queued) !== time) continue;
        const isEarly = run.queued < run.wake;
        run.queued = Infinity;
        if (!isEarly) due.push(run);
        else if (run.wake < Infinity) this.#queue(run);
      }
    }
    return due.length > 1 ? due.sort(compare) : due;
  }

  /** Works `due` out again, behind runs that are over. */
  clean(): void {
    for (;;) {
      const [run] = this.#line.items();
      if (run === undefined || this.#options.isOpen(run)) break;
      this.#line.popDue(Infinity);
    }
    this.due = this.#line.next();
  }

  toArray(): R[] {
    const runs: R[] = [];
    for (let run = this.first; run !== null; run = run.after) runs.push(run);
    return runs;
  }
}
