import { firstPlace, MOST_STEPS } from './number-table.ts';
import { NONE, type RunColumns } from './run-columns.ts';

/** A power of two. */
const SMALLEST = 16;

/**
 * The runs in one state by the number that their next event must have, as `KeyedRuns` has them: open addressing with linear probing,
 * and from each place the list of the runs of its number. A run whose number is null fits no event: it is not here.
 */
export class FlatRunIndex {
  readonly #runs: RunColumns;
  #heads = new Int32Array(SMALLEST).fill(NONE);
  #size = 0;
  /** Where the last search ended: what is found is often removed next. */
  #place = 0;
  /** The heads by number, where the numbers lie so badly that it takes long to find one. */
  #others: Map<number, number> | null = null;

  constructor(runs: RunColumns) {
    this.#runs = runs;
  }

  /** The first run of the number's list; -1 when it has none. */
  find(value: number | null): number {
    if (value === null) return NONE;
    if (this.#others !== null) return this.#others.get(value) ?? NONE;
    return this.#heads[this.#search(value)] as number;
  }

  /** The place of the head of the number's list, or that which is free for it. */
  #search(value: number): number {
    const heads = this.#heads;
    const { indexKey } = this.#runs;
    const mask = heads.length - 1;
    let at = firstPlace(value, mask);
    for (let head = heads[at] as number; head !== NONE && indexKey[head] !== value; head = heads[at] as number) at = (at + 1) & mask;
    this.#place = at;
    return at;
  }

  add(run: number): void {
    const value = this.#runs.indexKey[run] as number;
    if (Number.isNaN(value)) return;
    const head = this.find(value);
    const { next, previous } = this.#runs;
    if (head === NONE) {
      next[run] = NONE;
      previous[run] = run;
      this.#insert(value, run);
    } else if (this.#enlist(head, run)) this.#setHead(value, head, run);
  }

  /** Puts a run into a list where its beginning says. True when it is the first one now. */
  #enlist(head: number, run: number): boolean {
    const { next, previous, began } = this.#runs;
    let before = previous[head] as number;
    if ((began[before] as number) <= (began[run] as number)) {
      next[before] = run;
      next[run] = NONE;
      previous[run] = before;
      previous[head] = run;
      return false;
    }
    while (before !== head && (began[previous[before] as number] as number) > (began[run] as number)) before = previous[before] as number;
    next[run] = before;
    previous[run] = previous[before] as number;
    previous[before] = run;
    if (before === head) return true;
    next[previous[run] as number] = run;
    return false;
  }

  remove(run: number): void {
    const { indexKey, next, previous } = this.#runs;
    const value = indexKey[run] as number;
    if (Number.isNaN(value)) return;
    const before = previous[run] as number;
    const after = next[run] as number;
    if (before === run) this.#delete(value, run);
    else if (next[before] === NONE) {
      // It is the first one: that before it in the circle is the last.
      previous[after] = before;
      this.#setHead(value, run, after);
    } else {
      next[before] = after;
      previous[after === NONE ? this.find(value) : after] = before;
    }
  }

  /** A run of a number that was looked for last, and has none. */
  #insert(value: number, run: number): void {
    if (this.#others !== null) {
      this.#others.set(value, run);
      return;
    }
    const heads = this.#heads;
    const at = this.#place;
    const steps = (at - firstPlace(value, heads.length - 1)) & (heads.length - 1);
    heads[at] = run;
    if (++this.#size * 2 > heads.length) this.#grow();
    if (steps >= MOST_STEPS) this.#giveUp();
  }

  #setHead(value: number, head: number, first: number): void {
    if (this.#others === null) this.#heads[this.#placeOf(value, head)] = first;
    else this.#others.set(value, first);
  }

  #placeOf(value: number, head: number): number {
    return this.#heads[this.#place] === head ? this.#place : this.#search(value);
  }

  /** Those behind it move up, so that no search ends too early. */
  #delete(value: number, head: number): void {
    if (this.#others !== null) {
      this.#others.delete(value);
      return;
    }
    const heads = this.#heads;
    const { indexKey } = this.#runs;
    const mask = heads.length - 1;
    let gap = this.#placeOf(value, head);
    this.#size--;
    for (let at = (gap + 1) & mask; heads[at] !== NONE; at = (at + 1) & mask) {
      const other = heads[at] as number;
      const wanted = firstPlace(indexKey[other] as number, mask);
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      heads[gap] = other;
      gap = at;
    }
    heads[gap] = NONE;
  }

  #grow(): void {
    const { indexKey } = this.#runs;
    const grown = new Int32Array(this.#heads.length * 2).fill(NONE);
    const mask = grown.length - 1;
    for (const head of this.#heads) {
      if (head === NONE) continue;
      let at = firstPlace(indexKey[head] as number, mask);
      while (grown[at] !== NONE) at = (at + 1) & mask;
      grown[at] = head;
    }
    this.#heads = grown;
  }

  #giveUp(): void {
    const { indexKey } = this.#runs;
    this.#others = new Map(
      Array.from(
        this.#heads.filter((head) => head !== NONE),
        (head) => [indexKey[head] as number, head],
      ),
    );
    this.#heads = new Int32Array();
  }
}
