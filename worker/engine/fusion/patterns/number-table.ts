import type { FusedRun } from './fused-run.ts';

/** The first runs of lists by a number that all runs of a list are indexed by: open addressing with linear probing. */
export class NumberTable {
  #slots: (FusedRun | null)[] = new Array(SMALLEST).fill(null);
  #mask = SMALLEST - 1;
  #size = 0;

  get(key: number): FusedRun | null {
    const slots = this.#slots;
    for (let at = firstPlace(key, this.#mask); ; at = (at + 1) & this.#mask) {
      const run = slots[at] as FusedRun | null;
      if (run === null || run.indexKey === key) return run;
    }
  }

  /** False when the numbers lie so badly that it takes long to find one: they are all there, but had better go elsewhere. */
  set(key: number, run: FusedRun): boolean {
    const slots = this.#slots;
    let steps = 0;
    for (let at = firstPlace(key, this.#mask); ; at = (at + 1) & this.#mask) {
      const there = slots[at] as FusedRun | null;
      if (there !== null && there.indexKey !== key) {
        steps++;
        continue;
      }
      slots[at] = run;
      if (there === null && ++this.#size * 2 > slots.length) this.#grow();
      return steps < MOST_STEPS;
    }
  }

  /** Those behind it move up, so that no search ends too early. */
  delete(key: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    let gap = firstPlace(key, mask);
    while ((slots[gap] as FusedRun).indexKey !== key) gap = (gap + 1) & mask;
    this.#size--;
    for (let at = (gap + 1) & mask; ; at = (at + 1) & mask) {
      const run = slots[at] as FusedRun | null;
      if (run === null) break;
      const wanted = firstPlace(run.indexKey as number, mask);
      if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
      slots[gap] = run;
      gap = at;
    }
    slots[gap] = null;
  }

  forEach(visit: (run: FusedRun) => void): void {
    for (const run of [...this.#slots]) if (run !== null) visit(run);
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Array(before.length * 2).fill(null);
    this.#mask = before.length * 2 - 1;
    for (const run of before) if (run !== null) this.#place(run);
  }

  #place(run: FusedRun): void {
    let at = firstPlace(run.indexKey as number, this.#mask);
    while (this.#slots[at] !== null) at = (at + 1) & this.#mask;
    this.#slots[at] = run;
  }
}

/** A power of two. */
const SMALLEST = 16;

/** A search that takes more of them says that the numbers do not spread. */
export const MOST_STEPS = 200;

/**
 * Where to look first for a number, in a table whose size is a power of two, one more than the mask: the upper bits of a hash. Numbers in a row, as
 * ids often are, come to lie apart as if they had been dealt out (the multiplier is 2^32 by the golden ratio); what lies behind the point, or
 * beyond 32 bits, counts too.
 */
export function firstPlace(key: number, mask: number): number {
  let bits = key | 0;
  if (bits !== key) bits ^= Math.imul((key * 65_536.03) | 0, 0x85ebca6b) ^ (key / 4_294_967_296);
  return Math.imul(bits, 0x9e3779b1) >>> Math.clz32(mask);
}
