import { keyOf } from '../../../events/text.ts';
import type { Value } from '../../../events/value.ts';
import { requireBounded } from '../../../events/value-limits.ts';
import { FLOAT, INT } from '../../plan/types.ts';
import { always, any, optional } from '../define.ts';
import type { Accumulator, AggregateDescriptor, AggregateWindow } from '../descriptor.ts';
import { requireSame, savedParts } from './quantity.ts';

class CountAccumulator implements Accumulator {
  #count = 0;

  constructor(count = 0) {
    this.#count = count;
  }

  add(args: readonly Value[]): void {
    this.addOne(args.length === 0 || (args[0] ?? null));
  }

  addOne(value: Value): void {
    if (value !== null) this.#count++;
  }

  removeOne(value: Value): void {
    if (value !== null) this.#count--;
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof CountAccumulator);
    this.#count += other.#count;
  }

  result(): Value {
    return this.#count;
  }

  save(): Value {
    return this.#count;
  }
}

export const count: AggregateDescriptor = {
  name: 'count',
  parameters: [optional(any('e'))],
  result: always(INT),
  summary: 'The number of events; with an argument, of those for which it is not null. `count(distinct(e))` is `count_distinct(e)`.',
  examples: [
    { values: [5, null, 5], call: 'count()', result: '3' },
    { values: [5, null, 5], call: 'count(x)', result: '2' },
  ],
  takes: 'anything',
  numbers: { keeps: 'count' },
  create: () => new CountAccumulator(),
  createSliding: () => new CountAccumulator(),
  load: (_, saved) => new CountAccumulator(Number(saved)),
};

class RateAccumulator implements Accumulator {
  #count = 0;

  constructor(count = 0) {
    this.#count = count;
  }

  add(): void {
    this.#count++;
  }

  addOne(): void {
    this.#count++;
  }

  removeOne(): void {
    this.#count--;
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof RateAccumulator);
    this.#count += other.#count;
  }

  result({ lengthMs }: AggregateWindow): Value {
    return lengthMs > 0 ? (this.#count * 1000) / lengthMs : null;
  }

  save(): Value {
    return this.#count;
  }
}

export const rate: AggregateDescriptor = {
  name: 'rate',
  parameters: [],
  result: always(FLOAT),
  summary:
    'Events per second of the window; for count and session windows, of the time from the first event to the last. Null when that is 0.',
  examples: [{ values: [1, 1, null, 1, 1], call: 'rate()', result: '0.5' }],
  takes: 'anything',
  numbers: { keeps: 'count', per: 'second' },
  create: () => new RateAccumulator(),
  createSliding: () => new RateAccumulator(),
  load: (_, saved) => new RateAccumulator(Number(saved)),
};

/** The keys of the values seen: exact, at the price of holding them. */
class DistinctAccumulator implements Accumulator {
  readonly #keys: Set<string>;

  constructor(keys: Iterable<string> = []) {
    this.#keys = new Set(keys);
  }

  add(args: readonly Value[]): void {
    this.addOne(args[0] ?? null);
  }

  addOne(value: Value): void {
    if (value !== null) this.#keys.add(keyOf([value]));
  }

  require(value: Value): void {
    requireBounded(value);
  }

  merge(other: Accumulator): void {
    requireSame(other instanceof DistinctAccumulator);
    for (const key of other.#keys) this.#keys.add(key);
  }

  result(): Value {
    return this.#keys.size;
  }

  save(): Value {
    return [...this.#keys];
  }
}

/** How often each key is in the window. */
class SlidingDistinct {
  readonly #times = new Map<string, number>();

  addOne(value: Value): void {
    if (value === null) return;
    const key = keyOf([value]);
    this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
  }

  removeOne(value: Value): void {
    if (value === null) return;
    const key = keyOf([value]);
    const times = this.#times.get(key) ?? 0;
    if (times > 1) this.#times.set(key, times - 1);
    else this.#times.delete(key);
  }

  result(): Value {
    return this.#times.size;
  }
}

export const countDistinct: AggregateDescriptor = {
  name: 'count_distinct',
  aliases: ['distinct_count'],
  parameters: [any('e')],
  result: always(INT),
  summary: 'The exact number of different values that are not null.',
  examples: [{ values: ['a', 'b', 'a', null, 1], call: 'count_distinct(x)', result: '3' }],
  takes: 'anything',
  create: () => new DistinctAccumulator(),
  createSliding: () => new SlidingDistinct(),
  load: (_, saved) => new DistinctAccumulator(savedParts(saved).map(String)),
};
