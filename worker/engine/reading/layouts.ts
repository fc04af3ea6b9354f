import type { InputEvent } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import { BOOL, FLOAT, STR, type Type } from '../../../shared/language/plan/types.ts';
import type { EntryField, EventEntries, EventEntry } from '../fusion/event-entry.ts';
import { hasFastPath } from './fast-path.ts';

/** An order in which the fields of a type stand in a line, as positions in the order of declaration. */
export type Layout = readonly number[];

/** Of each type: as many are tried on every line of it. */
const LAYOUTS_MAX = 4;
/** So many of the lines that were looked at must have a layout before it is expected. */
const MEETINGS = 32;
/** Of the lines that take the slow path one in so many is looked at: they may do so for another reason. */
const LOOKED_AT = 8;
const CANDIDATES_MAX = 64;
/** Layouts of types that are not read; each is a function of its own. */
const UNREAD_MAX = 64;

interface Known {
  readonly entry: EventEntry;
  readonly layouts: Layout[];
}

/** An entry with an order of its fields. */
interface ExpectedLayout {
  readonly entry: EventEntry;
  readonly layout: Layout;
}

/**
 * The layouts that lines of a file have: at first those of the declarations, later also others that were met often. Of types that
 * the program does not know, every layout is met.
 */
export class Layouts {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #unread: ExpectedLayout[] = [];
  readonly #takerOf: (type: string) => EventEntry['enter'] | null;
  readonly #meetings = new Map<string, number>();
  #events = 0;

  /** `takerOf`: what takes events of a type without a look at their fields. */
  constructor(entries: readonly EventEntry[], takerOf: EventEntries['unread'] = () => null) {
    this.#known = new Map(entries.map((entry) => [entry.type, { entry, layouts: [entry.fields.map((_, at) => at)] }]));
    this.#takerOf = takerOf;
  }

  /** Every type with each of its layouts, the latest first. */
  get all(): readonly ExpectedLayout[] {
    const known = Array.from(this.#known.values(), ({ entry, layouts }) => layouts.map((layout) => ({ entry, layout })).reverse());
    return [...known.flat(), ...this.#unread];
  }

  /** Takes notice of an event that went the long way. True when it has made a new layout known. */
  meet(event: InputEvent): boolean {
    if (this.#events++ % LOOKED_AT !== 0) return false;
    const known = this.#known.get(event.type);
    return known === undefined ? this.#meetUnread(event) : this.#meetKnown(event, known);
  }

  #meetKnown({ type, fields }: InputEvent, known: Known): boolean {
    if (known.layouts.length >= LAYOUTS_MAX || fields.size !== known.entry.fields.length) return false;
    const names = known.entry.fields.map(({ name }) => name);
    const layout = Array.from(fields.keys(), (name) => names.indexOf(name));
    if (layout.includes(-1) || known.layouts.some((one) => areEqual(one, layout))) return false;
    if (!this.#isMetOften(`${type} ${layout.join(' ')}`)) return false;
    known.layouts.push(layout);
    return true;
  }

  #meetUnread({ type, fields }: InputEvent): boolean {
    const others = this.#unread.filter(({ entry }) => entry.type === type);
    if (others.length >= LAYOUTS_MAX || this.#unread.length >= UNREAD_MAX) return false;
    const typed = Array.from(fields).flatMap(([name, value]) => fieldOf(name, value) ?? []);
    const form = formOf(typed);
    if (typed.length < fields.size || others.some(({ entry }) => formOf(entry.fields) === form)) return false;
    if (!this.#isMetOften(`${type} ${form}`)) return false;
    const enter = this.#takerOf(type);
    if (enter === null) return false;
    const entry = { type, fields: typed, timeField: null, enter };
    if (!hasFastPath(entry)) return false;
    this.#unread.push({ entry, layout: typed.map((_, at) => at) });
    return true;
  }

  #isMetOften(key: string): boolean {
    const count = (this.#meetings.get(key) ?? 0) + 1;
    if (this.#meetings.size > CANDIDATES_MAX) this.#meetings.clear();
    this.#meetings.set(key, count);
    return count >= MEETINGS;
  }
}

function areEqual(one: Layout, other: Layout): boolean {
  return one.every((position, at) => position === other[at]);
}

/** What a field of an unknown type is taken for by its first value; undefined when that has no fast path. Any number may have a point. */
function fieldOf(name: string, value: Value): EntryField | undefined {
  const types: Partial<Record<string, Type>> = { string: STR, number: FLOAT, boolean: BOOL };
  const type = types[typeof value];
  return type && { name, type, isRead: false };
}

function formOf(fields: readonly EntryField[]): string {
  return fields.map(({ name, type }) => `${name}:${type.kind}`).join(' ');
}
