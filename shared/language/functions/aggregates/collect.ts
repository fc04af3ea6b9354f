import type { Value } from '../../../events/value.ts';
import { requireBounded } from '../../../events/value-limits.ts';
import { ANY, arrayOf } from '../../plan/types.ts';
import { any } from '../define.ts';
import type { Accumulator, AggregateDescriptor } from '../descriptor.ts';
import { savedParts } from './quantity.ts';

class CollectAccumulator implements Accumulator {
  #values: Value[];
  /** What lies before it was taken out again. */
  #start = 0;
  /** A result holds this very array, so the next value goes into a copy. */
  #handedOut = false;

  constructor(values: readonly Value[] = []) {
    this.#values = [...values];
  }

  add(args: readonly Value[]): void {
    this.addOne(args[0] ?? null);
  }

  addOne(value: Value): void {
    if (value === null) return;
    requireBounded(value);
    if (this.#handedOut) this.#values = [...this.#values];
    this.#handedOut = false;
    this.#values.push(value);
  }

  require(value: Value): void {
    requireBounded(value);
  }

  removeOne(value: Value): void {
    if (value !== null) this.#start++;
  }

  result(): Value {
    this.resultInPassing();
    this.#handedOut = true;
    return this.#values;
  }

  resultInPassing(): Value {
    if (this.#start > 0) this.#values = this.#values.slice(this.#start);
    this.#start = 0;
    return this.#values;
  }

  save(): Value {
    return [...this.#values];
  }
}

export const collect: AggregateDescriptor = {
  name: 'collect',
  parameters: [any('e')],
  result: (args) => arrayOf(args[0] ?? ANY),
  summary: 'The values that are not null as an array, in order of arrival.',
  examples: [{ values: ['b', null, 'a'], call: 'collect(x)', result: '["b", "a"]' }],
  takes: 'anything',
  create: () => new CollectAccumulator(),
  createSliding: () => new CollectAccumulator(),
  load: (_, saved) => new CollectAccumulator(savedParts(saved)),
};
