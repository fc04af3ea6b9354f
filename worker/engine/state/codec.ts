import { CepError } from '../../../shared/errors/error.ts';
import { keyOf } from '../../../shared/events/text.ts';
import { isArray, isMap, type Value, type ValueArray, type ValueMap } from '../../../shared/events/value.ts';

/**
 * What is saved of an operator, as its parts are named in code. A state is saved by position: `record` gives its members names and
 * `stateForm` the whole a name and a version, so the bytes stay small and both directions come from one description.
 *
 * A checkpoint comes from outside. `load` takes any value at all: what is not as it must be is a `DamagedState` that says which member was
 * found how. The values may hold timestamps, durations, maps and infinite numbers; a snapshot encodes them (shared/events/stored-value.ts).
 */
export interface Codec<T> {
  save(value: T): Value;
  /** @throws DamagedState */
  load(saved: Value | undefined): T;
  /** `save` gives what it is given. */
  readonly isPlain?: true;
}

/** What a codec saves and loads. */
export type Saved<C> = C extends Codec<infer T> ? T : never;

/** A saved state that nothing could have saved. */
export class DamagedState extends Error {
  readonly #found: string;
  #path = '';
  #owners = '';

  constructor(found: Value | undefined, expected: string) {
    super();
    this.#found = `found ${shown(found)}, expected ${expected}`;
  }

  /** The error of what holds this part: the path grows from the inside. */
  within(part: string | number): this {
    const rest = this.#path === '' || this.#path.startsWith('[') ? this.#path : `.${this.#path}`;
    this.#path = typeof part === 'number' ? `[${part}]${rest}` : `${part}${rest}`;
    return this;
  }

  /** Whose state it is: the operator, then its stream. */
  of(owner: string): this {
    this.#owners = this.#owners === '' ? owner : `${owner}, ${this.#owners}`;
    return this;
  }

  override get message(): string {
    return [this.#owners, this.#path, this.#found].filter((part) => part !== '').join(': ');
  }
}

const SHOWN_MAX = 40;

function shown(found: Value | undefined): string {
  if (found === undefined) return 'nothing';
  if (isArray(found)) return `a list of ${found.length}`;
  if (isMap(found)) return `a map of ${found.size}`;
  const text =
    typeof found === 'string' ? JSON.stringify(found) : typeof found === 'object' && found !== null ? keyOf([found]) : String(found);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}..` : text;
}

/** Does what loads the state of an operator or a stream. @throws DamagedState that says whose it is */
export function loadOf<T>(owner: string, load: () => T): T {
  try {
    return load();
  } catch (thrown) {
    throw thrown instanceof DamagedState ? thrown.of(owner) : thrown;
  }
}

/** What loading a part has thrown, with the part in its path. */
function thrownWithin(part: string | number, thrown: unknown): unknown {
  return thrown instanceof DamagedState ? thrown.within(part) : thrown;
}

/** A value that is saved as it is, when it passes. */
function plain<T extends Value>(expected: string, passes: (saved: Value | undefined) => saved is T): Codec<T> {
  return {
    isPlain: true,
    save: (value) => value,
    load: (saved) => {
      if (!passes(saved)) throw new DamagedState(saved, expected);
      return saved;
    },
  };
}

/** Any value of the language. */
export const anyValue: Codec<Value> = plain('a value', (saved): saved is Value => saved !== undefined);

export const text = plain('a text', (saved): saved is string => typeof saved === 'string');

/** Any map. It is saved as it is: nobody changes it. */
export const valueMap = plain('a map', (saved): saved is ValueMap => saved !== undefined && isMap(saved));

export const flag = plain('true or false', (saved): saved is boolean => typeof saved === 'boolean');

/** Infinite ones too. */
export const number = plain('a number', (saved): saved is number => typeof saved === 'number' && !Number.isNaN(saved));

/** Lengths, sums and weights of what was seen: finite, none below 0. */
export const amount = plain('a number from 0 on', (saved): saved is number => typeof saved === 'number' && saved >= 0 && saved < Infinity);

/** A whole number from 0 on, below `end`. */
export function countBelow(end: number): Codec<number> {
  const isCount = (saved: Value | undefined): saved is number =>
    Number.isSafeInteger(saved) && (saved as number) >= 0 && (saved as number) < end;
  return plain(end === Infinity ? 'a whole number from 0 on' : `a whole number from 0 on, below ${end}`, isCount);
}

export const count = countBelow(Infinity);

/** A whole number without bounds, as text. */
export const wholeNumber: Codec<bigint> = {
  save: String,
  load: (saved) => {
    if (typeof saved !== 'string' || !/^-?\d+$/.test(saved)) throw new DamagedState(saved, 'a whole number as text');
    return BigInt(saved);
  },
};

/** For what only another part of the state decides. `what`: as the error names it. @throws DamagedState */
export function requireBelow(found: number, end: number, what: string): void {
  if (found >= end) throw new DamagedState(found, `${what} below ${end}`);
}

export function oneOf<const T extends string>(...words: readonly T[]): Codec<T> {
  return plain(words.map((word) => `"${word}"`).join(' or '), (saved): saved is T => words.includes(saved as T));
}

export function orNull<T>(codec: Codec<T>): Codec<T | null> {
  return {
    save: (value) => (value === null ? null : codec.save(value)),
    load: (saved) => (saved === null ? null : codec.load(saved)),
  };
}

/** A member that states of before did not have: it stands behind all others. */
export function orElse<T>(codec: Codec<T>, instead: () => T): Codec<T> {
  return { save: codec.save, load: (saved) => (saved === undefined ? instead() : codec.load(saved)) };
}

/** A member that states of before did not have, and that most do not need: it stands behind all others, or is left out. */
export function orAbsent<T>(codec: Codec<T>): Codec<T | undefined> {
  return {
    save: (value) => (value === undefined ? (undefined as unknown as Value) : codec.save(value)),
    load: (saved) => (saved === undefined ? undefined : codec.load(saved)),
  };
}

/** `length`: of all lists that are saved here. */
export function list<T>(item: Codec<T>, length?: number): Codec<readonly T[]> {
  const { save, load, isPlain } = item;
  return {
    save: (items) => (isPlain ? [...(items as readonly Value[])] : items.map((one) => save(one))),
    load: (saved) => {
      const items = listIn(saved, length);
      let at = 0;
      try {
        const loaded: T[] = [];
        for (; at < items.length; at++) loaded.push(load(items[at]));
        return loaded;
      } catch (thrown) {
        throw thrownWithin(at, thrown);
      }
    },
  };
}

/** By text. The map that is loaded belongs to whoever loads it. */
export function mapOf<T>(item: Codec<T>): Codec<ReadonlyMap<string, T>> {
  return {
    save: (map) => {
      if (item.isPlain) return new Map(map as ValueMap);
      return new Map(Array.from(map, ([name, value]) => [name, item.save(value)]));
    },
    load: (saved) => {
      const map = valueMap.load(saved);
      const loaded = new Map<string, T>();
      let at = '';
      try {
        for (const [name, value] of map) {
          at = name;
          loaded.set(name, item.load(value));
        }
      } catch (thrown) {
        throw thrownWithin(`[${JSON.stringify(at)}]`, thrown);
      }
      return loaded;
    },
  };
}

/** Pairs in a flat list, names and values in turn. */
export function pairs<K, V>(name: Codec<K>, value: Codec<V>): Codec<readonly (readonly [K, V])[]> {
  return {
    save: (all) => all.flatMap(([one, other]) => [name.save(one), value.save(other)]),
    load: (saved) => {
      const items = listIn(saved);
      const loaded: (readonly [K, V])[] = [];
      let at = 0;
      try {
        for (; at < items.length; at += 2) loaded.push([name.load(items[at]), value.load(items[at + 1])]);
      } catch (thrown) {
        throw thrownWithin(at, thrown);
      }
      return loaded;
    },
  };
}

/** A codec that is made of itself. */
export function lazily<T>(codec: () => Codec<T>): Codec<T> {
  return { save: (value) => codec().save(value), load: (saved) => codec().load(saved) };
}

/** A codec for each member. */
type Members<T> = { readonly [K in keyof T]: Codec<T[K]> };

/** Named members, saved as a list in the order in which they are given here. */
export function record<T extends object>(members: Members<T>): Codec<T> {
  const names = Object.keys(members);
  const codecs: readonly Codec<unknown>[] = Object.values(members);
  // Objects that are copied and filled in have one form, and need not grow.
  const empty: Readonly<Record<string, unknown>> = Object.fromEntries(names.map((name) => [name, null]));
  return {
    save: (value) => {
      const saved: Value[] = [];
      for (let at = 0; at < codecs.length; at++) {
        const codec = codecs[at] as Codec<unknown>;
        const member = (value as Readonly<Record<string, unknown>>)[names[at] as string];
        const own = codec.isPlain ? (member as Value) : codec.save(member);
        if (own !== undefined) saved.push(own);
      }
      return saved;
    },
    load: (saved) => {
      const items = listIn(saved);
      const loaded = { ...empty };
      let at = 0;
      try {
        for (; at < codecs.length; at++) loaded[names[at] as string] = (codecs[at] as Codec<unknown>).load(items[at]);
      } catch (thrown) {
        throw thrownWithin(names[at] as string, thrown);
      }
      return loaded as T;
    },
  };
}

/** The form of a whole state. */
export interface StateForm<T> {
  /** One word or two; tells its states from others. */
  readonly name: string;
  /** Counts up with every change of the members. A state of an earlier one is brought up to date by `upgrade`. */
  readonly version: number;
  readonly members: Members<T>;
  /** By the version that it takes: the members as the next version has them. */
  readonly upgrade?: Readonly<Record<number, (members: ValueArray) => ValueArray>>;
  /** States had no name once: the members of version 1 in such a one, where it is not a list of them. */
  readonly unnamed?: (saved: Value) => ValueArray;
}

/** The state of an operator, of a source or of what a program has once: members behind a name with a version. */
export function stateOf<T extends object>(form: StateForm<T>): Codec<T> {
  const inner = record(form.members);
  const head = `${form.name} ${form.version}`;
  return {
    save: (value) => [head, ...(inner.save(value) as ValueArray)],
    load: (saved) => inner.load(saved !== undefined && isArray(saved) && saved[0] === head ? saved.slice(1) : upToDate(saved, form)),
  };
}

function upToDate(saved: Value | undefined, { name, version, upgrade, unnamed }: StateForm<object>): ValueArray {
  const { found, members } = versionIn(saved, name, unnamed);
  if (found > version) {
    throw new CepError('checkpoint_too_new', `a state of '${name}' has version ${found}, and this version of cep reads up to ${version}`, {
      hint: 'restore it with the version that wrote it, or a later one',
    });
  }
  let latest = members;
  for (let at = found; at < version; at++) {
    const next = upgrade?.[at];
    if (next === undefined) throw new DamagedState(`${name} ${at}`, `version ${version} of it: earlier ones are not read any more`);
    latest = next(latest);
  }
  return latest;
}

function versionIn(
  saved: Value | undefined,
  name: string,
  unnamed: StateForm<object>['unnamed'],
): { readonly found: number; readonly members: ValueArray } {
  if (saved === undefined) throw new DamagedState(saved, `the state of '${name}'`);
  const first = isArray(saved) ? saved[0] : undefined;
  if (typeof first !== 'string') return { found: 1, members: unnamed?.(saved) ?? listIn(saved) };
  const found = Number(first.startsWith(`${name} `) ? first.slice(name.length + 1) : Number.NaN);
  if (!Number.isSafeInteger(found) || found < 1) throw new DamagedState(first, `the state of '${name}'`);
  return { found, members: (saved as ValueArray).slice(1) };
}

/** @throws DamagedState unless it is a list, of this length where one is given */
export function listIn(saved: Value | undefined, length?: number): ValueArray {
  const expected = length === undefined ? 'a list' : `a list of ${length}`;
  if (saved === undefined || !isArray(saved) || saved.length !== (length ?? saved.length)) throw new DamagedState(saved, expected);
  return saved;
}
