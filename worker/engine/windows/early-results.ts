import type { Value } from '../../../shared/events/value.ts';
import { number, orNull, record } from '../state/codec.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { plus, wholeSteps } from '../time/instants.ts';

/** When the next result comes, and how many events the last one had; null where nothing is waited for. */
const savedEarly = orNull(record({ at: number, count: number }));

/** What tells of the windows in its slots. */
interface WindowSlots {
  /** Events held; 0 or less = none. */
  countAt(slot: number): number;
  /** Number of the first event of the window, by which it is known again. */
  rankAt(slot: number): number;
  /** As it would close now; the start of a session may move back. */
  frameOf(slot: number): { readonly start: number; readonly end: number };
}

interface Watched {
  readonly slot: number;
  readonly rank: number;
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
export class EarlyResults {
  readonly #everyMs: number;
  readonly #windows: WindowSlots;
  /** By slot. */
  readonly #watched: Watched[] = [];
  readonly #points = new DeadlineQueue<Watched>();
  /** Owed in this step of time, in the order in which windows close. */
  readonly #owed = new DeadlineQueue<Watched>();

  constructor(everyMs: number, windows: WindowSlots) {
    this.#everyMs = everyMs;
    this.#windows = windows;
  }

  /** First watermark at which a result may be owed. */
  next(): number {
    return this.#owed.size > 0 ? -Infinity : this.#points.next();
  }

  /** Follows the window in a slot from its first event on, and again when its start has moved. */
  watch(slot: number, watermark: number): void {
    const [{ start }, rank] = [this.#windows.frameOf(slot), this.#windows.rankAt(slot)];
    const last = this.#watched[slot];
    const before = last?.rank === rank ? last : undefined;
    if (before?.start === start) return;
    this.#follow({ slot, rank, start, at: this.#pointAfter(start, watermark), count: before?.count ?? 0 });
  }

  /** The slot of the next window that owes a result at `watermark`: by its end, then by its first event. */
  popDue(watermark: number): number | undefined {
    for (let one = this.#points.popDue(watermark); one !== undefined; one = this.#points.popDue(watermark)) {
      if (this.#isOpen(one) && this.#watched[one.slot] === one) this.#reach(one, watermark);
    }
    for (let one = this.#owed.popDue(Infinity); one !== undefined; one = this.#owed.popDue(Infinity)) {
      if (this.#isOpen(one)) return one.slot;
    }
    return undefined;
  }

  #isOpen({ slot, rank }: Watched): boolean {
    return this.#windows.countAt(slot) > 0 && this.#windows.rankAt(slot) === rank;
  }

  #reach(one: Watched, watermark: number): void {
    const count = this.#windows.countAt(one.slot);
    if (count !== one.count) this.#owed.push(this.#windows.frameOf(one.slot).end, one.rank, one);
    one.count = count;
    one.at = this.#pointAfter(one.start, watermark);
    this.#points.push(one.at, one.rank, one);
  }

  /** The first multiple of `everyMs` after `start` that the watermark has not reached. */
  #pointAfter(start: number, watermark: number): number {
    const passed = watermark < start ? 0 : wholeSteps(plus(watermark, -start), this.#everyMs);
    return plus(start, (passed + 1) * this.#everyMs);
  }

  #follow(one: Watched): void {
    this.#watched[one.slot] = one;
    this.#points.push(one.at, one.rank, one);
  }

  /** What is to be kept of the open window in a slot. */
  save(slot: number): Value {
    const one = this.#watched[slot];
    return savedEarly.save(one?.rank === this.#windows.rankAt(slot) ? one : null);
  }

  load(slot: number, saved: Value): void {
    const early = savedEarly.load(saved);
    if (early === null) return;
    const { start } = this.#windows.frameOf(slot);
    this.#follow({ slot, rank: this.#windows.rankAt(slot), start, ...early });
  }
}
