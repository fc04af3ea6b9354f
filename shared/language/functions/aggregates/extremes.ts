import type { Value } from '../../../events/value.ts';
import { arrayOf, DURATION, STR, TIMESTAMP } from '../../plan/types.ts';
import { int, itemOf, NUMBER, oneOf, sameAs } from '../define.ts';
import { type Accumulator, type AggregateDescriptor, type AggregateExample, EvaluationError } from '../descriptor.ts';
import { beats, type Direction, orderOf, requireOrdered } from '../extremes.ts';
import { Candidates } from './candidates.ts';
import { requireSame, savedParts } from './quantity.ts';

/** The largest or smallest value so far. */
class ExtremeAccumulator implements Accumulator {
  readonly #name: string;
  readonly #direction: Direction;
  #best: Value;

  constructor(name: string, direction: Direction, best: Value = null) {
    this.#name = name;
    this.#direction = direction;
    this.#best = best;
  }

  add(args: readonly Value[]): void {
    this.addOne(args[0] ?? null);
  }

  addOne(value: Value): void {
    const best = this.#best;
    if (typeof value === 'number' && typeof best === 'number') {
      if (this.#direction > 0 ? value > best : value < best) this.#best = value;
    } else if (value !== null && beats(this.#name, value, best, this.#direction)) this.#best = value;
  }

  require(value: Value): void {
    if (typeof value !== 'number' || typeof this.#best !== 'number') beats(this.#name, value, this.#best, this.#direction);
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof ExtremeAccumulator);
    this.addOne(other.#best);
  }

  result(): Value {
    return this.#best;
  }

  save(): Value {
    return this.#best;
  }
}

/** The same while the values that arrived first leave. Of equal ones the first is the best. */
class SlidingExtreme {
  readonly #name: string;
  readonly #direction: Direction;
  readonly #candidates = new Candidates();

  constructor(name: string, direction: Direction) {
    this.#name = name;
    this.#direction = direction;
  }

  addOne(value: Value, time: number, order: number): void {
    if (value === null) return;
    const candidates = this.#candidates;
    while (beats(this.#name, value, candidates.last, this.#direction) && !candidates.isEmpty) candidates.pop();
    candidates.push(value, time, order);
  }

  removeOne(_value: Value, _time: number, order: number): void {
    this.#candidates.leave(order);
  }

  result(): Value {
    return this.#candidates.best;
  }
}

const ordered = oneOf<Value>('e', ...NUMBER, STR, TIMESTAMP, DURATION);

function extreme(name: string, direction: Direction, summary: string, examples: AggregateDescriptor['examples']): AggregateDescriptor {
  return {
    name,
    parameters: [ordered],
    result: sameAs(0),
    summary,
    examples,
    takes: 'one_kind',
    numbers: { keeps: 'extreme', sign: direction < 0 ? '<' : '>' },
    create: () => new ExtremeAccumulator(name, direction),
    createSliding: () => new SlidingExtreme(name, direction),
    load: (_, saved) => new ExtremeAccumulator(name, direction, saved),
  };
}

const unordered: AggregateExample['values'] = [2, null, 7, 3];

export const min = extreme('min', -1, 'The smallest number, string, time or duration; null of nothing.', [
  { values: unordered, call: 'min(x)', result: '2' },
]);

export const max = extreme('max', 1, 'The largest number, string, time or duration; null of nothing.', [
  { values: unordered, call: 'max(x)', result: '7' },
  { values: ['b', 'é', 'a'], call: 'max(x)', result: '"é"' },
]);

/** The n largest values so far, largest first. */
class TopAccumulator implements Accumulator {
  readonly #size: number;
  readonly #values: Value[];

  constructor(size: number, values: readonly Value[] = []) {
    this.#size = size;
    this.#values = [...values];
  }

  add(args: readonly Value[]): void {
    this.addOne(args[0] ?? null);
  }

  addOne(value: Value): void {
    if (value === null) return;
    requireOrdered('top', value);
    const position = this.#positionOf(value);
    if (position >= this.#size) return;
    this.#values.splice(position, 0, value);
    if (this.#values.length > this.#size) this.#values.pop();
  }

  require(value: Value): void {
    beats('top', value, this.#values[0] ?? null, 1);
  }

  /** Behind every value that is not smaller. */
  #positionOf(value: Value): number {
    let low = 0;
    let high = this.#values.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (orderOf('top', value, this.#values[middle] ?? null) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof TopAccumulator);
    for (const value of other.#values) this.addOne(value);
  }

  result(): Value {
    return [...this.#values];
  }

  save(): Value {
    return [...this.#values];
  }
}

export const top: AggregateDescriptor = {
  name: 'top',
  parameters: [ordered, int('n')],
  result: (args) => arrayOf(args[0] ?? itemOf(undefined)),
  summary: 'The n largest values as an array, largest first.',
  examples: [{ values: [2, 9, null, 7, 9], call: 'top(x, 3)', result: '[9, 9, 7]' }],
  constantsFrom: 1,
  checkConstants: ([n]) => (isSize(n) ? undefined : 'the number n of top is a whole number from 1 on'),
  takes: 'one_kind',
  create: (constants) => new TopAccumulator(sizeOf(constants)),
  load: (constants, saved) => new TopAccumulator(sizeOf(constants), savedParts(saved)),
};

function sizeOf([n]: readonly Value[]): number {
  if (!isSize(n)) throw new EvaluationError('top: n must be a whole number from 1 on');
  return n;
}

function isSize(n: Value | undefined): n is number {
  return Number.isSafeInteger(n) && Number(n) >= 1;
}
