import { ExactSum, HALVING } from '../../../../shared/language/functions/aggregates/exact-sum.ts';
import { quickDeviation, scaledDeviation } from '../../../../shared/language/functions/aggregates/spread.ts';
import { finite } from '../../../../shared/language/functions/numbers.ts';

/** Doubles that an exact sum takes up: high, middle, low, as in `ExactSum`. */
export const EXACT_WIDTH = 3;

/** Summands from here on, and what three doubles cannot hold, go to an `ExactSum` aside. */
const HUGE = 2 ** 970;
/** The squares of values beyond this count as overflow, as in `stddev`. */
export const LARGEST_SQUARED = 2 ** 400;

/**
 * The numbers of every window of an operator side by side, `width` for each slot: those of slot s stand from `s * width` on.
 * A window is given a slot when it begins and gives it back when it is over.
 */
export class Slots {
  readonly width: number;
  /** Of what is seldom read. */
  readonly coldWidth: number;
  /** Another array after `allot`. */
  numbers: Float64Array;
  cold: Float64Array;
  readonly #free: number[] = [];
  #size = 0;
  /** What three doubles could not hold, by the position of the sum. Null while there is nothing. */
  #spilled: Map<number, ExactSum> | null = null;

  constructor(width: number, coldWidth: number) {
    this.width = width;
    this.coldWidth = coldWidth;
    this.numbers = new Float64Array(8 * width);
    this.cold = new Float64Array(8 * coldWidth);
  }

  /** A slot whose numbers may be anything. */
  allot(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const slot = this.#size++;
    if (this.#size * this.width > this.numbers.length) this.#grow();
    return slot;
  }

  free(slot: number): void {
    this.#free.push(slot);
  }

  /** Slots that have ever been in use. */
  get size(): number {
    return this.#size;
  }

  #grow(): void {
    this.numbers = twice(this.numbers);
    this.cold = twice(this.cold);
  }

  /** The same numbers, which no longer change. */
  copy(): Slots {
    const copy = new Slots(this.width, this.coldWidth);
    copy.numbers = this.numbers.slice(0, this.#size * this.width);
    copy.cold = this.cold.slice(0, this.#size * this.coldWidth);
    copy.#size = this.#size;
    for (const [at, rest] of this.#spilled ?? []) {
      copy.#spilled ??= new Map();
      copy.#spilled.set(at, new ExactSum(...rest.save()));
    }
    return copy;
  }

  /** A field of a slot, by its place. */
  get(slot: number, at: number): number {
    return (at >= 0 ? this.numbers[slot * this.width + at] : this.cold[slot * this.coldWidth - 1 - at]) as number;
  }

  set(slot: number, at: number, value: number): void {
    if (at >= 0) this.numbers[slot * this.width + at] = value;
    else this.cold[slot * this.coldWidth - 1 - at] = value;
  }

  /** Empties the exact sum at `at`. */
  clear(at: number): void {
    const { numbers } = this;
    numbers[at] = 0;
    numbers[at + 1] = 0;
    numbers[at + 2] = 0;
    if (this.#spilled?.delete(at) === true && this.#spilled.size === 0) this.#spilled = null;
  }

  /** Adds to the exact sum at `at`. Branch-free (TwoSum): the sign of a rounding error is unpredictable. */
  add(at: number, value: number): void {
    if (!(Math.abs(value) < HUGE)) {
      this.spill(at, value);
      return;
    }
    const { numbers } = this;
    const high = numbers[at] as number;
    const sum = high + value;
    const back = sum - high;
    numbers[at] = sum;
    const lost = high - (sum - back) + (value - back);
    const middle = numbers[at + 1] as number;
    const middleSum = middle + lost;
    const middleBack = middleSum - middle;
    numbers[at + 1] = middleSum;
    const middleLost = middle - (middleSum - middleBack) + (lost - middleBack);
    if (middleLost !== 0) this.#addSmallest(at, middleLost);
  }

  /**
   * Adds a value to the exact sum at `sum`, and its square, unrounded, to the one at `squares`; with a `sign` of -1 it takes them out
   * again. The sum of squares becomes infinite, and stays so, where a square is too large to count.
   */
  moments(sum: number, squares: number, value: number, sign: 1 | -1): void {
    const { numbers } = this;
    this.add(sum, value * sign);
    if (!(Math.abs(value) <= LARGEST_SQUARED)) numbers[squares] = Infinity;
    const high = numbers[squares] as number;
    if (high === Infinity) return;
    const square = value * value;
    const scaled = value * HALVING;
    const upper = scaled - (scaled - value);
    const lower = value - upper;
    const rest = (lower * lower - (square - upper * upper - lower * upper - upper * lower)) * sign;
    this.#addExact(squares, high, square * sign, rest);
  }

  /** Adds a value and the rest that was lost when it was rounded. */
  #addExact(at: number, high: number, value: number, rest: number): void {
    const { numbers } = this;
    const sum = high + value;
    const back = sum - high;
    numbers[at] = sum;
    const lost = high - (sum - back) + (value - back);
    const small = lost + rest;
    const smallBack = small - lost;
    const smallLost = lost - (small - smallBack) + (rest - smallBack);
    const middle = numbers[at + 1] as number;
    const middleSum = middle + small;
    const middleBack = middleSum - middle;
    numbers[at + 1] = middleSum;
    const middleLost = middle - (middleSum - middleBack) + (small - middleBack);
    const least = smallLost + middleLost;
    const leastBack = least - smallLost;
    const low = numbers[at + 2] as number;
    const lowSum = low + least;
    const lowBack = lowSum - low;
    numbers[at + 2] = lowSum;
    const leastLost = smallLost - (least - leastBack) + (middleLost - leastBack);
    const lowLost = low - (lowSum - lowBack) + (least - lowBack);
    if (leastLost !== 0 || lowLost !== 0) {
      this.spill(at, leastLost);
      this.spill(at, lowLost);
    }
  }

  /** As `add`, for what is small beside the two larger parts. */
  #addSmallest(at: number, value: number): void {
    const { numbers } = this;
    const low = numbers[at + 2] as number;
    const sum = low + value;
    const back = sum - low;
    numbers[at + 2] = sum;
    const lost = low - (sum - back) + (value - back);
    if (lost !== 0) this.spill(at, lost);
  }

  /** Adds what the three doubles at `at` do not take. */
  spill(at: number, value: number): void {
    this.#spilled ??= new Map();
    let rest = this.#spilled.get(at);
    if (rest === undefined) {
      rest = new ExactSum();
      this.#spilled.set(at, rest);
    }
    rest.add(value);
  }

  /** The exact sum at `at`. */
  exact(at: number): ExactSum {
    const { numbers } = this;
    const sum = new ExactSum([numbers[at + 2] as number, numbers[at + 1] as number, numbers[at] as number]);
    const rest = this.#spilled?.get(at);
    if (rest !== undefined) sum.addAll(rest);
    return sum;
  }

  /** Puts an exact sum there, given by the parts that `ExactSum.save` gives. */
  load(at: number, parts: readonly number[], huge: readonly number[]): void {
    this.clear(at);
    const kept = parts.slice(-EXACT_WIDTH);
    kept.forEach((part, i) => {
      this.numbers[at + kept.length - 1 - i] = part;
    });
    if (parts.length === kept.length && huge.length === 0) return;
    this.#spilled ??= new Map();
    this.#spilled.set(at, new ExactSum(parts.slice(0, -EXACT_WIDTH), huge));
  }

  /** The exact sum at `at`, or its share of `divisor`, as a result. */
  total(at: number, divisor: number): number | null {
    const { numbers } = this;
    if (numbers[at + 2] === 0 && this.#spilled === null) return finite(((numbers[at] as number) + (numbers[at + 1] as number)) / divisor);
    return finite(this.exact(at).total(divisor));
  }

  /** The sample variance of n values whose sum and sum of squares these are; null of fewer than two. */
  variance(n: number, sum: number, squares: number): number | null {
    return n < 2 || this.numbers[squares] === Infinity ? null : finite(this.#variance(n, sum, squares));
  }

  deviation(n: number, sum: number, squares: number): number | null {
    return n < 2 || this.numbers[squares] === Infinity ? null : finite(Math.sqrt(this.#variance(n, sum, squares)));
  }

  #variance(n: number, sum: number, squares: number): number {
    const quick = this.#spilled === null ? this.#quickDeviation(n, sum, squares) : Number.NaN;
    const deviation = Number.isNaN(quick) ? scaledDeviation(n, this.exact(sum), this.exact(squares)) : quick;
    return Math.max(0, deviation / n / (n - 1));
  }

  /** `quickDeviation` of sums that three doubles hold. */
  #quickDeviation(n: number, sum: number, squares: number): number {
    const { numbers } = this;
    const sHigh = numbers[sum] as number;
    const sMiddle = numbers[sum + 1] as number;
    const sLow = numbers[sum + 2] as number;
    const qHigh = numbers[squares] as number;
    const qMiddle = numbers[squares + 1] as number;
    const qLow = numbers[squares + 2] as number;
    const s = sHigh + sMiddle;
    const q = qHigh + qMiddle;
    const sBack = s - sHigh;
    const qBack = q - qHigh;
    const sLower = sHigh - (s - sBack) + (sMiddle - sBack) + sLow;
    const qLower = qHigh - (q - qBack) + (qMiddle - qBack) + qLow;
    return quickDeviation(n, s, sLower, q, qLower, sMiddle === 0 && sLow === 0 && qMiddle === 0 && qLow === 0);
  }
}

function twice(numbers: Float64Array): Float64Array {
  const more = new Float64Array(numbers.length * 2);
  more.set(numbers);
  return more;
}
