import type { Value } from '../../../events/value.ts';
import { FLOAT, type Type } from '../../plan/types.ts';
import { quantity, sameAs } from '../define.ts';
import type { AggregateDescriptor } from '../descriptor.ts';
import { ExactSum } from './exact-sum.ts';
import { Quantities, savedNumbers, savedParts, savedQuantities } from './quantity.ts';

/** The exact sum of what was added, rounded once; 0 of nothing. */
class SumState {
  readonly #sum: ExactSum;

  constructor(sum = new ExactSum()) {
    this.#sum = sum;
  }

  add(value: number): void {
    this.#sum.add(value);
  }

  merge(other: SumState): void {
    this.#sum.addAll(other.#sum);
  }

  result(): number {
    return this.#sum.total();
  }

  save(): Value {
    return this.#sum.save();
  }
}

class MeanState {
  readonly #sum: ExactSum;
  #count: number;

  constructor(sum = new ExactSum(), count = 0) {
    this.#sum = sum;
    this.#count = count;
  }

  add(value: number): void {
    this.#sum.add(value);
    this.#count++;
  }

  merge(other: MeanState): void {
    this.#sum.addAll(other.#sum);
    this.#count += other.#count;
  }

  result(): number | null {
    return this.#count === 0 ? null : this.#sum.total(this.#count);
  }

  save(): Value {
    return [...this.#sum.save(), this.#count];
  }
}

function loadSum(saved: Value): ExactSum {
  const [parts, hugeParts] = savedParts(saved);
  return new ExactSum(savedNumbers(parts), savedNumbers(hugeParts));
}

export const sum: AggregateDescriptor = {
  name: 'sum',
  parameters: [quantity('e')],
  result: sameAs(0),
  summary: 'The sum of numbers or durations; 0 of nothing. It is rounded once, so the order of arrival does not show.',
  examples: [
    { values: [1, null, 2], call: 'sum(x)', result: '3' },
    { values: [0.1, 0.2, 0.3], call: 'sum(x)', result: '0.6' },
    { values: [], call: 'sum(x)', result: '0' },
  ],
  create: () => new Quantities('sum', new SumState()),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new Quantities('sum', new SumState(loadSum(state)), unit);
  },
};

export const avg: AggregateDescriptor = {
  name: 'avg',
  parameters: [quantity('e')],
  result: averageType,
  summary: 'The mean of numbers or durations; null of nothing.',
  examples: [
    { values: [1, null, 2], call: 'avg(x)', result: '1.5' },
    { values: [null], call: 'avg(x)', result: 'null' },
  ],
  create: () => new Quantities('avg', new MeanState()),
  load: (_, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new Quantities('avg', new MeanState(loadSum(state), Number(savedParts(state)[2])), unit);
  },
};

/** The type of a mean or a quantile: of durations a duration, of numbers a float. */
export function averageType(args: readonly Type[]): Type {
  const type = args[0] ?? FLOAT;
  return type.kind === 'int' || type.kind === 'null' ? FLOAT : type;
}
