import { aggregateOver } from '../../../../shared/language/functions/index.ts';
import type { AttributeName, ClosureAggregateExpression, PatternPlan, RowReference } from '../../../../shared/language/plan/plan.ts';
import { type Columns, plainAttribute } from '../columns.ts';
import type { Constants } from '../module-text.ts';
import { boxed, NULL_TYPED, named, representationOf, type Typed } from '../typed.ts';
import { MatchShape, StepShape } from './made-match.ts';
import type { Kept, RunForm } from './run-form.ts';

/** What a match is handed: something that its run has kept, or how long it took. */
export type MatchPart = Kept | 'duration';

/** A match on its way: what is read of it becomes a parameter of the function that takes it. */
export class MatchColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly type: string;
  readonly typeName: string;
  readonly fields = null;
  readonly isRare = true;
  readonly #plan: PatternPlan;
  readonly #form: RunForm;
  readonly #module: Constants;
  readonly #parts = new Map<MatchPart, string>();
  readonly #shape: string;

  constructor(plan: PatternPlan, stream: string, form: RunForm, module: Constants) {
    this.#plan = plan;
    this.#form = form;
    this.#module = module;
    this.time = module.names.mint('t');
    this.order = module.names.mint('o');
    this.type = module.constant(stream);
    this.typeName = stream;
    this.#shape = module.constant(new MatchShape(plan, stream, form.isLists));
  }

  /** What the function is given behind time and arrival number. */
  get parts(): readonly MatchPart[] {
    return [...this.#parts.keys()];
  }

  get parameters(): readonly string[] {
    return [this.time, this.order, ...this.#parts.values()];
  }

  field(of: RowReference, name: string): Typed | undefined {
    if (of.kind === 'current') return name === 'match_duration_ms' ? this.#duration() : undefined;
    const ofFirst = isOfFirst(of);
    if (ofFirst === undefined) return this.#item(of, name);
    const kept = this.#form.field(of.slot, name, ofFirst);
    return kept && this.#part(kept);
  }

  /** A field of any one event of a closure. */
  #item(of: Exclude<RowReference, { kind: 'current' }>, name: string): Typed | undefined {
    const position = positionOf(of);
    if (position === undefined || !this.#form.isList(of.slot)) return undefined;
    const field = this.#form.pastField(of.slot, name);
    if (field === undefined) return undefined;
    const text = this.#past('pastItem', of.slot, [String(field.column), String(position)]);
    return { ...named(text, field.as, true), isSimple: false };
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind === 'current') return this.#own(name);
    const ofFirst = isOfFirst(of);
    if (ofFirst === undefined) return undefined;
    if (name === 'timestamp') return this.#part(this.#form.aspect(of.slot, 'time', ofFirst));
    return name === 'event_type' ? this.#part(this.#form.aspect(of.slot, 'type', ofFirst)) : undefined;
  }

  closure(node: ClosureAggregateExpression): Typed | undefined {
    const { slot, function: name, argument } = node;
    if (name !== 'count' || argument !== null) return this.#aggregate(node);
    return this.#form.isCounted(slot) ? { ...this.#part(this.#form.count(slot)), isNullable: false } : undefined;
  }

  #aggregate({ slot, function: name, argument, constants, type }: ClosureAggregateExpression): Typed | undefined {
    const isField = argument === null || (argument.kind === 'field' && argument.of.kind === 'current');
    const descriptor = aggregateOver(name, argument?.type);
    if (descriptor === undefined || !isField || !this.#form.isList(slot)) return undefined;
    const history = this.#form.historyOf(slot);
    for (const aspect of ['time', 'order'] as const) history.keep(aspect, '', 'number');
    if (argument !== null && this.#form.pastField(slot, argument.name) === undefined) return undefined;
    const field = argument === null ? 'null' : this.#module.constant(argument.name);
    const given = [this.#module.constant(descriptor), this.#module.constant(constants), field];
    const as = representationOf(type);
    const isNumber = as === 'number' && argument !== null && representationOf(argument.type) === 'number';
    const text = this.#past('pastAggregate', slot, given);
    return { text, as: isNumber ? 'number' : 'value', isNullable: true, isSimple: false, canFail: !isNumber };
  }

  #own(name: AttributeName): Typed | undefined {
    if (name === 'match_duration_ms') return this.#duration();
    if (name !== 'match_id') return plainAttribute(name, this) ?? NULL_TYPED;
    return { ...named(`matchIdOf(${this.#shape},${this.causes})`, 'string'), isSimple: false };
  }

  #duration(): Typed {
    return named(this.#parameter('duration'), 'number');
  }

  #part(kept: Kept): Typed {
    return named(this.#parameter(kept), kept.as, true);
  }

  #parameter(part: MatchPart): string {
    let name = this.#parts.get(part);
    if (name === undefined) {
      name = this.#module.names.mint('v');
      this.#parts.set(part, name);
    }
    return name;
  }

  get causes(): string {
    return `mergeCauses([${this.#plan.steps.map(({ slot }) => this.#causesOf(slot)).join(',')}])`;
  }

  #causesOf(slot: number): string {
    if (this.#form.isList(slot)) {
      this.#form.historyOf(slot).keep(this.#form.takesEvents(slot) ? 'order' : 'causes', '', 'value');
      return this.#past('pastCauses', slot, []);
    }
    return this.#part(this.#form.aspect(slot, this.#form.takesEvents(slot) ? 'order' : 'causes')).text;
  }

  get attributes(): string {
    return `matchAttributes(${this.#shape},${this.#duration().text},${this.causes})`;
  }

  /** Needs everything of every event. */
  row(): string {
    return `makeMatch(${this.#shape},${this.time},${this.order},[${this.#plan.steps.map(({ slot }) => this.#rowOf(slot)).join(',')}])`;
  }

  /** A call with all that is kept of a closure's events. */
  #past(name: string, slot: number, more: readonly string[]): string {
    const past = this.#part(this.#form.history(slot)).text;
    return `${name}(${[past, this.#module.constant(this.#form.historyOf(slot)), ...more].join(',')})`;
  }

  #rowsOf(slot: number): string {
    const history = this.#form.historyOf(slot);
    history.keep('row', '', 'value');
    if (this.#form.takesEvents(slot)) {
      for (const aspect of ['type', 'time', 'order'] as const) history.keep(aspect, '', 'value');
      history.shape = new StepShape(this.#form.fieldNames(slot));
      for (const name of history.shape.names) history.keep('field', name, this.#form.fieldOfSome(slot, name).as);
    }
    return this.#past('pastRows', slot, []);
  }

  #rowOf(slot: number): string {
    if (this.#form.isList(slot)) return this.#rowsOf(slot);
    const row = this.#part(this.#form.aspect(slot, 'row')).text;
    if (!this.#form.takesEvents(slot)) return row;
    const [type, time, order] = (['type', 'time', 'order'] as const).map((aspect) => this.#part(this.#form.aspect(slot, aspect)).text);
    const shape = new StepShape(this.#form.fieldNames(slot));
    const values = shape.names.map((name) => boxed(this.#part(this.#form.fieldOfSome(slot, name))));
    return `stepRow(${row},${this.#module.constant(shape)},${type},${time},${order},[${values.join(',')}])`;
  }
}

/** Position of one event of a closure, from its end where it is below zero; undefined = it is not always the same. */
function positionOf(of: Exclude<RowReference, { kind: 'current' }>): number | undefined {
  if (of.kind === 'slot' || of.at === 'first' || of.at === 'last') return undefined;
  if (of.at === 'prev') return -2;
  const { at } = of;
  return at.kind === 'constant' && typeof at.value === 'number' && Number.isInteger(at.value) ? at.value : undefined;
}

/** Whether a reference to a step is to its first event and not to its last; undefined = to another one. */
export function isOfFirst(of: Exclude<RowReference, { kind: 'current' }>): boolean | undefined {
  if (of.kind === 'slot' || of.at === 'last') return false;
  return of.at === 'first' ? true : undefined;
}
