import type { Value } from '../../../shared/events/value.ts';
import type { AttributeName, RowReference } from '../../../shared/language/plan/plan.ts';
import type { Type } from '../../../shared/language/plan/types.ts';
import type { Row } from '../operators/row.ts';
import { type Columns, plainAttribute } from './columns.ts';
import type { Constants } from './module-text.ts';
import { NULL_TYPED, named, representationOf, type Typed } from './typed.ts';

/** What is known of rows that come whole. */
export interface RowTraits {
  /** Their type; null = it differs. */
  readonly type: string | null;
  /** They are events: their own cause, without attributes. */
  readonly isEvent: boolean;
}

/**
 * A row that comes whole: its columns are read from it where they are wanted. What is known of them is what their types say where they
 * are read, and that any of them may be null.
 */
export class RowColumns implements Columns {
  readonly isWhole = true;
  readonly isRare = true;
  readonly fields = null;
  readonly typeName: string | null;
  readonly isOwnCause: boolean;
  readonly isBare: boolean;
  readonly time: string;
  readonly order: string;
  readonly type: string;
  readonly causes: string;
  readonly attributes: string;
  /** Of a function that takes the row, and what its caller gives. */
  readonly parameters: readonly string[];
  readonly arguments: readonly string[];
  readonly #row: string;
  readonly #traits: RowTraits;
  readonly #module: Constants;

  /** `given`: the name of the row where the function is called that takes it. */
  constructor(module: Constants, traits: RowTraits, given: string | null = null) {
    const row = module.names.mint('r');
    this.#row = row;
    this.#traits = traits;
    this.#module = module;
    this.parameters = [row];
    this.arguments = given === null ? [] : [given];
    this.time = `${row}.time`;
    this.order = `${row}.order`;
    this.typeName = traits.type;
    this.isOwnCause = traits.isEvent;
    this.isBare = traits.isEvent;
    this.type = traits.type === null ? `${row}.type` : module.constant(traits.type);
    this.causes = traits.isEvent ? `[${this.order}]` : `${row}.causes`;
    this.attributes = traits.isEvent ? 'null' : `attributesOf(${row})`;
  }

  /** The same row in a function that is given it. */
  passed(): RowColumns {
    return new RowColumns(this.#module, this.#traits, this.#row);
  }

  /** What another caller gives such a function; null where its row does not come whole, or less is known of it. */
  argumentsFor(columns: Columns): readonly string[] | null {
    if (!(columns instanceof RowColumns)) return null;
    const { type, isEvent } = columns.#traits;
    return type === this.#traits.type && isEvent === this.#traits.isEvent ? [columns.#row] : null;
  }

  field(of: RowReference, name: string, type?: Type): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    const as = type === undefined ? 'value' : representationOf(type);
    const isRaw = as === 'number' || as === 'string' || as === 'boolean';
    const text = `fieldOf(${this.#row},${this.#module.constant(name)})`;
    return { ...named(text, isRaw ? as : 'value', true), isSimple: false };
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    return plainAttribute(name, this) ?? (this.#traits.isEvent ? NULL_TYPED : undefined);
  }

  row(): string {
    return this.#row;
  }
}

/** Called by generated code. */
export function fieldOf(row: Row, name: string): Value {
  return row.fields.get(name) ?? null;
}

export function attributesOf(row: Row): Row['attributes'] {
  return row.attributes;
}
