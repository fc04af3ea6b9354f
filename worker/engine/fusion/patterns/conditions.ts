import type {
  AttributeName,
  ClosureAggregateExpression,
  PlanExpression,
  RowReference,
  UnlessFirstCaptureExpression,
} from '../../../../shared/language/plan/plan.ts';
import { conditionOf, printTypedCondition, typedOf } from '../print-typed.ts';
import { lazily, NULL_TYPED, named, type Readable, Refusal, TRUE_TYPED, type Typed } from '../typed.ts';
import type { TypedContext } from '../typed-context.ts';
import type { AutomatonState } from './automaton.ts';
import { isOfFirst } from './match-columns.ts';
import type { PatternInput } from './pattern-input.ts';
import { type Kept, type RunForm, readOf } from './run-form.ts';

/** Where the condition of a step is asked: for which event, of which run, in which state. */
export interface Asking {
  readonly input: PatternInput;
  readonly form: RunForm;
  readonly state: AutomatonState;
  /** Name of the run; null before there is one. */
  readonly run: string | null;
}

type Context = Omit<TypedContext, 'readable' | 'depth'>;

/** What the condition of a step reads: the event, and what its run has kept. */
class RunReadable implements Readable {
  readonly time: string;
  readonly #asking: Asking;
  readonly #context: Context;

  constructor(asking: Asking, context: Context) {
    this.#asking = asking;
    this.#context = context;
    this.time = asking.input.time;
  }

  field(of: RowReference, name: string): Typed | undefined {
    if (of.kind === 'current') return this.#asking.input.field(of, name);
    return this.#held(of, (ofFirst) => this.#asking.form.field(of.slot, name, ofFirst));
  }

  attribute(of: RowReference, name: AttributeName): Typed | undefined {
    if (of.kind === 'current') return this.#asking.input.attribute(of, name);
    if (name !== 'timestamp' && name !== 'event_type') return undefined;
    return this.#held(of, (ofFirst) => this.#asking.form.aspect(of.slot, name === 'timestamp' ? 'time' : 'type', ofFirst));
  }

  closure({ slot, function: name, argument }: ClosureAggregateExpression): Typed | undefined {
    const { form, run, state } = this.#asking;
    if (name !== 'count' || argument !== null || !form.isCounted(slot)) return undefined;
    return run === null || state.captured[slot] === false ? named('0', 'number') : readOf(run, form.count(slot), form);
  }

  unlessFirst({ slot, condition }: UnlessFirstCaptureExpression): Typed | undefined {
    const { form, run, state } = this.#asking;
    const isTaken = run === null ? false : state.captured[slot];
    if (isTaken === false) return TRUE_TYPED;
    const value = typedOf(condition, { ...this.#context, readable: this, depth: 1 });
    if (value instanceof Refusal) return undefined;
    if (isTaken === true) return value;
    if (!form.isCounted(slot)) return undefined;
    const { as, isNullable, canFail } = value;
    const count = `${run}.${form.count(slot).property}`;
    return lazily({ as, isNullable, isSimple: false, canFail }, () => `(${count}===0||${value.text})`);
  }

  #held(of: Exclude<RowReference, { kind: 'current' }>, kept: (ofFirst: boolean) => Kept | undefined): Typed | undefined {
    const { run, state } = this.#asking;
    const ofFirst = isOfFirst(of);
    if (ofFirst === undefined) return undefined;
    if (run === null || state.captured[of.slot] === false) return NULL_TYPED;
    const found = kept(ofFirst);
    return found && readOf(run, found, this.#asking.form);
  }
}

/** A condition as what its step may read makes it. */
export function conditionIn(plan: PlanExpression, asking: Asking, context: Context): Typed | Refusal {
  return conditionOf(plan, { ...context, readable: new RunReadable(asking, context) });
}

/** Text of a condition that has a form; null = it is always true. */
export function printCondition(plan: PlanExpression | null, asking: Asking, context: Context): string | null {
  if (plan === null) return null;
  const condition = printTypedCondition(plan, { ...context, readable: new RunReadable(asking, context) });
  return condition === TRUE_TYPED ? null : condition.text;
}
