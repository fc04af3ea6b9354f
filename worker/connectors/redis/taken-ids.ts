import { isAfter } from './stream-entries.ts';

export type IdRange = readonly [from: string, to: string];

/**
 * Entries of a group that were taken, until the server has heard of it, as ranges of ids. What it still holds as pending then is no more to be
 * taken; anything else that it holds for the same consumer is: somebody may have given it the entries of another.
 */
export class TakenIds {
  #ranges: readonly IdRange[];

  constructor(ranges: readonly IdRange[]) {
    this.#ranges = ranges;
  }

  get ranges(): readonly IdRange[] {
    return this.#ranges;
  }

  has(id: string): boolean {
    return this.#ranges.some(([from, to]) => !isAfter(from, id) && !isAfter(id, to));
  }

  add(ranges: readonly IdRange[]): void {
    this.#ranges = [...this.#ranges, ...ranges];
  }

  /** The server has heard of these, as they were added. */
  forget(ranges: readonly IdRange[]): void {
    this.#ranges = this.#ranges.filter((range) => !ranges.includes(range));
  }

  /** The server has heard of all. */
  clear(): void {
    this.#ranges = [];
  }
}
