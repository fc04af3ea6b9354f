import type { Value, ValueArray } from '../../../shared/events/value.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { plus, wholeSteps } from '../time/instants.ts';

/** A window as its interim results see it. */
export interface EarlyWindow {
  /** Where it begins; the start of a session may move back. */
  readonly start: number;
  readonly end: number;
  readonly rank: number;
  readonly isOpen: boolean;
  readonly content: { readonly count: number };
}

interface Watched<W> {
  readonly window: W;
  readonly start: number;
  /** Next multiple of `early` after its start. */
  at: number;
  /** Events held at the last interim result. */
  count: number;
}

/**
 * `early: d`: which open windows owe an interim result. One is owed when the watermark reaches or passes multiples of `d`
 * after the window's start, one for a jump however many it passed, and none when nothing came since the last.
 */
export class EarlyResults<W extends EarlyWindow> {
  readonly #everyMs: number | null;
  readonly #watched = new WeakMap<W, Watched<W>>();
  readonly #points = new DeadlineQueue<Watched<W>>();
  /** Owed in this step of time, in the order in which windows close. */
  readonly #owed = new DeadlineQueue<W>();

  constructor(everyMs: number | null) {
    this.#everyMs = everyMs;
  }

  /** Whether there are interim results at all. */
  get isUsed(): boolean {
    return this.#everyMs !== null;
  }

  /** First watermark at which a result may be owed. */
  next(): number {
    return this.#owed.size > 0 ? -Infinity : this.#points.next();
  }

  /** Follows a window from its first event on, and again when its start has moved. */
  watch(window: W, watermark: number): void {
    if (this.#everyMs === null) return;
    const before = this.#watched.get(window);
    if (before?.start === window.start) return;
    const at = this.#pointAfter(window.start, watermark, this.#everyMs);
    this.#follow({ window, start: window.start, at, count: before?.count ?? 0 });
  }

  /** The next window that owes a result at `watermark`: by its end, then by its first event. */
  popDue(watermark: number): W | undefined {
    if (this.#everyMs !== null) this.#collect(watermark, this.#everyMs);
    for (let window = this.#owed.popDue(Infinity); window !== undefined; window = this.#owed.popDue(Infinity)) {
      if (window.isOpen) return window;
    }
    return undefined;
  }

  #collect(watermark: number, everyMs: number): void {
    for (let one = this.#points.popDue(watermark); one !== undefined; one = this.#points.popDue(watermark)) {
      if (one.window.isOpen && this.#watched.get(one.window) === one) this.#reach(one, watermark, everyMs);
    }
  }

  #reach(one: Watched<W>, watermark: number, everyMs: number): void {
    const { count } = one.window.content;
    if (count !== one.count) this.#owed.push(one.window.end, one.window.rank, one.window);
    one.count = count;
    one.at = this.#pointAfter(one.start, watermark, everyMs);
    this.#points.push(one.at, one.window.rank, one);
  }

  /** The first multiple of `everyMs` after `start` that the watermark has not reached. */
  #pointAfter(start: number, watermark: number, everyMs: number): number {
    const passed = watermark < start ? 0 : wholeSteps(plus(watermark, -start), everyMs);
    return plus(start, (passed + 1) * everyMs);
  }

  #follow(one: Watched<W>): void {
    this.#watched.set(one.window, one);
    this.#points.push(one.at, one.window.rank, one);
  }

  /** What is to be kept of an open window. */
  save(window: W): Value {
    const one = this.#watched.get(window);
    return one === undefined ? null : [one.at, one.count];
  }

  load(window: W, saved: Value): void {
    if (saved === null || this.#everyMs === null) return;
    const [at, count] = saved as ValueArray;
    this.#follow({ window, start: window.start, at: at as number, count: count as number });
  }
}
