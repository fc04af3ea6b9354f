import { InvariantError } from '../../../../shared/errors/error.ts';
import type { AttributeName, PatternPlan, RowReference } from '../../../../shared/language/plan/plan.ts';
import type { RecordType } from '../../../../shared/language/plan/types.ts';
import { type Relevance, relevanceOf } from '../../patterns/watch.ts';
import type { Columns } from '../columns.ts';
import type { ModuleText } from '../module-text.ts';
import { boxed, CannotFuse, named, type Representation, representationOf, type Typed } from '../typed.ts';
import type { Column } from './history.ts';

type Constants = Pick<ModuleText<never>, 'names' | 'constant'>;

/** Something that the function for an origin's events is given of each. */
export type Given =
  | { readonly of: 'field'; readonly name: string; readonly as: Representation }
  | { readonly of: 'type' }
  | { readonly of: 'causes' }
  /** The row that came, where generated code has none. */
  | { readonly of: 'row' };

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

  /** @throws CannotFuse when nothing is known of the origin's fields */
  constructor(plan: PatternPlan, origin: string, record: RecordType | null, module: Constants, isWhole = false) {
    const relevance = relevanceOf(plan, origin);
    if (relevance === null || record === null) throw new CannotFuse('nothing is known of the fields of a step');
    this.origin = origin;
    this.relevance = relevance;
    this.slots = relevance.watches.filter((id) => id < plan.steps.length);
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

  /** @throws CannotFuse for a field that is not declared: an event may have it all the same */
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

  /** What stands for the parameters, of a row that comes here. @throws CannotFuse */
  argumentsOf(columns: Columns): readonly string[] {
    return [columns.time, columns.order, ...this.given.map((given) => this.#argumentOf(given, columns))];
  }

  #argumentOf(given: Given, columns: Columns): string {
    if (given.of === 'row') return this.isEvent ? 'null' : columns.row();
    if (given.of === 'type') return columns.type;
    return given.of === 'causes' ? columns.causes : fieldOf(given, columns);
  }
}

function fieldOf(given: Extract<Given, { of: 'field' }>, columns: Columns): string {
  const value = columns.field({ kind: 'current' }, given.name);
  if (value === undefined) throw new CannotFuse('a field of a step is not known here');
  if (value.as === given.as || value.text === 'null') return value.text;
  if (given.as !== 'value') throw new CannotFuse('a field has another type here');
  return boxed(value);
}
