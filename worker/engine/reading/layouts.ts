import type { InputEvent } from '../../../shared/events/event.ts';
import type { EventEntry } from '../fusion/event-entry.ts';

/** An order in which the fields of a type stand in a line, as positions in the order of declaration. */
export type Layout = readonly number[];

/** Of each type: as many are tried on every line of it. */
const LAYOUTS_MAX = 4;
/** So many of the lines that were looked at must have a layout before it is foretold. */
const MEETINGS = 32;
/** Of the lines that go the long way one in so many is looked at: they may do so for another reason. */
const LOOKED_AT = 8;
const CANDIDATES_MAX = 64;

interface Known {
  readonly entry: EventEntry;
  readonly layouts: Layout[];
}

/** The layouts that lines of a file have: at first those of the declarations, later also others that were met often. */
export class Layouts {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #meetings = new Map<string, number>();
  #events = 0;

  constructor(entries: readonly EventEntry[]) {
    this.#known = new Map(entries.map((entry) => [entry.type, { entry, layouts: [entry.fields.map((_, at) => at)] }]));
  }

  /** Every type with each of its layouts, the latest first. */
  get all(): readonly { readonly entry: EventEntry; readonly layout: Layout }[] {
    return Array.from(this.#known.values(), ({ entry, layouts }) => layouts.map((layout) => ({ entry, layout })).reverse()).flat();
  }

  /** Takes notice of an event that went the long way. True when it has made a new layout known. */
  meet({ type, fields }: InputEvent): boolean {
    if (this.#events++ % LOOKED_AT !== 0) return false;
    const known = this.#known.get(type);
    if (known === undefined || known.layouts.length >= LAYOUTS_MAX || fields.size !== known.entry.fields.length) return false;
    const names = known.entry.fields.map(({ name }) => name);
    const layout = Array.from(fields.keys(), (name) => names.indexOf(name));
    if (layout.includes(-1) || known.layouts.some((one) => areEqual(one, layout))) return false;
    if (!this.#isMetOften(`${type} ${layout.join(' ')}`)) return false;
    known.layouts.push(layout);
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
