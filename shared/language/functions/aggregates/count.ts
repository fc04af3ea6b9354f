import { invariant } from '../../../errors/error.ts';
import { keyOf } from '../../../events/text.ts';
import type { Value } from '../../../events/value.ts';
import { FLOAT, INT } from '../../plan/types.ts';
import { always, any, optional } from '../define.ts';
import type { Accumulator, AggregateDescriptor, AggregateWindow } from '../descriptor.ts';
import { savedParts } from './quantity.ts';

class CountAccumulator implements Accumulator {
  #count: number;

  constructor(count = 0) {
    this.#count = count;
  }

  add(args: readonly Value[]): void {
    if (args.length === 0 || (args[0] ?? null) !== null) this.#count++;
  }

  merge(other: Accumulator): void {
    invariant(other instanceof CountAccumulator, 'accumulators of one aggregate merge');
    this.#count += other.#count;
  }

  result(_window: AggregateWindow): Value {
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
  create: () => new CountAccumulator(),
  load: (_, saved) => new CountAccumulator(Number(saved)),
};

class RateAccumulator extends CountAccumulator {
  override add(): void {
    super.add([]);
  }

  override result(window: AggregateWindow): Value {
    return window.lengthMs > 0 ? (Number(super.result(window)) * 1000) / window.lengthMs : null;
  }
}

export const rate: AggregateDescriptor = {
  name: 'rate',
  parameters: [],
  result: always(FLOAT),
  summary:
    'Events per second of the window; for count and session windows, of the time from the first event to the last. Null when that is 0.',
  examples: [{ values: [1, 1, null, 1, 1], call: 'rate()', result: '0.5' }],
  create: () => new RateAccumulator(),
  load: (_, saved) => new RateAccumulator(Number(saved)),
};

/** The keys of the values seen: exact, at the price of holding them. */
class DistinctAccumulator implements Accumulator {
  readonly #keys: Set<string>;

  constructor(keys: Iterable<string> = []) {
    this.#keys = new Set(keys);
  }

  add(args: readonly Value[]): void {
    const value = args[0] ?? null;
    if (value !== null) this.#keys.add(keyOf([value]));
  }

  merge(other: Accumulator): void {
    invariant(other instanceof DistinctAccumulator, 'accumulators of one aggregate merge');
    for (const key of other.#keys) this.#keys.add(key);
  }

  result(): Value {
    return this.#keys.size;
  }

  save(): Value {
    return [...this.#keys];
  }
}

export const countDistinct: AggregateDescriptor = {
  name: 'count_distinct',
  aliases: ['distinct_count'],
  parameters: [any('e')],
  result: always(INT),
  summary: 'The exact number of different values that are not null.',
  examples: [{ values: ['a', 'b', 'a', null, 1], call: 'count_distinct(x)', result: '3' }],
  create: () => new DistinctAccumulator(),
  load: (_, saved) => new DistinctAccumulator(savedParts(saved).map(String)),
};
