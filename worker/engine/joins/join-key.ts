import { keyOf } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import type { JoinSourcePlan } from '../../../shared/language/plan/plan.ts';
import type { Representation } from '../fusion/typed.ts';
import { valuesOfKey } from '../fusion/windows/key-text.ts';
import type { Evaluate } from '../operators/row.ts';
import { RowList } from './row-list.ts';
import type { Waiting } from './waiting-row.ts';

/** A key as the tables of generated code have it. */
export type RawKey = number | string | boolean;

/**
 * Whether durations in a part of the key are their milliseconds, as they compare: some side may have numbers there. This follows from the
 * types, so the plan, and what it is known by, does not say it.
 */
export function isUnitless({ sides }: Pick<JoinSourcePlan, 'sides'>, part: number): boolean {
  const kinds = sides.map(({ keys }) => keys[part]?.type.kind);
  return kinds.some((kind) => kind === 'any' || kind === 'duration') && !kinds.every((kind) => kind === 'duration');
}

/** Evaluates a part of the key of a side. */
export function keyPart(plan: JoinSourcePlan, side: number, part: number, evaluate: Evaluate): Evaluate {
  const kind = plan.sides[side]?.keys[part]?.type.kind;
  if ((kind !== 'any' && kind !== 'duration') || !isUnitless(plan, part)) return evaluate;
  return (scope) => withoutUnit(evaluate(scope));
}

function withoutUnit(value: Value): Value {
  return value instanceof Duration ? value.ms : value;
}

/** The canonical text of a key, from that of a saved row: builds before kept durations there as such. */
export function savedKey(plan: JoinSourcePlan, text: string): string {
  const unitless = (plan.sides[0]?.keys ?? []).map((_, part) => isUnitless(plan, part));
  if (!unitless.includes(true) || !text.includes('d')) return text;
  return keyOf(valuesOfKey(text, unitless.length).map((value, part) => (unitless[part] === true ? withoutUnit(value) : value)));
}

/** What waits at one key. */
export class JoinKey {
  readonly raw: RawKey;
  /** Its values are not of the kinds that the key is made of. */
  readonly isOdd: boolean;
  /** Where only the newest row counts: that of the first and of the second side. */
  left: Waiting | null = null;
  right: Waiting | null = null;
  /** Where more do: those of the first and of the second side. */
  readonly lefts = new RowList();
  readonly rights = new RowList();
  /** Those of further sides. */
  others: RowList[] | null = null;
  /** How many of them are whole rows. */
  rows = 0;

  constructor(raw: RawKey, isOdd: boolean) {
    this.raw = raw;
    this.isOdd = isOdd;
  }
}

/**
 * The keys at which something waits, found by their values as they are. A key of several parts is its canonical text, and
 * so is a value of another kind than the key has: in a table of its own, as a text is found there only by texts like it.
 */
export class JoinKeys {
  /** Of the only part; null = the key is a canonical text. */
  readonly #as: Representation | null;
  readonly #byRaw = new Map<RawKey, JoinKey>();
  readonly #odd = new Map<RawKey, JoinKey>();

  constructor(as: Representation | null) {
    this.#as = as;
  }

  at(raw: RawKey): JoinKey {
    return this.#byRaw.get(raw) ?? this.#added(this.#byRaw, raw);
  }

  /** By the values of its parts, none of them null. */
  ofValues(values: readonly Value[]): JoinKey {
    if (this.#as === null) return this.at(keyOf(values));
    const raw = rawValue(values[0] as Value, this.#as);
    return raw === undefined ? this.#oddAt(keyOf(values)) : this.at(raw as RawKey);
  }

  /** By its canonical text. */
  ofText(text: string): JoinKey {
    if (this.#as === null) return this.at(text);
    const raw = rawOfText(text, this.#as);
    return raw === undefined ? this.#oddAt(text) : this.at(raw);
  }

  textOf({ raw, isOdd }: JoinKey): string {
    if (this.#as === null || isOdd) return raw as string;
    return keyOf([boxedValue(raw, this.#as)]);
  }

  delete({ raw, isOdd }: JoinKey): void {
    (isOdd ? this.#odd : this.#byRaw).delete(raw);
  }

  get size(): number {
    return this.#byRaw.size + this.#odd.size;
  }

  /** The keys in the maps that hold them. */
  get tables(): readonly ReadonlyMap<RawKey, JoinKey>[] {
    return [this.#byRaw, this.#odd];
  }

  *all(): Iterable<JoinKey> {
    yield* this.#byRaw.values();
    yield* this.#odd.values();
  }

  #oddAt(text: string): JoinKey {
    return this.#odd.get(text) ?? this.#added(this.#odd, text);
  }

  #added(table: Map<RawKey, JoinKey>, raw: RawKey): JoinKey {
    const key = new JoinKey(raw, table === this.#odd);
    table.set(raw, key);
    return key;
  }
}

/** A value as generated code has it; undefined when it is of another kind. Null is of none. */
export function rawValue(value: Value, as: Representation): unknown {
  switch (as) {
    case 'timestamp':
      return value instanceof Timestamp ? value.ms : undefined;
    case 'duration':
      return value instanceof Duration ? value.ms : undefined;
    case 'value':
      return value ?? undefined;
    default:
      return typeof value === as ? value : undefined;
  }
}

function boxedValue(raw: RawKey, as: Representation): Value {
  if (as === 'timestamp') return new Timestamp(raw as number);
  return as === 'duration' ? new Duration(raw as number) : raw;
}

const letters: Partial<Record<Representation, string>> = { number: 'n', timestamp: 't', duration: 'd' };

/** The reverse of `keyOf` of a single value. */
function rawOfText(text: string, as: Representation): RawKey | undefined {
  if (as === 'string') return text.startsWith('s') ? text.slice(1) : undefined;
  if (as === 'boolean') return text === 'T' || text === 'F' ? text === 'T' : undefined;
  return text.startsWith(letters[as] as string) ? Number(text.slice(1, -1)) : undefined;
}
