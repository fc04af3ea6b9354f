import type { Value } from '../../../events/value.ts';
import { int, quantity } from '../define.ts';
import { type AggregateDescriptor, EvaluationError } from '../descriptor.ts';
import { OrderedQuantities, savedQuantities } from './quantity.ts';
import { averageType } from './sum.ts';

class EmaState {
  readonly #weight: number;
  #average: number | null;

  constructor(n: number, average: number | null = null) {
    this.#weight = 2 / (n + 1);
    this.#average = average;
  }

  add(value: number): void {
    this.#average = this.#average === null ? value : value * this.#weight + this.#average * (1 - this.#weight);
  }

  result(): number | null {
    return this.#average;
  }

  save(): Value {
    return this.#average;
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
  create: (constants) => new OrderedQuantities('ema', new EmaState(periodOf(constants))),
  load: (constants, saved) => {
    const { unit, state } = savedQuantities(saved);
    return new OrderedQuantities('ema', new EmaState(periodOf(constants), typeof state === 'number' ? state : null), unit);
  },
};

function periodOf([n]: readonly Value[]): number {
  if (!isPeriod(n)) throw new EvaluationError('ema: n must be a whole number from 1 on');
  return n;
}

function isPeriod(n: Value | undefined): n is number {
  return Number.isSafeInteger(n) && Number(n) >= 1;
}
