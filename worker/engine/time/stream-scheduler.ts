import type { Clock } from './clock.ts';
import { DeadlineTree } from './deadline-tree.ts';
import type { StreamClock } from './stream-clock.ts';

/**
 * Finds the streams that are due in a step of time. A stream that one clock moves waits among those of that clock; one whose
 * time depends on more is asked in every step.
 */
export class StreamScheduler {
  /** Places of the streams that are asked in every step, in order. */
  readonly asked: readonly number[];
  readonly #places: number;
  readonly #groups: readonly { readonly clock: Clock; readonly deadlines: DeadlineTree }[];
  readonly #always: DeadlineTree;

  /** `clocks`: of the streams that may wait for time, upstream first. */
  constructor(clocks: readonly StreamClock[]) {
    this.#places = clocks.length;
    const waiting = new Map<Clock, DeadlineTree>();
    clocks.forEach(({ single }) => {
      if (single !== null) waiting.set(single.clock, new DeadlineTree(clocks.length));
    });
    clocks.forEach((stream, place) => {
      const deadlines = stream.single === null ? undefined : waiting.get(stream.single.clock);
      if (deadlines !== undefined) stream.waitAmong(deadlines, place);
    });
    this.#groups = [...waiting].map(([clock, deadlines]) => ({ clock, deadlines }));
    this.asked = clocks.flatMap(({ single }, place) => (single === null ? [place] : []));
    this.#always = new DeadlineTree(clocks.length);
    for (const place of this.asked) this.#always.set(place, -Infinity);
  }

  /** The first place from `from` on whose stream is due; the number of places when there is none. */
  next(from: number): number {
    let first = this.asked.length === 0 ? this.#places : this.#always.next(from, 0);
    for (const { clock, deadlines } of this.#groups) first = Math.min(first, deadlines.next(from, clock.now()));
    return first;
  }

  /** Tells the clocks, once a step is through, what is waited for next; streams that are asked tell them on their own. */
  schedule(): void {
    for (const { clock, deadlines } of this.#groups) clock.schedule(deadlines.earliest());
  }
}
