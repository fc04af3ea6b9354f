import type { AttributeName, ClosureAggregateExpression, PatternPlan, RowReference } from '../../../../shared/language/plan/plan.ts';
import type { Columns } from '../columns.ts';
import type { ModuleText } from '../module-text.ts';
import { boxed, CannotFuse, NULL_TYPED, named, type Typed } from '../typed.ts';
import { MatchShape, StepShape } from './made-match.ts';
import type { Kept, RunForm } from './run-form.ts';

type Constants = Pick<ModuleText<never>, 'constant' | 'names'>;

/** What a match is handed: something that its run has kept, or how long it took. */
export type MatchPart = Kept | 'duration';

/** A match on its way: what is read of it becomes a parameter of the function that takes it. */
export class MatchColumns implements Columns {
  readonly time: string;
  readonly order: string;
  readonly type: string;
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
    this.#shape = module.constant(new MatchShape(plan, stream));
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
    return ofFirst === undefined ? undefined : this.#part(this.#form.field(of.slot, name, ofFirst));
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind === 'current') return this.#own(name);
    const ofFirst = isOfFirst(of);
    if (ofFirst === undefined) return undefined;
    if (name === 'timestamp') return this.#part(this.#form.aspect(of.slot, 'time', ofFirst));
    return name === 'event_type' ? this.#part(this.#form.aspect(of.slot, 'type', ofFirst)) : undefined;
  }

  closure({ slot, function: name, argument }: ClosureAggregateExpression): Typed | undefined {
    const isCounted = this.#form.isCounted(slot) && name === 'count' && argument === null;
    return isCounted ? { ...this.#part(this.#form.count(slot)), isNullable: false } : undefined;
  }

  #own(name: AttributeName): Typed | undefined {
    if (name === 'timestamp') return named(this.time, 'timestamp');
    if (name === 'event_type') return named(this.type, 'string');
    if (name === 'match_duration_ms') return this.#duration();
    if (name !== 'match_id') return NULL_TYPED;
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
    if (this.#form.isList(slot)) throw new CannotFuse();
    return this.#part(this.#form.aspect(slot, this.#form.takesEvents(slot) ? 'order' : 'causes')).text;
  }

  get attributes(): string {
    return `matchAttributes(${this.#shape},${this.#duration().text},${this.causes})`;
  }

  /** Needs everything of every event. */
  row(): string {
    return `makeMatch(${this.#shape},${this.order},[${this.#plan.steps.map(({ slot }) => this.#rowOf(slot)).join(',')}])`;
  }

  #rowOf(slot: number): string {
    if (this.#form.isList(slot)) throw new CannotFuse();
    const row = this.#part(this.#form.aspect(slot, 'row')).text;
    if (!this.#form.takesEvents(slot)) return row;
    const [type, time, order] = (['type', 'time', 'order'] as const).map((aspect) => this.#part(this.#form.aspect(slot, aspect)).text);
    const shape = new StepShape(this.#form.fieldNames(slot));
    const values = shape.names.map((name) => boxed(this.#part(this.#form.fieldOfSome(slot, name))));
    return `stepRow(${row},${this.#module.constant(shape)},${type},${time},${order},[${values.join(',')}])`;
  }
}

/** Whether a reference to a step is to its first event and not to its last; undefined = to another one. */
export function isOfFirst(of: Exclude<RowReference, { kind: 'current' }>): boolean | undefined {
  if (of.kind === 'slot' || of.at === 'last') return false;
  return of.at === 'first' ? true : undefined;
}
