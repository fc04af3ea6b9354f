/** Numbers that look random and depend on a seed alone: the same calls give the same numbers, on every machine (mulberry32). */
export class Random {
  #state: number;

  /** Of the seed the lowest 32 bits count. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number; both ends may come. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** With so many digits behind the point. */
  amount(min: number, max: number, digits = 2): number {
    return rounded(min + this.next() * (max - min), digits);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** Around 0, rarely beyond 3 times the deviation: the sum of uniform ones, so that no function of the machine takes part. */
  around(deviation: number): number {
    let sum = -6;
    for (let count = 0; count < 12; count++) sum += this.next();
    return sum * deviation;
  }
}

export function rounded(value: number, digits = 2): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
