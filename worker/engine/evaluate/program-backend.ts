import { beginMaking } from '../../../shared/events/making.ts';
import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import { fitsType, misfitText } from '../../../shared/language/functions/type-fit.ts';
import type { FunctionPlan, Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import { printType } from '../../../shared/language/plan/types.ts';
import { type Evaluate, type Row, type Scope, scopeOf } from '../operators/row.ts';
import type { EmitFunction, ExpressionBackend } from './backend.ts';
import { evaluationFailure } from './failure.ts';
import { Globals } from './globals.ts';
import { StepBudget } from './step-budget.ts';

/** What every backend does alike: the program's globals, its budget of steps, and calls of its functions. */
export abstract class ProgramBackend implements ExpressionBackend {
  protected readonly plan: Plan;
  protected readonly budget = new StepBudget();
  protected readonly globals: Globals;
  #emitter: EmitFunction | null = null;

  constructor(plan: Plan) {
    this.plan = plan;
    this.globals = new Globals(plan.globals, (global) => this.expression(global.value)(loadScope()));
  }

  abstract expression(plan: PlanExpression): Evaluate;

  /** Runs the body of a function. */
  protected abstract run(index: number, plan: FunctionPlan, args: readonly Value[], row: Row): Value;

  /** Evaluates every `let` and `var`, then the top-level assignments; the last thing a constructor does. */
  protected load(): void {
    this.globals.load();
    for (const { global, value, origin } of this.plan.loads) this.globals.assign(global, () => this.expression(value)(loadScope()), origin);
  }

  invoke(index: number, args: readonly Value[], row: Row, emit?: EmitFunction): Value {
    const outer = this.#emitter;
    this.#emitter = emit ?? null;
    beginMaking();
    try {
      return this.call(index, args, row);
    } catch (thrown) {
      throw evaluationFailure(thrown);
    } finally {
      this.#emitter = outer;
    }
  }

  /** A call from within the program. */
  protected call(index: number, args: readonly Value[], row: Row): Value {
    const plan = this.plan.functions[index] as FunctionPlan;
    this.budget.enter(plan.name);
    try {
      return resultOf(plan, this.run(index, plan, args, row));
    } finally {
      this.budget.leave();
    }
  }

  /** The `emit` statement. */
  protected emit(type: string, fields: Map<string, Value>): void {
    if (this.#emitter === null) throw new EvaluationError(`emit ${type}: only a function called by .process may emit`);
    this.#emitter(type, fields);
  }

  beginEvent(): void {
    this.budget.beginEvent();
  }

  saveGlobals(): ReadonlyMap<string, Value> {
    return this.globals.save();
  }

  loadGlobals(saved: ReadonlyMap<string, Value>): void {
    this.globals.restore(saved);
  }
}

/** What is of any type to the checker is looked at here: whatever reads a result relies on the type that the function declares. */
function resultOf({ name, result }: FunctionPlan, value: Value): Value {
  if (result.kind === 'any' || fitsType(value, result)) return value;
  throw new EvaluationError(`${name}: expected ${printType(result)} as result, found ${misfitText(value, result)}`);
}

/** Where the program's globals are evaluated: no event is there yet, and `now()` is 0. */
function loadScope(): Scope {
  return scopeOf({ type: '', time: 0, order: 0, fields: new Map(), bound: null, attributes: null, causes: [] });
}
