import { isMap, type Value } from '../../../shared/events/value.ts';
import { type Codec, count, countBelow, DamagedState, list, listIn, number } from './codec.ts';

/**
 * Many things of one kind, saved member by member: lists of numbers and texts are read many times as fast as a small list for each thing,
 * and take a fraction of the bytes.
 *
 * What is loaded is made when it is asked for, so that what is only looked at once is gone before it costs anything. How many there are is
 * only as good as the lists that are there in full: whoever puts a `sameColumn` into a record puts one of those beside it.
 */
export interface Column<T> {
  save(values: readonly T[]): Value;
  /** Gives what makes the value at a position below `length`. @throws DamagedState, as what is given does */
  load(saved: Value | undefined, length: number): (at: number) => T;
}

/** What a column has: an array when it is saved; what is loaded makes its values when it is asked for them. */
export interface Listed<T> {
  readonly length: number;
  at(position: number): T | undefined;
}

/** The values of a column, with their number. */
export function listed<T>(column: Column<T>): Codec<Listed<T>> {
  return {
    save: (values) => [values.length, column.save(values as readonly T[] & Listed<T>)],
    load: (saved) => {
      const [length, content] = list(anything, 2).load(saved);
      const size = count.load(length);
      return { length: size, at: column.load(content, size) };
    },
  };
}

const anything: Codec<Value | undefined> = { save: (value) => value as Value, load: (saved) => saved };

/** Each value as its codec saves it. */
export function column<T>(item: Codec<T>): Column<T> {
  const { save } = list(item);
  return {
    save,
    load: (saved, length) => {
      const loaded = list(item, length).load(saved);
      return (at) => loaded[at] as T;
    },
  };
}

/** Values that are mostly the same: when all are, there is one. */
export function sameColumn<T>(item: Codec<T>): Column<T> {
  const each = column(item);
  return {
    save: (values) =>
      values.length > 1 && values.every((one) => one === values[0]) ? sameOf(item.save(values[0] as T)) : each.save(values),
    load: (saved, length) => {
      if (saved === undefined || !isMap(saved)) return each.load(saved, length);
      const same = item.load(saved.get('same'));
      return () => same;
    },
  };
}

function sameOf(value: Value): Value {
  return new Map([['same', value]]);
}

/** Values of which there are few: each is saved once. `keyOf`: the same for those that are saved alike. */
export function fewColumn<T>(item: Codec<T>, keyOf: (value: T) => unknown): Column<T> {
  const all = list(item);
  return {
    save: (values) => {
      const places = new Map<unknown, number>();
      const few: T[] = [];
      const positions = values.map((one) => {
        const key = keyOf(one);
        const known = places.get(key);
        if (known !== undefined) return known;
        places.set(key, few.length);
        return few.push(one) - 1;
      });
      return [all.save(few), numberColumn.save(positions)];
    },
    load: (saved, length) => {
      const [first, second] = list(anything, 2).load(saved);
      const few = all.load(first);
      const placeOf = numberColumn.load(second, length);
      const place = countBelow(few.length);
      return (at) => few[place.load(placeOf(at))] as T;
    },
  };
}

/** Whole numbers as their distances from each other, which are small where numbers grow slowly; others as they are. */
export const numberColumn: Column<number> = {
  save: (values) => {
    let before = 0;
    const steps: number[] = [];
    for (const value of values) {
      const step = value - before;
      if (!Number.isSafeInteger(value) || !Number.isSafeInteger(step) || Object.is(value, -0)) return [...values];
      steps.push(step);
      before = value;
    }
    return new Map([['steps', steps]]);
  },
  load: (saved, length) => {
    const isSteps = saved !== undefined && isMap(saved);
    const items = listIn(isSteps ? saved.get('steps') : saved, length);
    const values = new Float64Array(length);
    let value = 0;
    for (let at = 0; at < length; at++) {
      const item = number.load(items[at]);
      value = isSteps ? value + item : item;
      values[at] = value;
    }
    if (isSteps && !Number.isSafeInteger(value)) throw new DamagedState(value, 'a whole number');
    return (at) => values[at] as number;
  },
};

/** Lists: their lengths, and the items of all. */
export function listColumn<T>(item: Column<T>): Column<readonly T[]> {
  return {
    save: (values) => [numberColumn.save(values.map(({ length }) => length)), item.save(values.flat() as T[])],
    load: (saved, length) => {
      const [lengths, items] = list(anything, 2).load(saved);
      const lengthOf = numberColumn.load(lengths, length);
      const starts = new Float64Array(length + 1);
      for (let at = 0; at < length; at++) starts[at + 1] = (starts[at] as number) + count.load(lengthOf(at));
      const itemAt = item.load(items, starts[length] as number);
      return (at) => {
        const loaded: T[] = [];
        for (let position = starts[at] as number; position < (starts[at + 1] as number); position++) loaded.push(itemAt(position));
        return loaded;
      };
    },
  };
}

/** Nothing, or a value. */
export function optionalColumn<T>(item: Column<T>): Column<T | null> {
  const lists = listColumn(item);
  return {
    save: (values) => lists.save(values.map((one) => (one === null ? [] : [one]))),
    load: (saved, length) => {
      const listAt = lists.load(saved, length);
      return (at) => listAt(at)[0] ?? null;
    },
  };
}

/** What makes each member of a thing. */
export type Readers<T> = { readonly [K in keyof T]: (at: number) => T[K] };

interface RecordColumn<T> extends Column<T> {
  /** As `load`, member by member: who puts them together where they are needed makes nothing in between. */
  readers(saved: Value | undefined, length: number): Readers<T>;
}

/** Things of named members: a column for each, in the order in which they are given here. */
export function recordColumn<T extends object>(members: { readonly [K in keyof T]: Column<T[K]> }): RecordColumn<T> {
  const names = Object.keys(members) as (keyof T)[];
  const readers = (saved: Value | undefined, length: number): Readers<T> => {
    const columns = list(anything, names.length).load(saved);
    const entries = names.map((name, at) => [name, within(String(name), () => members[name].load(columns[at], length))]);
    return Object.fromEntries(entries) as Readers<T>;
  };
  return {
    readers,
    save: (values) => names.map((name) => members[name].save(values.map((one) => one[name]))),
    load: (saved, length) => {
      const read = readers(saved, length);
      return (at) => Object.fromEntries(names.map((name) => [name, read[name](at)])) as T;
    },
  };
}

function within<T>(part: string, load: () => T): T {
  try {
    return load();
  } catch (thrown) {
    throw thrown instanceof DamagedState ? thrown.within(part) : thrown;
  }
}
