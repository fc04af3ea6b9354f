import type { Value } from '../../../events/value.ts';
import { int, quantity } from '../define.ts';
import { type AggregateDescriptor, EvaluationError } from '../descriptor.ts';
import { Quantities, quantityOf, savedQuantities, type Unit } from './quantity.ts';
import { averageType } from './sum.ts';

/** Follows the order of arrival. */
class EmaAccumulator extends Quantities {
  readonly #weight: number;
  #average = 0;
  #isEmpty = true;

  constructor(n: number, unit: Unit | null = null, average: Value = null) {
    super('ema', unit);
    this.#weight = weightOf(n);
    if (typeof average === 'number') this.#take(average);
  }

  override addOne(value: Value): void {
    if (typeof value === 'number' && this.unit === 'number') this.#take(value);
    else if (value !== null) this.#take(this.read(value));
  }

  #take(value: number): void {
    this.#average = this.#isEmpty ? value : value * this.#weight + this.#average * (1 - this.#weight);
    this.#isEmpty = false;
  }

  result(): Value {
    return this.#isEmpty ? null : quantityOf(this.#average, this.unit);
  }

  save(): Value {
    return [this.unit, this.#isEmpty ? null : this.#average];
  }
}

export const ema: AggregateDescriptor = {
  name: 'ema',
  parameters: [quantity('e'), int('n')],
  result: averageType,
  summary: 'The exponential moving average in order of arrival, with weight 2 / (n + 1), starting from the first value; null of nothing.',
  examples: [{ values: [10, null, 20, 40], call: 'ema(x, 3)', result: '27.5' }],
  constantsFrom: 1,
  checkConstants: ([n]) => (isPeriod(n) ? undefined : 'the period n of ema is a whole number from 1 on'),
  numbers: { keeps: 'average', weight: (constants) => weightOf(periodOf(constants)) },
  create: (constants) => new EmaAccumulator(periodOf(constants)),
  load: (constants, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new EmaAccumulator(periodOf(constants), unit, state);
  },
};

function weightOf(n: number): number {
  return 2 / (n + 1);
}

function periodOf([n]: readonly Value[]): number {
  if (!isPeriod(n)) throw new EvaluationError('ema: n must be a whole number from 1 on');
  return n;
}

function isPeriod(n: Value | undefined): n is number {
  return Number.isSafeInteger(n) && Number(n) >= 1;
}
