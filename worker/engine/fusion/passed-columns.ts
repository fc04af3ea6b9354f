import type { AttributeName, RowReference } from '../../../shared/language/plan/plan.ts';
import { type Columns, NamedColumns, ROW_OF_EVENT } from './columns.ts';
import type { Constants } from './module-text.ts';
import { named, type Typed } from './typed.ts';

/** One thing that a function reads of its row, by what it makes of it. */
interface Reading {
  /** It is handed in; else it is known while the function is printed. */
  readonly isPassed: boolean;
  /** Text of the same of a row at another place; undefined = that row has it in another form. */
  readonly of: (columns: Columns) => string | undefined;
}

const CURRENT = { kind: 'current' } as const;

/** A row handed to another function: what that function reads of it becomes its parameters. */
export class PassedColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly #inner: Columns;
  readonly #module: Constants;
  readonly #parameters: string[] = [];
  readonly #arguments: string[] = [];
  readonly #readings: Reading[] = [];
  readonly #passed = new Map<string, Typed | undefined>();
  readonly #known = new Set<string>();
  readonly #takesPlaces: boolean;
  readonly isRare: boolean;
  readonly isEvent: boolean;
  #type: string | null = null;
  #fields: Columns['fields'] | undefined;

  /**
   * `takesPlaces`: the row is the event that is being entered, and is passed on at once; then the places of texts may be passed too.
   * `isRare`: as `Columns` has it.
   */
  constructor(inner: Columns, module: Constants, { takesPlaces = false, isRare = false } = {}) {
    this.#inner = inner;
    this.#module = module;
    this.#takesPlaces = takesPlaces;
    this.isRare = isRare;
    this.isEvent = inner.isEvent === true;
    this.time = this.#pass(inner.time, 't', ({ time }) => time);
    this.order = this.#pass(inner.order, 'o', ({ order }) => order);
  }

  get parameters(): readonly string[] {
    return this.#parameters;
  }

  /** What the caller gives for them. */
  get arguments(): readonly string[] {
    return this.#arguments;
  }

  /** What another caller gives for them, once the function is printed; null where its row has not the form that the function takes. */
  argumentsFor(columns: Columns): readonly string[] | null {
    const given: string[] = [];
    for (const { isPassed, of } of this.#readings) {
      const text = of(columns);
      if (text === undefined) return null;
      if (isPassed) given.push(text);
    }
    return given;
  }

  get typeName(): string | null {
    return this.#inner.typeName;
  }

  get isOwnCause(): boolean {
    return this.#knows('isOwnCause');
  }

  get isBare(): boolean {
    return this.#knows('isBare');
  }

  /** Fields that are not all known, as those of a match, are passed one by one, and make no row in another function. */
  get isPartial(): boolean {
    const { isPartial, fields, isEvent } = this.#inner;
    return isPartial === true || (fields === null && isEvent !== true);
  }

  /** A type that all rows of the caller have is known here. */
  get type(): string {
    const { typeName } = this.#inner;
    if (this.#type === null) {
      if (typeName !== null) this.#know((other) => other.typeName === typeName);
      this.#type = typeName === null ? this.#pass(this.#inner.type, 's', (other) => other.type) : this.#inner.type;
    }
    return this.#type;
  }

  /** An event is its own cause: nothing is passed for that. */
  get causes(): string {
    return this.isOwnCause ? `[${this.order}]` : this.#once('causes', ({ causes }) => causes);
  }

  get attributes(): string {
    return this.isBare ? 'null' : this.#once('attributes', ({ attributes }) => attributes);
  }

  get fields(): Columns['fields'] {
    if (this.#fields === undefined) {
      const names = this.#inner.fields?.map(([name]) => name) ?? null;
      this.#know(({ fields }) => isSame(fields?.map(([name]) => name) ?? null, names));
      this.#fields = names?.map((name) => [name, this.field(CURRENT, name) as Typed] as const) ?? null;
    }
    return this.#fields;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return of.kind === 'current' ? this.#typed(`field:${name}`, (columns) => columns.field(CURRENT, name)) : undefined;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    if (name === 'timestamp') return { text: this.time, as: 'timestamp', isNullable: false, isSimple: true, canFail: false };
    return this.#typed(`attribute:${name}`, (columns) => columns.attribute(CURRENT, name));
  }

  row(): string {
    const { fields } = this;
    if (fields !== null) return withFields(this, fields, this.#module).row();
    this.#know(({ isEvent }) => isEvent === true);
    return ROW_OF_EVENT;
  }

  #typed(key: string, read: (columns: Columns) => Typed | undefined): Typed | undefined {
    if (!this.#passed.has(key)) this.#passed.set(key, this.#read(key, read));
    return this.#passed.get(key);
  }

  #read(key: string, read: (columns: Columns) => Typed | undefined): Typed | undefined {
    const value = read(this.#inner);
    if (value === undefined || value.isNull) {
      this.#know((columns) => (value === undefined ? read(columns) === undefined : read(columns)?.isNull === true));
      return value;
    }
    const fitting = (columns: Columns): Typed | undefined => {
      const other = read(columns);
      return other !== undefined && this.#fits(other, value) ? other : undefined;
    };
    const text = this.#pass(value.text, 'v', (columns) => fitting(columns)?.text);
    return { ...value, text, isSimple: true, canFail: false, place: this.#placeOf(key, value, read) };
  }

  /** Whether a function that was printed for the one takes the other as well. */
  #fits(other: Typed, value: Typed): boolean {
    if (other.isNull) return value.isNullable && value.place === undefined;
    const isPlaced = (one: Typed): boolean => this.#takesPlaces && one.place !== undefined;
    return other.as === value.as && (value.isNullable || !other.isNullable) && isPlaced(other) === isPlaced(value);
  }

  #placeOf(key: string, { place }: Typed, read: (columns: Columns) => Typed | undefined): Typed['place'] {
    if (place === undefined || !this.#takesPlaces) return undefined;
    return () => this.#once(`place of ${key}`, (columns) => read(columns)?.place?.() as string);
  }

  #once(key: string, read: (columns: Columns) => string): string {
    const value = (columns: Columns): Typed => named(read(columns), 'value', true);
    return (this.#typed(key, value) as Typed).text;
  }

  #pass(text: string, letter: 't' | 'o' | 's' | 'v', of: Reading['of']): string {
    const name = this.#module.names.mint(letter);
    this.#parameters.push(name);
    this.#arguments.push(text);
    this.#readings.push({ isPassed: true, of });
    return name;
  }

  #knows(what: 'isOwnCause' | 'isBare'): boolean {
    const holds = this.#inner[what] === true;
    if (holds && !this.#known.has(what)) this.#know((columns) => columns[what] === true);
    if (holds) this.#known.add(what);
    return holds;
  }

  /** The function is printed by something that it is not given. */
  #know(holds: (columns: Columns) => boolean): void {
    this.#readings.push({ isPassed: false, of: (columns) => (holds(columns) ? '' : undefined) });
  }
}

function isSame(names: readonly string[] | null, others: readonly string[] | null): boolean {
  if (names === null || others === null) return names === others;
  return names.length === others.length && names.every((name, at) => name === others[at]);
}

/** The row with other fields, and another type where one is given; what else it has stays. */
export function withFields(columns: Columns, fields: NonNullable<Columns['fields']>, module: Constants, newType?: string): Columns {
  const ofType = newType === undefined ? {} : { type: module.constant(newType), typeName: newType };
  if (columns instanceof NamedColumns) return columns.with(fields, ofType);
  const { time, order, typeName } = columns;
  const [causes, attributes, type] = [() => columns.causes, () => columns.attributes, () => columns.type];
  const [isOwnCause, isBare] = [() => columns.isOwnCause === true, () => columns.isBare === true];
  const attribute = (name: AttributeName): Typed | undefined => columns.attribute(CURRENT, name);
  const parts = { fields, time, order, type, typeName, causes, attributes, isOwnCause, isBare, attribute, module };
  return new NamedColumns({ ...parts, ...ofType });
}
