/**
 * A sum without rounding on the way: the result is the double next to the exact sum of everything added, so it does not
 * depend on the order of adding, on grouping, or on a save and load in between.
 *
 * The sum is kept as a few doubles that do not overlap (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997, as
 * in Python's `fsum`); for most data that is one to three of them. Summands from 2^970 on are kept apart, scaled down, so
 * that a sum which only passes beyond the largest double comes back from there.
 */
export class ExactSum {
  readonly #parts: number[];
  readonly #hugeParts: number[];

  constructor(parts: readonly number[] = [], hugeParts: readonly number[] = []) {
    this.#parts = [...parts];
    this.#hugeParts = [...hugeParts];
  }

  add(value: number): void {
    if (Math.abs(value) < HUGE) grow(this.#parts, value);
    else grow(this.#hugeParts, value * SCALE);
  }

  addAll(other: ExactSum): void {
    for (const part of other.#parts) grow(this.#parts, part);
    for (const part of other.#hugeParts) grow(this.#hugeParts, part);
  }

  /** The sum divided by a count; infinite when that is beyond the range of doubles. */
  total(divisor = 1): number {
    if (rounded(this.#hugeParts) === 0) return rounded(this.#parts) / divisor;
    const all = [...this.#hugeParts];
    for (const part of this.#parts) grow(all, part * SCALE);
    return rounded(all) / divisor / SCALE;
  }

  /** Doubles whose exact sum this is, as long as no summand was huge. */
  get parts(): readonly number[] {
    return this.#parts;
  }

  save(): readonly [readonly number[], readonly number[]] {
    return [[...this.#parts], [...this.#hugeParts]];
  }
}

/** Summands this large could overflow together with 2^53 others. */
const HUGE = 2 ** 970;
const SCALE = 2 ** -100;

/** Adds a value to the parts, smallest first, without losing a bit. */
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
  return low * below > 0 ? roundTie(high, low) : high + 0;
}

/** `high` was rounded with `low` left over, and more on the side of `low` follows: decides a tie by it. */
function roundTie(high: number, low: number): number {
  const doubled = low * 2;
  const candidate = high + doubled;
  return candidate - high === doubled ? candidate : high;
}

/**
 * The exact product of two doubles as a double and what was rounded off (Dekker, 1971). Factors stay below 2^990, and the
 * product is neither infinite nor so small that its last bits are no double.
 */
export function exactProduct(a: number, b: number): readonly [product: number, rest: number] {
  const product = a * b;
  const [aHigh, aLow] = halves(a);
  const [bHigh, bLow] = halves(b);
  return [product, aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)];
}

function halves(value: number): readonly [high: number, low: number] {
  const scaled = value * 134_217_729;
  const high = scaled - (scaled - value);
  return [high, value - high];
}
