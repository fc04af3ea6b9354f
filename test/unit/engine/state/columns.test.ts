import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../shared/events/value.ts';
import type { Row } from '../../../../worker/engine/operators/row.ts';
import { count, text } from '../../../../worker/engine/state/codec.ts';
import {
  column,
  fewColumn,
  type Listed,
  listColumn,
  listed,
  numberColumn,
  optionalColumn,
  recordColumn,
  sameColumn,
} from '../../../../worker/engine/state/columns.ts';
import { rowColumn } from '../../../../worker/engine/state/row-column.ts';

interface Thing {
  readonly at: number;
  readonly key: string;
  readonly type: string;
  readonly all: readonly (readonly number[])[];
  readonly some: number | null;
}

const savedThings = listed(
  recordColumn<Thing>({
    at: numberColumn,
    key: sameColumn(text),
    type: fewColumn(text, (type) => type),
    all: listColumn(listColumn(column(count))),
    some: optionalColumn(numberColumn),
  }),
);

const anyNumber = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true }));
const things = fc.array(
  fc.record<Thing>({
    at: anyNumber,
    key: fc.constantFrom('', 'a'),
    type: fc.constantFrom('A', 'B'),
    all: fc.array(fc.array(fc.nat(), { maxLength: 3 }), { maxLength: 3 }),
    some: fc.option(anyNumber),
  }),
);

const row = fc.record<Row>({
  type: fc.constantFrom('A', 'B'),
  time: anyNumber,
  order: fc.nat(),
  fields: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')).chain((names) =>
    fc.array(fc.oneof(anyNumber, fc.string(), fc.constant(null), fc.constant(['x'])), { minLength: 3, maxLength: 3 }).map((values) => {
      return new Map(names.map((name, at) => [name, values[at] as Value]));
    }),
  ),
  bound: fc.constant(null),
  attributes: fc.constant(null),
  causes: fc.array(fc.nat()),
});

function inFull<T>({ length, at }: Listed<T>): readonly (T | undefined)[] {
  return Array.from({ length }, (_, position) => at(position));
}

describe('columns', () => {
  it('give back what was saved', () => {
    fc.assert(
      fc.property(things, (all) => {
        expect(inFull(savedThings.load(savedThings.save(all)))).toEqual(all);
      }),
    );
  });

  it('give back rows, in whatever order they are asked for', () => {
    const savedRows = listed(rowColumn);
    fc.assert(
      fc.property(fc.array(row), (all) => {
        const rows = savedRows.load(savedRows.save(all));
        expect(inFull(rows).toReversed()).toEqual(all.toReversed());
      }),
    );
  });

  it('save a match with its events as a row has them', () => {
    const event: Row = { type: 'A', time: 1, order: 1, fields: new Map([['k', 'x']]), bound: null, attributes: null, causes: [1] };
    const match: Row = {
      ...event,
      bound: [event, [event], null],
      attributes: new Map([['match_id', 'm']]) as Row['attributes'],
      last: event,
    };
    const rows = listed(rowColumn);
    expect(inFull(rows.load(rows.save([event, match])))).toEqual([event, match]);
  });

  it('say what is not there, or not as it must be', () => {
    const saved = savedThings.save([{ at: 1, key: '', type: 'A', all: [[1]], some: null }]) as readonly Value[];
    const [, members] = saved as [number, readonly Value[]];
    expect(() => savedThings.load([2, members])).toThrow('at: found a list of 1, expected a list of 2');
    expect(() => savedThings.load([1, members.slice(1)])).toThrow('found a list of 4, expected a list of 5');
    expect(() => savedThings.load([1, members.with(2, [['A'], [1]])]).at(0)).toThrow('found 1, expected a whole number from 0 on, below 1');
    expect(() => savedThings.load([1, members.with(3, [[-1], [[], []]])])).toThrow('all: found -1, expected a whole number from 0 on');
  });
});
