import type { InputPlan, JoinSide, OperatorPlan, Plan } from '../../../../shared/language/plan/plan.ts';
import type { FieldType, RecordType, Type } from '../../../../shared/language/plan/types.ts';
import type { SideForm } from '../../joins/join-kernel.ts';
import { type Columns, NamesOf } from '../columns.ts';
import type { Constants } from '../module-text.ts';
import { boxed, named, Refusal, type Representation, representationOf, type Typed } from '../typed.ts';

/** A value that is kept of a row: under a name in functions that are given it, under a property while it waits. */
interface KeptValue {
  readonly name: string;
  readonly property: string;
}

interface KeptColumn extends KeptValue {
  readonly field: string;
  readonly as: Representation;
  readonly isNullable: boolean;
}

/** What is known of the rows of one side before any of them is printed. */
interface Expected {
  readonly types: ReadonlyMap<string, { readonly as: Representation; readonly isNullable: boolean }>;
  /** All their fields in order; null = not known. */
  readonly names: readonly string[] | null;
  /** Null = it differs. */
  readonly type: string | null;
  /** They may have attributes, which are not kept. */
  readonly mayHaveAttributes: boolean;
}

/** One side of a join whose input keeps rows, or selects of them: what is read of its rows later is what is kept of them. */
export class KeptSide {
  readonly name: string;
  readonly fieldNames: readonly string[] | null;
  readonly #expected: Expected;
  readonly #module: Constants;
  readonly #time: KeptValue;
  readonly #order: KeptValue;
  readonly #type: KeptValue | null;
  #causes: KeptValue | null = null;
  readonly #columns = new Map<string, KeptColumn>();
  readonly #given = new Set<KeptValue>();

  constructor(side: JoinSide, plan: Plan, module: Constants) {
    this.name = side.name;
    this.#module = module;
    this.#expected = side.input.operators.reduce(behind, expectedOf(side.input, plan));
    this.fieldNames = this.#expected.names;
    this.#time = { name: module.names.mint('t'), property: 'time' };
    this.#order = { name: module.names.mint('o'), property: 'order' };
    this.#type = this.#expected.type === null ? { name: module.names.mint('s'), property: 'type' } : null;
  }

  get time(): string {
    return this.#give(this.#time);
  }

  get order(): string {
    return this.#give(this.#order);
  }

  get type(): string {
    return this.#type === null ? this.#module.constant(this.#expected.type) : this.#give(this.#type);
  }

  /** Text of the row's causes. Of a single event they are its order. */
  get causes(): string {
    if (this.#expected.type !== null) return `[${this.order}]`;
    this.#causes ??= { name: this.#module.names.mint('a'), property: 'causes' };
    return this.#give(this.#causes);
  }

  get mayHaveAttributes(): boolean {
    return this.#expected.mayHaveAttributes;
  }

  field(name: string): Typed {
    let column = this.#columns.get(name);
    if (column === undefined) {
      const type = this.#expected.types.get(name) ?? { as: 'value', isNullable: true };
      const { names } = this.#module;
      column = { field: name, ...type, name: names.mint('v'), property: names.mint('x') };
      this.#columns.set(name, column);
    }
    return named(this.#give(column), column.as, column.isNullable);
  }

  /** A field of the row that arrives, if it is kept. */
  arrivingField(name: string): Typed | undefined {
    const column = this.#columns.get(name);
    return column && named(column.name, column.as, column.isNullable);
  }

  get arrivingTime(): string {
    return this.#time.name;
  }

  get arrivingOrder(): string {
    return this.#order.name;
  }

  get arrivingType(): string {
    return this.#type?.name ?? this.#module.constant(this.#expected.type);
  }

  /** What functions behind the join are given of a row of this side, in order. */
  get given(): readonly KeptValue[] {
    return [...this.#given];
  }

  /** What is kept of a row, in the order of the arguments of its functions; time and order first. */
  get kept(): readonly KeptValue[] {
    return [this.#time, this.#order, ...this.#marks, ...this.#columns.values()];
  }

  /** The fields that are kept of a row. */
  get columns(): readonly string[] {
    return [...this.#columns.keys()];
  }

  get #marks(): readonly KeptValue[] {
    return [this.#type, this.#causes].flatMap((one) => one ?? []);
  }

  /** Parameters of a function that is given a row, with its key behind time, order, type and causes. */
  parameters(key: string): readonly string[] {
    const marks = [this.#time, this.#order, ...this.#marks];
    return [...marks.map(({ name }) => name), key, ...[...this.#columns.values()].map(({ name }) => name)];
  }

  /** What such a function is given of a row that comes to the join, with its key or without. `isWhole`: it must have all fields of its side and no others. */
  arguments(key: string | null, columns: Columns, isWhole: boolean): readonly string[] | Refusal {
    if (isWhole && !this.#hasAllFields(columns)) return new Refusal('rows of a side have other fields here');
    const given = [columns.time, columns.order, ...(this.#type ? [columns.type] : []), ...(this.#causes ? [columns.causes] : [])];
    if (key !== null) given.push(key);
    for (const column of this.#columns.values()) {
      const text = argument(column, columns);
      if (text instanceof Refusal) return text;
      given.push(text);
    }
    return given;
  }

  /** Events of a declared type that come as columns have what it declares. */
  #hasAllFields({ fields }: Columns): boolean {
    if (fields === null) return this.#expected.type !== null;
    return fields.length === this.fieldNames?.length && fields.every(([name], at) => name === this.fieldNames?.[at]);
  }

  /** For the kernel. `isWhole`: the rows are made again from what is kept. */
  form(isWhole: boolean): SideForm {
    const columns = [...this.#columns.values()].map(({ field, as, isNullable }) => ({ name: field, as, isNullable }));
    return { type: this.#expected.type, keepsCauses: this.#causes !== null, columns, fields: isWhole ? this.fieldNames : null };
  }

  /** Text that makes a row of one that waits, or (null) of the names of what is given. */
  row(waiting: string | null): string {
    const text = ({ name, property }: KeptValue): string => (waiting === null ? name : `${waiting}.${property}`);
    const columns = this.#ordered();
    const names = this.#module.constant(NamesOf.from(columns.map(({ field }) => field)));
    const values = columns.map((column) => boxed(named(text(column), column.as, column.isNullable)));
    const type = this.#type === null ? this.type : text(this.#type);
    const causes = this.#causes === null ? `[${text(this.#order)}]` : text(this.#causes);
    return `makeRow(${type},${text(this.#time)},${text(this.#order)},${names},[${values.join(',')}],null,${causes})`;
  }

  /** In the order of the row, where that is known. */
  #ordered(): readonly KeptColumn[] {
    const columns = [...this.#columns.values()];
    const { fieldNames } = this;
    return fieldNames === null ? columns : columns.sort((a, b) => fieldNames.indexOf(a.field) - fieldNames.indexOf(b.field));
  }

  #give(value: KeptValue): string {
    this.#given.add(value);
    return value.name;
  }
}

function argument({ field, as, isNullable }: KeptColumn, columns: Columns): string | Refusal {
  const value = columns.field({ kind: 'current' }, field);
  if (value === undefined || (value.isNullable && !isNullable)) return new Refusal('a field of a side is not known here, or may be null');
  if (value.isNull || value.as === as) return value.text;
  if (as === 'value') return boxed(value);
  // A value of the engine's own functions is of its static type, as plain as it is here.
  return value.as === 'value' && isNullable ? value.text : new Refusal('a field of a side has another type here');
}

function expectedOf({ from }: InputPlan, plan: Plan): Expected {
  if (from.kind === 'stream') {
    const type = plan.streams[from.stream]?.resultType;
    const fields = type?.kind === 'record' ? type.fields : null;
    return { types: nullableTypes(fields ?? []), names: fields?.map(({ name }) => name) ?? null, type: null, mayHaveAttributes: true };
  }
  const declared = from.kind === 'event' ? plan.events.find(({ name }) => name === from.type) : undefined;
  if (from.kind !== 'event' || declared === undefined) return { types: new Map(), names: null, type: null, mayHaveAttributes: true };
  const types = new Map(
    declared.fields.map(({ name, type }) => [name, { as: representationOf(type), isNullable: representationOf(type) === 'value' }]),
  );
  if (from.types.length > 1) return { types, names: null, type: null, mayHaveAttributes: false };
  return { types, names: declared.fields.map(({ name }) => name), type: from.type, mayHaveAttributes: false };
}

/** Rows behind an operator of the input. */
function behind(expected: Expected, operator: OperatorPlan): Expected {
  if (operator.kind !== 'select') return expected;
  const fields = operator.items.map(({ name, value }): FieldType => ({ name, type: value.type, optional: true }));
  return { ...expected, types: nullableTypes(fields), names: [...new Set(fields.map(({ name }) => name))] };
}

function nullableTypes(fields: RecordType['fields']): Expected['types'] {
  return new Map(fields.map(({ name, type }) => [name, { as: nullableRepresentation(type), isNullable: true }]));
}

/** Times that were calculated may be objects or milliseconds: they are kept as objects. */
function nullableRepresentation(type: Type): Representation {
  const as = representationOf(type);
  return as === 'timestamp' || as === 'duration' ? 'value' : as;
}
