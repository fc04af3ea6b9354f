import type {
  AttributeName,
  ClosureAggregateExpression,
  PlanExpression,
  RowReference,
  UnlessFirstCaptureExpression,
} from '../../../../shared/language/plan/plan.ts';
import type { Body, ModuleText } from '../module-text.ts';
import { printTyped, printTypedCondition } from '../print-typed.ts';
import { NULL_TYPED, named, type Readable, type Typed } from '../typed.ts';
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
  /** Is told when the condition may fail. */
  readonly mayFail: () => void;
}

/** What the condition of a step reads: the event, and what its run has kept. */
class RunReadable implements Readable {
  readonly time: string;
  readonly #asking: Asking;
  readonly #print: (plan: PlanExpression) => Typed;

  constructor(asking: Asking, print: (plan: PlanExpression, readable: Readable) => Typed) {
    this.#asking = asking;
    this.#print = (plan) => print(plan, this);
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
    return run === null || state.captured[slot] === false ? named('0', 'number') : readOf(run, form.count(slot));
  }

  unlessFirst({ slot, condition }: UnlessFirstCaptureExpression): Typed | undefined {
    const { form, run, state } = this.#asking;
    const isTaken = run === null ? false : state.captured[slot];
    if (isTaken === false) return named('true', 'boolean');
    const value = this.#print(condition);
    if (isTaken === true) return value;
    if (!form.isCounted(slot)) return undefined;
    return { ...value, text: `(${run}.${form.count(slot).property}===0||${value.text})`, isSimple: false };
  }

  #held(of: Exclude<RowReference, { kind: 'current' }>, kept: (ofFirst: boolean) => Kept): Typed | undefined {
    const { run, state } = this.#asking;
    const ofFirst = isOfFirst(of);
    if (ofFirst === undefined) return undefined;
    return run === null || state.captured[of.slot] === false ? NULL_TYPED : readOf(run, kept(ofFirst));
  }
}

/** A condition that is true or false; null = always true. @throws CannotFuse */
export function printCondition(
  plan: PlanExpression | null,
  asking: Asking,
  body: Body,
  module: Pick<ModuleText<never>, 'constant'>,
): string | null {
  if (plan === null) return null;
  const print = (one: PlanExpression, readable: Readable): Typed => printTyped(one, { module, body, readable, depth: 1 });
  const condition = printTypedCondition(plan, { module, body, readable: new RunReadable(asking, print) });
  if (condition.canFail) asking.mayFail();
  return condition.text === 'true' ? null : condition.text;
}
