import type { AttributeName, RowReference } from '../../../../shared/language/plan/plan.ts';
import { joinedName } from '../../joins/join-results.ts';
import { type Columns, NamesOf, plainAttribute } from '../columns.ts';
import type { Constants } from '../module-text.ts';
import { boxed, NULL_TYPED, named, type Readable, type Typed } from '../typed.ts';
import type { KeptSide } from './kept-side.ts';

/** The result of a join: the columns of its sides under names of their own. What is read of a side is kept of it. */
export class JoinColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly type: string;
  readonly typeName = null;
  readonly isBare = true;
  readonly attributes = 'null';
  readonly #sides: readonly KeptSide[];
  readonly #module: Constants;
  #isWhole = false;

  constructor(sides: readonly KeptSide[], module: Constants) {
    this.#sides = sides;
    this.#module = module;
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
    this.type = module.names.mint('s');
  }

  /** All fields were asked for: of the sides everything is kept. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get causes(): string {
    return `mergeCauses([${this.#sides.map((side) => side.causes).join(',')}])`;
  }

  get fields(): Columns['fields'] {
    if (this.#sides.some(({ fieldNames }) => fieldNames === null)) return null;
    this.#isWhole = true;
    const all = this.#sides.flatMap((side) =>
      (side.fieldNames ?? []).map((field) => [joinedName(side.name, field), side.field(field)] as const),
    );
    return [...new Map(all)];
  }

  field(of: RowReference, name: string): Typed | undefined {
    if (of.kind === 'slot') return this.#sides[of.slot]?.field(name);
    return of.kind === 'current' ? this.#ownField(name) : undefined;
  }

  /** A field that two sides could have under this name is that of the last one that has it. */
  #ownField(name: string): Typed | undefined {
    const candidates = this.#sides.filter((side) => name.startsWith(joinedName(side.name, '')));
    const known = candidates.filter(({ name: side, fieldNames }) => fieldNames?.includes(fieldOf(side, name)) ?? true);
    if (known.length > 1) return undefined;
    const [side] = known;
    return side === undefined ? NULL_TYPED : side.field(fieldOf(side.name, name));
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind === 'slot') return attributeOfSide(this.#sides[of.slot], name);
    return of.kind === 'current' ? (plainAttribute(name, this) ?? NULL_TYPED) : undefined;
  }

  /** The fields of a side are not all known, or it has attributes, which are not kept. */
  get isPartial(): boolean {
    return this.#sides.some(({ fieldNames, mayHaveAttributes }) => fieldNames === null || mayHaveAttributes);
  }

  row(): string {
    const { causes } = this;
    const fields = this.fields ?? [];
    const names = this.#module.constant(NamesOf.from(fields.map(([name]) => name)));
    const values = fields.map(([, value]) => boxed(value)).join(',');
    for (const side of this.#sides) void [side.time, side.order, side.type, side.causes];
    const row = `makeRow(${this.type},${this.time},${this.order},${names},[${values}],null,${causes})`;
    return `withSlots(${row},[${this.#sides.map((side) => side.row(null)).join(',')}])`;
  }
}

/** Where the residual condition of `.on` stands: its current row is the one that arrives. */
export class ResidualReadable implements Readable {
  readonly time: string;
  readonly #columns: JoinColumns;

  /** `time`: of the row that arrives. */
  constructor(columns: JoinColumns, time: string) {
    this.#columns = columns;
    this.time = time;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return of.kind === 'slot' ? this.#columns.field(of, name) : undefined;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    return of.kind === 'slot' ? this.#columns.attribute(of, name) : undefined;
  }
}

/** What a condition may read that is tested before any partner is looked for: what is kept of the row that arrives. */
export class ArrivingReadable implements Readable {
  readonly time: string;
  readonly #slot: number;
  readonly #side: KeptSide;

  constructor(slot: number, side: KeptSide) {
    this.#slot = slot;
    this.#side = side;
    this.time = side.arrivingTime;
  }

  field(of: RowReference, name: string): Typed | undefined {
    return of.kind === 'slot' && of.slot === this.#slot ? this.#side.arrivingField(name) : undefined;
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    return of.kind === 'slot' && of.slot === this.#slot && name === 'timestamp' ? named(this.time, 'timestamp') : undefined;
  }
}

/** Rows of streams have more of them, which are not kept. */
function attributeOfSide(side: KeptSide | undefined, name: AttributeName): Typed | undefined {
  if (side === undefined) return undefined;
  if (name === 'timestamp') return named(side.time, 'timestamp');
  return name === 'event_type' ? named(side.type, 'string') : undefined;
}

function fieldOf(side: string, name: string): string {
  return name.slice(joinedName(side, '').length);
}
