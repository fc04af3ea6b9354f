import type { AttributeName, RowReference } from '../../../shared/language/plan/plan.ts';
import type { FieldType } from '../../../shared/language/plan/types.ts';
import type { Constants } from './module-text.ts';
import { boxed, NULL_TYPED, named, type Readable, type Representation, representationOf, type Typed } from './typed.ts';

/** The row at one place of a chain, as generated code has it: no object, a name for each field. */
export interface Columns extends Readable {
  /** Text of the row's arrival number. */
  readonly order: string;
  /** Text of `event_type`. */
  readonly type: string;
  /** Text of the row's causes, an array. */
  readonly causes: string;
  /** Text of the row's attributes, a map or null. */
  readonly attributes: string;
  /** The type that all rows here have; null = it differs. */
  readonly typeName: string | null;
  /** It is caused by itself alone: its causes are its arrival number. */
  readonly isOwnCause?: boolean;
  /** It has no attributes but those of every row. */
  readonly isBare?: boolean;
  /** The fields in order; null where that is the event as it came, with fields that nothing here reads. */
  readonly fields: readonly (readonly [name: string, value: Typed])[] | null;
  /** Far fewer rows come here than events: each may well be made whole for an operator that takes rows. */
  readonly isRare?: boolean;
  /** It comes whole; kernels read their columns from it themselves. */
  readonly isWhole?: boolean;
  /** It is the event that is being entered, as it came. */
  readonly isEvent?: boolean;
  /** It cannot be made a row: not all that belongs to it is known. */
  readonly isPartial?: boolean;
  /** Text that makes the row for what runs operator by operator. Not of a partial one. */
  row(): string;
}

/** Text of the event that is being entered, as a row. */
export const ROW_OF_EVENT = 'rowOfEvent()';

/** An event of a declared type. A field that is read becomes a parameter of the function that reads it. */
export class EventColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly type: string;
  readonly typeName: string;
  readonly fields = null;
  readonly isEvent = true;
  readonly isOwnCause = true;
  readonly isBare = true;
  readonly attributes = 'null';
  readonly #fields: ReadonlyMap<string, Typed>;
  readonly #read = new Set<string>();
  readonly #names: ReadonlyMap<string, string>;
  /** Names of the places of texts that have been asked for, by field. */
  readonly #places = new Map<string, string>();

  constructor(type: string, fields: readonly FieldType[], constants: Constants) {
    this.time = constants.names.mint('t');
    this.order = constants.names.mint('o');
    this.type = constants.constant(type);
    this.typeName = type;
    this.#names = new Map(fields.map(({ name }) => [name, constants.names.mint('v')]));
    this.#fields = new Map(fields.map(({ name, type }) => [name, this.#typed(name, representationOf(type), constants)]));
  }

  #typed(name: string, as: Representation, { names }: Constants): Typed {
    const value = named(this.#names.get(name) as string, as);
    if (as !== 'string') return value;
    const place = (): string => {
      if (!this.#places.has(name)) this.#places.set(name, names.mint('v'));
      return this.#places.get(name) as string;
    };
    return { ...value, place };
  }

  get causes(): string {
    return `[${this.order}]`;
  }

  /** What the event does not declare it does not have: an event that has more does not come this way. */
  field(of: RowReference, name: string): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    const field = this.#fields.get(name);
    if (field === undefined) return NULL_TYPED;
    this.#read.add(name);
    return field;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    return of.kind === 'current' ? (plainAttribute(name, this) ?? NULL_TYPED) : undefined;
  }

  /** Names of the fields that have been read, in declared order. */
  get read(): readonly string[] {
    return [...this.#fields.keys()].filter((name) => this.#read.has(name));
  }

  /** Those of them whose places have been asked for. */
  get placed(): readonly string[] {
    return this.read.filter((name) => this.#places.has(name));
  }

  /** A field that has been read, and its place where that has been asked for. */
  textsOf(name: string): readonly [value: string, place: string | undefined] {
    return [this.#names.get(name) as string, this.#places.get(name)];
  }

  /** The parameters of a function that has read these. */
  get parameters(): readonly string[] {
    const values = this.read.map((name) => this.#names.get(name) as string);
    const places = this.placed.map((name) => this.#places.get(name) as string);
    return [this.time, this.order, ...values, ...places];
  }

  row(): string {
    return ROW_OF_EVENT;
  }
}

export interface NamedColumnsParts {
  readonly fields: readonly (readonly [name: string, value: Typed])[];
  readonly time: string;
  readonly order: string;
  /** The text, or what gives it when it is asked for. */
  readonly type: string | (() => string);
  readonly typeName: string | null;
  /** Asked for only where the row is made. */
  readonly causes: () => string;
  readonly attributes: () => string;
  /** As columns have them. @default never */
  readonly isOwnCause?: () => boolean;
  readonly isBare?: () => boolean;
  /** Attributes that stand in names of their own. */
  readonly attribute?: (name: AttributeName) => Typed | undefined;
  readonly module: Constants;
}

/** A row whose fields are all known: behind `.select`, `.emit`, `.aggregate`. */
export class NamedColumns implements Columns {
  readonly fields: readonly (readonly [name: string, value: Typed])[];
  readonly time: string;
  readonly order: string;
  readonly #parts: NamedColumnsParts;
  readonly #byName: ReadonlyMap<string, Typed>;

  /** The values are simple: they may be read more than once. */
  constructor(parts: NamedColumnsParts) {
    this.#parts = parts;
    this.#byName = new Map(parts.fields);
    this.fields = parts.fields;
    this.time = parts.time;
    this.order = parts.order;
  }

  get type(): string {
    const { type } = this.#parts;
    return typeof type === 'string' ? type : type();
  }

  get typeName(): string | null {
    return this.#parts.typeName;
  }

  get isOwnCause(): boolean {
    return this.#parts.isOwnCause?.() === true;
  }

  get isBare(): boolean {
    return this.#parts.isBare?.() === true;
  }

  get causes(): string {
    return this.#parts.causes();
  }

  get attributes(): string {
    return this.#parts.attributes();
  }

  field(of: RowReference, name: string): Typed | undefined {
    return of.kind === 'current' ? (this.#byName.get(name) ?? NULL_TYPED) : undefined;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    return plainAttribute(name, this) ?? (this.isBare ? NULL_TYPED : this.#parts.attribute?.(name));
  }

  /** The same row with other fields. */
  with(fields: NamedColumnsParts['fields'], type: Partial<Pick<NamedColumnsParts, 'type' | 'typeName'>> = {}): NamedColumns {
    return new NamedColumns({ ...this.#parts, ...type, fields });
  }

  row(): string {
    const { constant } = this.#parts.module;
    const names = constant.call(this.#parts.module, NamesOf.from(this.fields.map(([name]) => name)));
    const values = this.fields.map(([, value]) => boxed(value)).join(',');
    return `makeRow(${this.type},${this.time},${this.order},${names},[${values}],${this.attributes},${this.causes})`;
  }
}

/** A list of field names as one constant. */
export class NamesOf {
  readonly names: readonly string[];

  private constructor(names: readonly string[]) {
    this.names = names;
  }

  static from(names: readonly string[]): NamesOf {
    return new NamesOf(names);
  }
}

/** What every row has. */
export function plainAttribute(name: AttributeName, { time, type }: Pick<Columns, 'time' | 'type'>): Typed | undefined {
  if (name === 'timestamp') return named(time, 'timestamp');
  return name === 'event_type' ? named(type, 'string') : undefined;
}
