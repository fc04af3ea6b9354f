/**
 * The textbook way to exact sums, as an oracle: one list of doubles that do not overlap (Shewchuk, 1997), and apart from them
 * the summands from 2^970 on, scaled down.
 */
export class SumOracle {
  readonly #parts: number[] = [];
  readonly #hugeParts: number[] = [];

  add(value: number): void {
    if (Math.abs(value) < HUGE) grow(this.#parts, value);
    else grow(this.#hugeParts, value * SCALE);
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
  return Math.sign(low) * Math.sign(below) > 0 ? roundTie(high, low) : high + 0;
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
function exactProduct(a: number, b: number): readonly [product: number, rest: number] {
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

/** The sample variance of numbers up to 1e120 from exact sums; NaN of fewer than two. */
export function varianceOracle(values: readonly number[]): number {
  const [sum, squares, deviation] = [new SumOracle(), new SumOracle(), new SumOracle()];
  for (const value of values) {
    sum.add(value);
    addProduct(squares, value, value);
  }
  const n = values.length;
  for (const part of squares.parts) addProduct(deviation, part, n);
  for (const left of sum.parts) for (const right of sum.parts) addProduct(deviation, left, -right);
  return n < 2 ? Number.NaN : Math.max(0, deviation.total() / n / (n - 1));
}

function addProduct(sum: SumOracle, a: number, b: number): void {
  for (const part of exactProduct(a, b)) sum.add(part);
}
