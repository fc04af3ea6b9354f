import { InvariantError } from '../../../../shared/errors/error.ts';
import type { AttributeName, PatternPlan, RowReference } from '../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../shared/language/plan/types.ts';
import type { Row } from '../../operators/row.ts';
import { type Relevance, relevanceOf } from '../../patterns/watch.ts';
import { type Columns, ROW_OF_EVENT } from '../columns.ts';
import { rowOf } from '../guarded.ts';
import type { Constants } from '../module-text.ts';
import { boxed, named, Refusal, type Representation, representationOf, type Typed } from '../typed.ts';
import { asGiven, type Column } from './history.ts';

/** Something that the function for an origin's events is given of each. */
export type Given =
  | { readonly of: 'field'; readonly name: string; readonly as: Representation }
  | { readonly of: 'type' }
  | { readonly of: 'causes' }
  /** The row that came, where generated code has none. */
  | { readonly of: 'row' };

/** The same of a row that comes whole. */
export function givenBy(row: Row, given: Given): unknown {
  if (given.of === 'field') return asGiven(row.fields.get(given.name) ?? null, given.as);
  return given.of === 'row' ? row : row[given.of];
}

/** An event of one origin on its way through a pattern: what is read of it becomes a parameter. Any field may be null. */
export class PatternInput {
  readonly origin: string;
  readonly relevance: Relevance;
  /** The steps that take events from here. */
  readonly slots: readonly number[];
  readonly time: string;
  readonly order: string;
  /** Rows come whole, also those of events. */
  readonly #isWhole: boolean;
  readonly #record: RecordType;
  readonly #module: Constants;
  readonly #given = new Map<string, { readonly given: Given; readonly parameter: string }>();

  /** `record`: the fields of the origin, which is one of the pattern's. */
  constructor(plan: PatternPlan, origin: string, record: RecordType, module: Constants, isWhole = false) {
    this.origin = origin;
    this.relevance = relevanceOf(plan, origin) as Relevance;
    this.slots = this.relevance.watches.filter((id) => id < plan.steps.length);
    this.#isWhole = isWhole;
    this.#record = record;
    this.#module = module;
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
  }

  /** An event that comes by columns. */
  get isEvent(): boolean {
    return !this.#isWhole && this.origin.startsWith('event:');
  }

  /** Of events. */
  get type(): string {
    return this.origin.slice('event:'.length);
  }

  get fieldNames(): readonly string[] {
    return this.#record.fields.map(({ name }) => name);
  }

  /** Undefined: it does not have the field. */
  representation(name: string): Representation | undefined {
    const field = this.#record.fields.find((one) => one.name === name);
    return field && representationOf(field.type);
  }

  field(of: RowReference, name: string): Typed | undefined {
    const as = this.representation(name);
    if (of.kind !== 'current' || as === undefined) return undefined;
    return named(this.#parameter(`field:${name}`, { of: 'field', name, as }), as, true);
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind !== 'current') return undefined;
    if (name === 'timestamp') return named(this.time, 'timestamp');
    return name === 'event_type' ? named(this.#parameter('type', { of: 'type' }), 'string') : undefined;
  }

  /** Text of a value that a run keeps of it. */
  valueOf(kept: Column): string {
    switch (kept.aspect) {
      case 'field':
        return this.field({ kind: 'current' }, kept.name)?.text ?? 'null';
      case 'time':
        return this.time;
      case 'order':
        return this.order;
      case 'type':
      case 'causes':
      case 'row':
        return this.#parameter(kept.aspect, { of: kept.aspect });
      case 'count':
      case 'history':
        throw new InvariantError('that is kept of runs, not of events');
    }
  }

  #parameter(id: string, given: Given): string {
    let found = this.#given.get(id);
    if (found === undefined) {
      found = { given, parameter: this.#module.names.mint('v') };
      this.#given.set(id, found);
    }
    return found.parameter;
  }

  /** What the function is given behind time and arrival number. */
  get given(): readonly Given[] {
    return [...this.#given.values()].map(({ given }) => given);
  }

  get parameters(): readonly string[] {
    return [this.time, this.order, ...[...this.#given.values()].map(({ parameter }) => parameter)];
  }

  /** What stands for the parameters, of a row that comes here; to be asked once all that is read of it is decided. */
  argumentsOf(columns: Columns): readonly string[] | Refusal {
    const texts = [columns.time, columns.order];
    for (const given of this.given) {
      const text = this.#argumentOf(given, columns);
      if (text instanceof Refusal) return text;
      texts.push(text);
    }
    return texts;
  }

  #argumentOf(given: Given, columns: Columns): string | Refusal {
    if (given.of === 'row') return this.#rowOf(columns);
    if (given.of === 'type') return columns.type;
    return given.of === 'causes' ? columns.causes : this.#fieldOf(given, columns);
  }

  /** The event that is being entered by columns is made a row only where one is wanted. */
  #rowOf(columns: Columns): string | Refusal {
    const row = rowOf(columns);
    return this.isEvent && row === ROW_OF_EVENT ? 'null' : row;
  }

  #fieldOf(given: Extract<Given, { of: 'field' }>, columns: Columns): string | Refusal {
    const value = columns.field({ kind: 'current' }, given.name, this.#record.fields.find(({ name }) => name === given.name)?.type);
    if (value === undefined) return new Refusal('a field of a step is not known here');
    if (value.as === given.as || value.isNull) return value.text;
    return given.as === 'value' ? boxed(value) : new Refusal('a field has another type here');
  }
}
