import type { Value } from '../../../events/value.ts';
import { FLOAT, type Type } from '../../plan/types.ts';
import { quantity, sameAs } from '../define.ts';
import type { Accumulator, AggregateDescriptor } from '../descriptor.ts';
import { ExactSum } from './exact-sum.ts';
import { Quantities, quantityOf, requireSame, savedNumbers, savedParts, savedQuantities, type Unit } from './quantity.ts';

/** The exact sum of what was added, rounded once, and 0 or `0s` of nothing; or the mean. */
class TotalAccumulator extends Quantities {
  readonly #sum: ExactSum;
  /** A loaded sum, other than a mean, does not know how many were added before. */
  #count = 0;
  readonly #isMean: boolean;
  /** Of nothing; a value says the unit by itself. */
  readonly #unitOfNone: Unit | null;

  constructor(name: 'sum' | 'avg', unit: Unit | null = null, sum = new ExactSum(), count = 0, unitOfNone: Unit | null = null) {
    super(name, unit);
    this.#sum = sum;
    this.#count = count;
    this.#isMean = name === 'avg';
    this.#unitOfNone = unitOfNone;
  }

  override addOne(value: Value): void {
    if (typeof value === 'number' && this.unit === 'number') this.#sum.add(value);
    else if (value !== null) this.#sum.add(this.read(value));
    else return;
    this.#count++;
  }

  removeOne(value: Value): void {
    if (value === null) return;
    this.#sum.add(-this.read(value));
    this.#count--;
    if (this.#count === 0) this.unit = null;
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof TotalAccumulator);
    if (other.unit !== null) this.takeUnit(other.unit);
    this.#sum.addAll(other.#sum);
    this.#count += other.#count;
  }

  result(): Value {
    if (!this.#isMean) return quantityOf(this.#sum.total(), this.unit ?? this.#unitOfNone);
    return this.#count === 0 ? null : quantityOf(this.#sum.total(this.#count), this.unit);
  }

  save(): Value {
    const sum = this.#sum.save();
    return [this.unit, this.#isMean ? [...sum, this.#count] : sum];
  }
}

function loadSum(saved: Value): ExactSum {
  const [parts, hugeParts] = savedParts(saved);
  return new ExactSum(savedNumbers(parts), savedNumbers(hugeParts));
}

const sumOf = (unitOfNone: Unit | null): Pick<AggregateDescriptor, 'create' | 'createSliding' | 'load'> => ({
  create: () => new TotalAccumulator('sum', null, new ExactSum(), 0, unitOfNone),
  createSliding: () => new TotalAccumulator('sum', null, new ExactSum(), 0, unitOfNone),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new TotalAccumulator('sum', unit, loadSum(state), 0, unitOfNone);
  },
});

const sumOfAny: AggregateDescriptor = {
  name: 'sum',
  parameters: [quantity('e')],
  result: sameAs(0),
  summary:
    'The sum of numbers or durations; 0 of nothing, `0s` where the values are declared durations. It is rounded once, so the order of arrival does not show.',
  examples: [
    { values: [1, null, 2], call: 'sum(x)', result: '3' },
    { values: [0.1, 0.2, 0.3], call: 'sum(x)', result: '0.6' },
    { values: [], call: 'sum(x)', result: '0' },
  ],
  numbers: { keeps: 'sum' },
  ...sumOf(null),
};

export const sum: AggregateDescriptor = { ...sumOfAny, ofDurations: { ...sumOfAny, ...sumOf('duration') } };

export const avg: AggregateDescriptor = {
  name: 'avg',
  parameters: [quantity('e')],
  result: averageType,
  summary: 'The mean of numbers or durations; null of nothing.',
  examples: [
    { values: [1, null, 2], call: 'avg(x)', result: '1.5' },
    { values: [null], call: 'avg(x)', result: 'null' },
  ],
  numbers: { keeps: 'mean' },
  create: () => new TotalAccumulator('avg'),
  createSliding: () => new TotalAccumulator('avg'),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new TotalAccumulator('avg', unit, loadSum(state), Number(savedParts(state)[2]));
  },
};

/** The type of a mean or a quantile: of durations a duration, of numbers a float. */
export function averageType(args: readonly Type[]): Type {
  const type = args[0] ?? FLOAT;
  return type.kind === 'int' || type.kind === 'null' ? FLOAT : type;
}
