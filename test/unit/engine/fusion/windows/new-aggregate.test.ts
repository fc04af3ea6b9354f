import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Value } from '../../../../../shared/events/value.ts';
import type { Accumulator, AggregateDescriptor } from '../../../../../shared/language/functions/descriptor.ts';
import { aggregates } from '../../../../../shared/language/functions/index.ts';
import { EVENT, type TestEvent } from '../../windows/timeline.ts';
import { expectAlike, kernelsOf } from './alike.ts';

/** The product of small whole numbers; there is no state of numbers for it. */
class Product implements Accumulator {
  #product: number;

  constructor(product = 1) {
    this.#product = product;
  }

  add([value = null]: readonly Value[]): void {
    this.addOne(value);
  }

  addOne(value: Value): void {
    if (value !== null) this.#product *= Number(value);
  }

  merge(other: Accumulator): void {
    if (other instanceof Product) this.#product *= other.#product;
  }

  result(): Value {
    return this.#product;
  }

  save(): Value {
    return this.#product;
  }
}

const sum = aggregates.get('sum') as AggregateDescriptor;
const { createSliding: _, numbers: __, ...basis } = sum;
const product: AggregateDescriptor = {
  ...basis,
  name: 'product',
  create: () => new Product(),
  load: (_constants, saved) => new Product(Number(saved)),
};
/** A sum by another name: what it keeps is said by its descriptor alone. */
const total: AggregateDescriptor = { ...sum, name: 'total' };

const table = aggregates as Map<string, AggregateDescriptor>;
beforeAll(() => {
  for (const one of [product, total]) table.set(one.name, one);
});
afterAll(() => {
  for (const one of [product, total]) table.delete(one.name);
});

const events = Array.from(
  { length: 24 },
  (_event, index): TestEvent => ({
    index,
    type: 'E',
    k: index % 3 === 0 ? 'a' : 'b',
    v: index % 5 === 4 ? null : (index % 4) + 1,
    us: 100_000_000 + index * 1_700,
  }),
);

test.each([
  ['', true],
  ['.window(4)', true],
  ['.window(10ms)', true],
  ['.window(session: 3ms)', true],
  ['.window(10ms, sliding: 2ms)', false],
  ['.window(4, sliding: 1)', false],
])('an aggregate is a descriptor and an accumulator, wherever it stands: %s', (window, isFused) => {
  const program = `${EVENT}stream R = E.partition_by(k)${window}.aggregate(p: product(v), t: total(v), s: sum(v), n: count())
    .emit(p: p, t: t, s: s, n: n)
`;
  expect(kernelsOf(program)).toBe(isFused ? 1 : 0);
  const seen = expectAlike(program, events, 11);
  expect(seen.filter((line) => line.startsWith('R R ')).length).toBeGreaterThan(2);
  for (const line of seen.filter((one) => one.includes('"t":'))) {
    const { t, s } = JSON.parse(line.slice(line.indexOf('{'))) as { t: number; s: number };
    expect(t).toBe(s);
  }
});

test('an aggregate with a state of numbers slides in columns', () => {
  expect(kernelsOf(`${EVENT}stream R = E.window(10ms, sliding: 2ms).aggregate(t: total(v)).emit(t: t)\n`)).toBe(1);
});
