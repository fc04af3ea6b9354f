import type { Value } from '../../../events/value.ts';
import { number, quantity } from '../define.ts';
import { type Accumulator, type AggregateDescriptor, type AggregateExample, EvaluationError } from '../descriptor.ts';
import { Quantities, quantityOf, requireSame, savedNumbers, savedQuantities, type Unit } from './quantity.ts';
import { RankedNumbers } from './ranked-numbers.ts';
import { averageType } from './sum.ts';

/** Every value. Nothing is estimated. */
class QuantileAccumulator extends Quantities {
  readonly #values: RankedNumbers;

  constructor(name: string, fraction: number, unit: Unit | null = null, values: readonly number[] = []) {
    super(name, unit);
    this.#values = new RankedNumbers(fraction, values);
  }

  override addOne(value: Value): void {
    if (typeof value === 'number' && this.unit === 'number') this.#values.add(value);
    else if (value !== null) this.#values.add(this.read(value));
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof QuantileAccumulator);
    if (other.unit !== null) this.takeUnit(other.unit);
    for (const value of other.#values.sorted()) this.#values.add(value);
  }

  result(): Value {
    return quantityOf(this.#values.quantile(), this.unit);
  }

  /** Sorted, so that the same values give the same state in whatever order they came. */
  save(): Value {
    return [this.unit, this.#values.sorted()];
  }
}

/** The same while values leave. */
class SlidingQuantile extends Quantities {
  readonly #values: RankedNumbers;

  constructor(name: string, fraction: number) {
    super(name, null);
    this.#values = new RankedNumbers(fraction);
  }

  override addOne(value: Value): void {
    if (value !== null) this.#values.add(this.read(value));
  }

  removeOne(value: Value): void {
    if (value === null) return;
    this.#values.take(this.read(value));
    if (this.#values.size === 0) this.unit = null;
  }

  result(): Value {
    return quantityOf(this.#values.quantile(), this.unit);
  }

  save(): Value {
    return [this.unit, this.#values.sorted()];
  }
}

interface FixedQuantile {
  readonly name: string;
  readonly fraction: number;
  readonly summary: string;
  readonly example: AggregateExample;
}

function fixedQuantile({ name, fraction, summary, example }: FixedQuantile): AggregateDescriptor {
  return {
    name,
    parameters: [quantity('e')],
    result: averageType,
    summary,
    examples: [example],
    create: () => new QuantileAccumulator(name, fraction),
    createSliding: () => new SlidingQuantile(name, fraction),
    load: (_, saved) => load(name, fraction, saved),
  };
}

function load(name: string, fraction: number, saved: Value): Accumulator {
  const { unit, state } = savedQuantities(saved);
  return new QuantileAccumulator(name, fraction, unit, savedNumbers(state));
}

const ONE_TO_FIVE = [5, 3, 1, 2, 4];

export const median = fixedQuantile({
  name: 'median',
  fraction: 0.5,
  summary: 'The middle value; between two of them, their mean.',
  example: { values: [4, 1, 3, 2], call: 'median(x)', result: '2.5' },
});

export const p50 = fixedQuantile({
  name: 'p50',
  fraction: 0.5,
  summary: 'percentile(e, 0.5)',
  example: { values: ONE_TO_FIVE, call: 'p50(x)', result: '3' },
});

export const p90 = fixedQuantile({
  name: 'p90',
  fraction: 0.9,
  summary: 'percentile(e, 0.9)',
  example: { values: ONE_TO_FIVE, call: 'p90(x)', result: '4.6' },
});

export const p95 = fixedQuantile({
  name: 'p95',
  fraction: 0.95,
  summary: 'percentile(e, 0.95)',
  example: { values: ONE_TO_FIVE, call: 'p95(x)', result: '4.8' },
});

export const p99 = fixedQuantile({
  name: 'p99',
  fraction: 0.99,
  summary: 'percentile(e, 0.99)',
  example: { values: ONE_TO_FIVE, call: 'p99(x)', result: '4.96' },
});

export const percentile: AggregateDescriptor = {
  name: 'percentile',
  parameters: [quantity('e'), number('q')],
  result: averageType,
  summary: 'The value below which the fraction q (0 to 1) of the values lies, linear between neighbours: rank q * (n - 1).',
  examples: [
    { values: [10, 40, 20, 30], call: 'percentile(x, 0.5)', result: '25' },
    { values: ONE_TO_FIVE, call: 'percentile(x, 0)', result: '1' },
  ],
  constantsFrom: 1,
  checkConstants: ([q]) => (isFraction(q) ? undefined : 'the fraction q of percentile is a number from 0 to 1'),
  create: (constants) => new QuantileAccumulator('percentile', fractionOf(constants)),
  createSliding: (constants) => new SlidingQuantile('percentile', fractionOf(constants)),
  load: (constants, saved) => load('percentile', fractionOf(constants), saved),
};

function fractionOf([q]: readonly Value[]): number {
  if (!isFraction(q)) throw new EvaluationError('percentile: q must be a number from 0 to 1');
  return q;
}

function isFraction(q: Value | undefined): q is number {
  return typeof q === 'number' && q >= 0 && q <= 1;
}
