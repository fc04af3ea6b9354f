import type { Value } from '../../../events/value.ts';
import { FLOAT } from '../../plan/types.ts';
import { always, number, quantity } from '../define.ts';
import type { Accumulator, AggregateDescriptor } from '../descriptor.ts';
import { ExactSum, productLost } from './exact-sum.ts';
import { Quantities, quantityOf, requireSame, savedNumbers, savedParts, savedQuantities, type Unit } from './quantity.ts';
import { averageType } from './sum.ts';

/** Beyond this (about 1e120) the squares come near the end of the doubles: the variance counts as overflow. */
const LARGEST = 2 ** 400;

/** What is known of the values: how many, how many of them are beyond `LARGEST`, and the sums of the others. */
interface Moments {
  readonly count: number;
  readonly overflows: number;
  readonly sum: ExactSum;
  readonly squares: ExactSum;
}

/**
 * The sample variance, or its root, from exact sums of the values and of their squares. Taking one from the other is exact
 * too, so nothing cancels however far the values lie from zero, and the order of arrival does not show. Values below 1e-140
 * lose digits, since those of their squares are no doubles.
 */
class SpreadAccumulator extends Quantities {
  #count = 0;
  #overflows = 0;
  readonly #sum: ExactSum;
  readonly #squares: ExactSum;
  readonly #isDeviation: boolean;
  readonly #given: Unit | null;

  constructor(name: 'variance' | 'stddev', unit: Unit | null, { count, overflows, sum, squares }: Moments = noMoments()) {
    super(name, unit);
    this.#count = count;
    this.#overflows = overflows;
    this.#sum = sum;
    this.#squares = squares;
    this.#isDeviation = name === 'stddev';
    this.#given = name === 'variance' ? 'number' : null;
  }

  override addOne(value: Value): void {
    if (typeof value === 'number' && this.unit === 'number') this.#take(value);
    else if (value !== null) this.#take(this.read(value));
  }

  #take(value: number): void {
    this.#count++;
    if (Math.abs(value) > LARGEST) {
      this.#overflows++;
      return;
    }
    this.#sum.add(value);
    this.#squares.addProduct(value, value);
  }

  removeOne(value: Value): void {
    if (value === null) return;
    const number = this.read(value);
    this.#count--;
    if (this.#count === 0) this.unit = this.#given;
    if (Math.abs(number) > LARGEST) {
      this.#overflows--;
      return;
    }
    this.#sum.add(-number);
    this.#squares.addProduct(-number, number);
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof SpreadAccumulator);
    if (other.unit !== null) this.takeUnit(other.unit);
    this.#count += other.#count;
    this.#overflows += other.#overflows;
    this.#sum.addAll(other.#sum);
    this.#squares.addAll(other.#squares);
  }

  result(): Value {
    const n = this.#count;
    if (n < 2 || this.#overflows > 0) return null;
    const variance = Math.max(0, scaledDeviation(n, this.#sum, this.#squares) / n / (n - 1));
    return quantityOf(this.#isDeviation ? Math.sqrt(variance) : variance, this.unit);
  }

  save(): Value {
    return [this.unit, [this.#count, this.#overflows > 0, this.#sum.parts, this.#squares.parts]];
  }
}

function noMoments(): Moments {
  return { count: 0, overflows: 0, sum: new ExactSum(), squares: new ExactSum() };
}

function savedMoments(saved: Value): Moments {
  const [count, overflow, sum, squares] = savedParts(saved);
  return {
    count: Number(count),
    overflows: overflow === true ? 1 : 0,
    sum: new ExactSum(savedNumbers(sum)),
    squares: new ExactSum(savedNumbers(squares)),
  };
}

/** What is read of an exact sum for a deviation, wherever its doubles stand. */
export type SummedExactly = Pick<ExactSum, 'upper' | 'lower' | 'isSingle' | 'hasRest' | 'parts'>;

/** The double next to n times the sum of squares minus the square of the sum. */
export function scaledDeviation(n: number, sum: SummedExactly, squares: SummedExactly): number {
  if (sum.hasRest || squares.hasRest) return exactDeviation(n, sum, squares);
  const quick = quickDeviation(n, sum.upper, sum.lower, squares.upper, squares.lower, sum.isSingle && squares.isSingle);
  return Number.isNaN(quick) ? exactDeviation(n, sum, squares) : quick;
}

function exactDeviation(n: number, sum: SummedExactly, squares: SummedExactly): number {
  const exact = new ExactSum();
  for (const part of squares.parts) exact.addProduct(part, n);
  for (const left of sum.parts) for (const right of sum.parts) exact.addProduct(left, -right);
  return exact.total();
}

/** Below this the last bits of a product may be no double. */
const SMALLEST = 2 ** -800;
/** How much of `upper` may be left to `lower`: then what both leave out is below 2^-102 of the sum. */
const LOWER_PART = 2 ** -50;
/** Bound on the error of the calculation with two doubles, relative to n times the sum of squares. */
const UNCERTAIN = 2 ** -97;

/**
 * `scaledDeviation` with two doubles for each of the sums: s and sLower of the values, q and qLower of their squares; `isSingle`: s
 * and q are all of them. NaN when these do not decide which double is the nearest (Ziv, 1991).
 */
export function quickDeviation(n: number, s: number, sLower: number, q: number, qLower: number, isSingle: boolean): number {
  const nq = n * q;
  const ss = s * s;
  if (nq < SMALLEST || Math.abs(qLower) > q * LOWER_PART || Math.abs(sLower) > Math.abs(s) * LOWER_PART) return Number.NaN;
  const nqLost = productLost(n, q, nq);
  const ssLost = productLost(s, s, ss);
  if (isSingle && nqLost === 0 && ssLost === 0) return nq - ss;
  const difference = nq - ss;
  const back = difference - nq;
  const differenceLost = nq - (difference - back) - (ss + back);
  const lower = differenceLost + (nqLost + n * qLower - (ssLost + 2 * s * sLower + sLower * sLower));
  const total = difference + lower;
  const totalBack = total - difference;
  const left = difference - (total - totalBack) + (lower - totalBack);
  const least = total + (left - nq * UNCERTAIN);
  return least === total + (left + nq * UNCERTAIN) ? least : Number.NaN;
}

export const variance: AggregateDescriptor = {
  name: 'variance',
  parameters: [number('e')],
  result: always(FLOAT),
  summary: 'The sample variance (n - 1); null of fewer than two numbers.',
  examples: [
    { values: [1, 2, 3, null, 4], call: 'variance(x)', result: '1.6666666666666667' },
    { values: [1], call: 'variance(x)', result: 'null' },
  ],
  numbers: { keeps: 'moments', gives: 'variance' },
  create: () => new SpreadAccumulator('variance', 'number'),
  createSliding: () => new SpreadAccumulator('variance', 'number'),
  load: (_, saved) => new SpreadAccumulator('variance', 'number', savedMoments(savedQuantities(saved).state)),
};

export const stddev: AggregateDescriptor = {
  name: 'stddev',
  parameters: [quantity('e')],
  result: averageType,
  summary: 'The sample standard deviation (n - 1) of numbers or durations; null of fewer than two.',
  examples: [{ values: [2, 4, 4, 4, 5, 5, 7, 9, null], call: 'stddev(x)', result: '2.138089935299395' }],
  numbers: { keeps: 'moments', gives: 'deviation' },
  create: () => new SpreadAccumulator('stddev', null),
  createSliding: () => new SpreadAccumulator('stddev', null),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new SpreadAccumulator('stddev', unit, savedMoments(state));
  },
};
