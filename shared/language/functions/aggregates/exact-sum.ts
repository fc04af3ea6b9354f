import { invariant } from '../../../errors/error.ts';

/**
 * A sum without rounding on the way: the result is the double next to the exact sum of everything added, so it does not
 * depend on the order of adding, on grouping, or on a save and load in between; and what is added negated is as if it had
 * never been there.
 *
 * The sum is three doubles and what they cannot hold. Each takes exactly what adding to the one before it rounded off
 * (Knuth's TwoSum): whole numbers stay in the first, other data of one order of magnitude in the first two, their squares in
 * three. The rest is a list of doubles that do not overlap (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997,
 * as in Python's `fsum`). Summands from 2^970 on are kept apart, scaled down, so that a sum which only passes beyond the
 * largest double comes back from there.
 */
export class ExactSum {
  #high = 0;
  #middle = 0;
  #low = 0;
  #rest: Rest | null = null;

  /** Of what `save` gave. */
  constructor(parts: readonly number[] = NONE, huge: readonly number[] = NONE) {
    invariant(parts.every(isNumber) && huge.every(isNumber), 'a sum is kept as numbers');
    const above = parts.length - 3;
    this.#high = parts[above + 2] ?? 0;
    this.#middle = parts[above + 1] ?? 0;
    this.#low = parts[above] ?? 0;
    if (above > 0 || huge.length > 0) this.#rest = { parts: parts.slice(0, Math.max(0, above)), huge: [...huge] };
  }

  add(value: number): void {
    if (!(Math.abs(value) < HUGE)) {
      grow(this.#restOf().huge, value * SCALE);
      return;
    }
    const high = this.#high;
    const sum = high + value;
    const back = sum - high;
    const lost = high - (sum - back) + (value - back);
    const middle = this.#middle;
    const middleSum = middle + lost;
    const middleBack = middleSum - middle;
    const middleLost = middle - (middleSum - middleBack) + (lost - middleBack);
    this.#high = sum;
    this.#middle = middleSum;
    if (middleLost !== 0) this.#addLow(middleLost);
  }

  /**
   * Adds a product as it is, unrounded. Factors stay below 2^990, their product below 2^970, and it is not so small that its
   * last bits are no double (below about 2^-969): those are lost.
   */
  addProduct(a: number, b: number): void {
    const product = a * b;
    const rest = productLost(a, b, product);
    const high = this.#high;
    const sum = high + product;
    const back = sum - high;
    const lost = high - (sum - back) + (product - back);
    const small = lost + rest;
    const smallBack = small - lost;
    const smallLost = lost - (small - smallBack) + (rest - smallBack);
    const middle = this.#middle;
    const middleSum = middle + small;
    const middleBack = middleSum - middle;
    const middleLost = middle - (middleSum - middleBack) + (small - middleBack);
    const least = smallLost + middleLost;
    const low = this.#low;
    const lowSum = low + least;
    const lowBack = lowSum - low;
    this.#high = sum;
    this.#middle = middleSum;
    this.#low = lowSum;
    const leastBack = least - smallLost;
    const leastLost = smallLost - (least - leastBack) + (middleLost - leastBack);
    const lowLost = low - (lowSum - lowBack) + (least - lowBack);
    if (leastLost !== 0 || lowLost !== 0) this.#addRest(leastLost, lowLost);
  }

  #addLow(value: number): void {
    const low = this.#low;
    const sum = low + value;
    const back = sum - low;
    const lost = low - (sum - back) + (value - back);
    this.#low = sum;
    if (lost !== 0) this.#addRest(lost, 0);
  }

  #addRest(a: number, b: number): void {
    const { parts, huge } = this.#restOf();
    grow(parts, a);
    grow(parts, b);
    if (huge.length === 0 && parts.every((part) => part === 0)) this.#rest = null;
  }

  #restOf(): Rest {
    this.#rest ??= { parts: [], huge: [] };
    return this.#rest;
  }

  addAll(other: ExactSum): void {
    for (const part of other.parts) this.add(part);
    for (const part of other.#rest?.huge ?? NONE) grow(this.#restOf().huge, part);
  }

  /** The sum divided by a count; infinite when that is beyond the range of doubles. */
  total(divisor = 1): number {
    if (this.#low === 0 && this.#rest === null) return (this.#high + this.#middle) / divisor;
    const parts = this.#disjoint();
    if (this.#rest === null || rounded(this.#rest.huge) === 0) return rounded(parts) / divisor;
    const all = [...this.#rest.huge];
    for (const part of parts) grow(all, part * SCALE);
    return rounded(all) / divisor / SCALE;
  }

  #disjoint(): readonly number[] {
    const parts = this.#rest === null ? [] : [...this.#rest.parts];
    grow(parts, this.#low);
    grow(parts, this.#middle);
    grow(parts, this.#high);
    return parts;
  }

  /** Whether the sum is known to be one double. */
  get isSingle(): boolean {
    return this.#middle === 0 && this.#low === 0 && this.#rest === null;
  }

  /** Whether three doubles could not hold it all: then `upper` and `lower` tell nothing. */
  get hasRest(): boolean {
    return this.#rest !== null;
  }

  /** The double next to the two larger parts; `lower` is what it and the smallest part leave, rounded. */
  get upper(): number {
    return this.#high + this.#middle;
  }

  get lower(): number {
    const upper = this.#high + this.#middle;
    const back = upper - this.#high;
    return this.#high - (upper - back) + (this.#middle - back) + this.#low;
  }

  /** Doubles whose exact sum this is, as long as no summand was huge. */
  get parts(): readonly number[] {
    if (this.#rest !== null) return [...this.#rest.parts, this.#low, this.#middle, this.#high];
    if (this.#low !== 0) return [this.#low, this.#middle, this.#high];
    if (this.#middle !== 0) return [this.#middle, this.#high];
    return this.#high === 0 ? [] : [this.#high];
  }

  save(): readonly [parts: readonly number[], huge: readonly number[]] {
    return [this.parts, this.#rest === null ? NONE : [...this.#rest.huge]];
  }
}

interface Rest {
  readonly parts: number[];
  readonly huge: number[];
}

const NONE: readonly never[] = [];

/** Summands this large could overflow together with 2^53 others. */
const HUGE = 2 ** 970;
const SCALE = 2 ** -100;

/** Adds a value to parts that do not overlap, smallest first, without losing a bit. */
function grow(parts: number[], value: number): void {
  let carried = value;
  let kept = 0;
  for (const part of parts) {
    const sum = carried + part;
    const back = sum - carried;
    const lost = carried - (sum - back) + (part - back);
    if (lost !== 0) parts[kept++] = lost;
    carried = sum;
  }
  parts[kept] = carried;
  if (parts.length > kept + 1) parts.length = kept + 1;
}

/** The double next to the exact sum of the parts, half to even. */
function rounded(parts: readonly number[]): number {
  let next = parts.length - 1;
  let high = parts[next] ?? 0;
  let low = 0;
  while (next > 0 && low === 0) {
    const part = parts[--next] ?? 0;
    const sum = high + part;
    low = part - (sum - high);
    high = sum;
  }
  const below = next > 0 ? (parts[next - 1] ?? 0) : 0;
  return Math.sign(low) * Math.sign(below) > 0 ? roundTie(high, low) : high + 0;
}

/** `high` was rounded with `low` left over, and more on the side of `low` follows: decides a tie by it. */
function roundTie(high: number, low: number): number {
  const doubled = low * 2;
  const candidate = high + doubled;
  return candidate - high === doubled ? candidate : high;
}

/** A double times this, rounded and taken back, leaves its upper half (Veltkamp). */
export const HALVING = 134_217_729;

/** What rounding took from the product of two doubles (Dekker, 1971); bounds as for `ExactSum.addProduct`. */
export function productLost(a: number, b: number, product: number): number {
  const aScaled = a * HALVING;
  const aHigh = aScaled - (aScaled - a);
  const aLow = a - aHigh;
  const bScaled = b * HALVING;
  const bHigh = bScaled - (bScaled - b);
  const bLow = b - bHigh;
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

function isNumber(part: unknown): boolean {
  return typeof part === 'number';
}
