import { wakeTimeOf } from '../../patterns/run.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter } from '../../time/instants.ts';
import type { AutomatonState } from './automaton.ts';
import type { FusedRun } from './fused-run.ts';

/** A run that stands in line for a time of its own. */
export interface WakingRun extends FusedRun {
  /** Event time after which something is due: a `NOT` that matches, or the end of the run. */
  wake: number;
  /** The time under which it stands in line, at or before its own; Infinity = it does not. */
  queued: number;
}

/** All open runs of a pattern in which time alone decides something: a `NOT` that matches, the gap to the next step. */
export class WakingRuns {
  #size = 0;
  first: FusedRun | null = null;
  #last: FusedRun | null = null;
  /** The smallest watermark at which a run is due. */
  due = Infinity;
  readonly #states: readonly AutomatonState[];
  readonly #wake: (run: FusedRun) => void;
  readonly #line = new DeadlineQueue<WakingRun>();

  /** `wake`: the time of a run has come. */
  constructor(states: readonly AutomatonState[], wake: (run: FusedRun) => void) {
    this.#states = states;
    this.#wake = wake;
  }

  get size(): number {
    return this.#size;
  }

  add(run: FusedRun): void {
    const before = this.#last;
    run.before = before;
    this.#last = run;
    if (before === null) this.first = run;
    else before.after = run;
    this.#size++;
    this.moved(run as WakingRun);
  }

  /** The run has taken an event, or stands elsewhere. */
  moved(run: WakingRun): void {
    const { pattern: state } = this.#states[run.state] as AutomatonState;
    run.wake = wakeTimeOf({ state, base: run.base as number }, run.first, run.last);
    if (run.wake < run.queued) this.#queue(run);
  }

  #queue(run: WakingRun): void {
    run.queued = run.wake;
    this.#line.push(justAfter(run.wake), run.began, run);
    this.due = this.#line.next();
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
    if (this.#line.size > 2 * this.#size + 1_000) this.#line.retain((one) => one.state >= 0);
  }

  /** Time has come to the watermark: wakes the runs whose time has passed, those of one time in order of beginning. */
  advance(watermark: number): void {
    for (let due = this.#takeDue(watermark); due.length > 0; due = this.#takeDue(watermark)) {
      for (const run of due) if (run.state >= 0) this.#wake(run);
    }
    this.clean();
  }

  #takeDue(watermark: number): readonly WakingRun[] {
    const due: WakingRun[] = [];
    for (let time = this.#line.next(); time < Infinity && time <= watermark && due.length === 0; time = this.#line.next()) {
      for (let run = this.#line.popDue(time); run !== undefined; run = this.#line.popDue(time)) {
        if (run.state < 0 || justAfter(run.queued) !== time) continue;
        const isEarly = run.queued < run.wake;
        run.queued = Infinity;
        if (!isEarly) due.push(run);
        else if (run.wake < Infinity) this.#queue(run);
      }
    }
    return due.sort((a, b) => a.began - b.began);
  }

  /** Works `due` out again, behind runs that are over. */
  clean(): void {
    for (;;) {
      const [run] = this.#line.items();
      if (run === undefined || run.state >= 0) break;
      this.#line.popDue(Infinity);
    }
    this.due = this.#line.next();
  }
}
