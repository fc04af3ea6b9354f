import type { Value } from '../../../events/value.ts';
import { FLOAT } from '../../plan/types.ts';
import { always, number, quantity } from '../define.ts';
import type { AggregateDescriptor } from '../descriptor.ts';
import { ExactSum, exactProduct } from './exact-sum.ts';
import { Quantities, savedNumbers, savedParts, savedQuantities } from './quantity.ts';
import { averageType } from './sum.ts';

/** Beyond this (about 1e120) the squares come near the end of the doubles: the variance counts as overflow. */
const LARGEST = 2 ** 400;

/**
 * The sample variance from exact sums of the values and of their squares. Taking one from the other is exact too, so
 * nothing cancels however far the values lie from zero, and the order of arrival does not show. Values below 1e-140 lose
 * digits, since those of their squares are no doubles.
 */
class VarianceState {
  readonly #sum: ExactSum;
  readonly #squares: ExactSum;
  #count: number;
  #overflow: boolean;

  constructor(sum = new ExactSum(), squares = new ExactSum(), count = 0, overflow = false) {
    this.#sum = sum;
    this.#squares = squares;
    this.#count = count;
    this.#overflow = overflow;
  }

  add(value: number): void {
    this.#count++;
    if (Math.abs(value) > LARGEST) this.#overflow = true;
    if (this.#overflow) return;
    const [square, rest] = exactProduct(value, value);
    this.#sum.add(value);
    this.#squares.add(square);
    this.#squares.add(rest);
  }

  merge(other: VarianceState): void {
    this.#count += other.#count;
    this.#overflow ||= other.#overflow;
    this.#sum.addAll(other.#sum);
    this.#squares.addAll(other.#squares);
  }

  result(): number | null {
    const n = this.#count;
    if (n < 2 || this.#overflow) return null;
    return Math.max(0, this.#scaledDeviation().total() / n / (n - 1));
  }

  /** n times the sum of squares minus the square of the sum. */
  #scaledDeviation(): ExactSum {
    const exact = new ExactSum();
    for (const part of this.#squares.parts) addProduct(exact, part, this.#count);
    for (const left of this.#sum.parts) for (const right of this.#sum.parts) addProduct(exact, left, -right);
    return exact;
  }

  save(): Value {
    return [this.#count, this.#overflow, this.#sum.save()[0], this.#squares.save()[0]];
  }
}

class DeviationState extends VarianceState {
  override result(): number | null {
    const variance = super.result();
    return variance === null ? null : Math.sqrt(variance);
  }
}

function addProduct(sum: ExactSum, a: number, b: number): void {
  const [product, rest] = exactProduct(a, b);
  sum.add(product);
  sum.add(rest);
}

function savedMoments(saved: Value): ConstructorParameters<typeof VarianceState> {
  const [count, overflow, sum, squares] = savedParts(saved);
  return [new ExactSum(savedNumbers(sum)), new ExactSum(savedNumbers(squares)), Number(count), overflow === true];
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
  create: () => new Quantities('variance', new VarianceState(), 'number'),
  load: (_, saved) => new Quantities('variance', new VarianceState(...savedMoments(savedQuantities(saved).state)), 'number'),
};

export const stddev: AggregateDescriptor = {
  name: 'stddev',
  parameters: [quantity('e')],
  result: averageType,
  summary: 'The sample standard deviation (n - 1) of numbers or durations; null of fewer than two.',
  examples: [{ values: [2, 4, 4, 4, 5, 5, 7, 9, null], call: 'stddev(x)', result: '2.138089935299395' }],
  create: () => new Quantities('stddev', new DeviationState()),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new Quantities('stddev', new DeviationState(...savedMoments(state)), unit);
  },
};
