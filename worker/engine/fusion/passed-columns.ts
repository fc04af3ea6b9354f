import type { AttributeName, RowReference } from '../../../shared/language/plan/plan.ts';
import { type Columns, EventColumns, NamedColumns } from './columns.ts';
import type { ModuleText } from './module-text.ts';
import { CannotFuse, type Typed } from './typed.ts';

type Constants = Pick<ModuleText<never>, 'constant' | 'names'>;

/** A row handed to another function: what that function reads of it becomes its parameters. */
export class PassedColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly type: string;
  readonly #inner: Columns;
  readonly #module: Constants;
  readonly #parameters: string[] = [];
  readonly #arguments: string[] = [];
  readonly #passed = new Map<string, Typed>();
  readonly #isEvent: boolean;
  readonly isRare: boolean;

  /**
   * `isEvent`: the row is the event that is being entered, and is passed on at once; then the places of texts may be passed too.
   * `isRare`: as `Columns` has it.
   */
  constructor(inner: Columns, module: Constants, { isEvent = false, isRare = false } = {}) {
    this.#inner = inner;
    this.#module = module;
    this.#isEvent = isEvent;
    this.isRare = isRare;
    this.time = this.#pass(inner.time, 't');
    this.order = this.#pass(inner.order, 'o');
    this.type = inner.type.startsWith('k') ? inner.type : this.#pass(inner.type, 's');
  }

  get parameters(): readonly string[] {
    return this.#parameters;
  }

  /** What the caller gives for them. */
  get arguments(): readonly string[] {
    return this.#arguments;
  }

  /** An event is its own cause: nothing is passed for that. */
  get causes(): string {
    const { causes, order } = this.#inner;
    return causes === `[${order}]` ? `[${this.order}]` : this.#once('causes', causes);
  }

  get attributes(): string {
    const { attributes } = this.#inner;
    return attributes === 'null' ? attributes : this.#once('attributes', attributes);
  }

  get fields(): Columns['fields'] {
    return this.#inner.fields?.map(([name]) => [name, this.field({ kind: 'current' }, name) as Typed] as const) ?? null;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return of.kind === 'current' ? this.#typed(`field:${name}`, this.#inner.field(of, name)) : undefined;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    if (name === 'timestamp') return { text: this.time, as: 'timestamp', isNullable: false, isSimple: true, canFail: false };
    return this.#typed(`attribute:${name}`, this.#inner.attribute(of, name));
  }

  row(): string {
    const { fields, time, order, type } = this;
    if (fields === null) return this.#namelessRow();
    const [causes, attributes] = [() => this.causes, () => this.attributes];
    return new NamedColumns({ fields, time, order, type, causes, attributes, module: this.#module }).row();
  }

  /** Names of the other function do not reach into this one. */
  #namelessRow(): string {
    const text = this.#inner.row();
    if (text !== 'rowOfEvent()') throw new CannotFuse();
    return text;
  }

  #typed(key: string, value: Typed | undefined): Typed | undefined {
    if (value === undefined || value.text === 'null') return value;
    let passed = this.#passed.get(key);
    if (passed === undefined) {
      passed = { ...value, text: this.#pass(value.text, 'v'), isSimple: true, canFail: false, place: this.#placeOf(key, value) };
      this.#passed.set(key, passed);
    }
    return passed;
  }

  #placeOf(key: string, { place }: Typed): Typed['place'] {
    if (place === undefined || !this.#isEvent) return undefined;
    return () => this.#once(`place of ${key}`, place());
  }

  #once(key: string, text: string): string {
    return (this.#typed(key, { text, as: 'value', isNullable: true, isSimple: true, canFail: false }) as Typed).text;
  }

  #pass(text: string, letter: 't' | 'o' | 's' | 'v'): string {
    const name = this.#module.names.mint(letter);
    this.#parameters.push(name);
    this.#arguments.push(text);
    return name;
  }
}

/** The row with other fields; what else it has stays. */
export function withFields(columns: Columns, fields: NonNullable<Columns['fields']>, module: Constants, type = columns.type): Columns {
  if (columns instanceof NamedColumns) return columns.with(fields, type);
  const { time, order } = columns;
  const [causes, attributes] = [() => columns.causes, () => columns.attributes];
  const attribute = columns instanceof EventColumns ? undefined : (name: AttributeName) => columns.attribute({ kind: 'current' }, name);
  return new NamedColumns({ fields, time, order, type, causes, attributes, module, ...(attribute && { attribute }) });
}
