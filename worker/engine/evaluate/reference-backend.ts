import type { Value } from '../../../shared/events/value.ts';
import type { FunctionPlan, Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import { type Evaluate, type Row, type Scope, scopeOf } from '../operators/row.ts';
import type { EmitFunction, ExpressionBackend } from './backend.ts';
import { createExpressions, type ExpressionHost } from './expressions.ts';
import { evaluationFailure } from './failure.ts';
import { Globals } from './globals.ts';
import { prepareStatements, type Run } from './statements.ts';
import { Activation, StepBudget } from './step-budget.ts';

/** The plain evaluator over the plan: the definition of what expressions and functions mean. */
export class ReferenceBackend implements ExpressionBackend {
  readonly #plan: Plan;
  readonly #budget = new StepBudget();
  readonly #globals: Globals;
  readonly #expression: (plan: PlanExpression) => Evaluate;
  readonly #host: ExpressionHost;
  readonly #bodies = new Map<number, Run>();
  #emit: EmitFunction | null = null;

  /** Evaluates the program's globals. @throws EvaluationError when one of them fails. */
  constructor(plan: Plan) {
    this.#plan = plan;
    this.#globals = new Globals(plan.globals, (global) => this.expression(global.value)(loadScope()));
    this.#host = {
      budget: this.#budget,
      expression: (expression) => this.#expression(expression),
      readGlobal: (index) => this.#globals.read(index),
      writeGlobal: (index, value) => this.#globals.write(index, value),
      emitter: () => this.#emit,
      invoke: (index, args, row) => this.#call(index, args, row),
    };
    this.#expression = createExpressions(this.#host);
    this.#globals.load();
    for (const load of plan.loads) this.#globals.write(load.global, this.expression(load.value)(loadScope()));
  }

  expression(plan: PlanExpression): Evaluate {
    const evaluate = this.#expression(plan);
    if (isShallow(plan)) return evaluate;
    return (scope) => {
      try {
        return evaluate(scope);
      } catch (thrown) {
        throw evaluationFailure(thrown);
      }
    };
  }

  invoke(index: number, args: readonly Value[], row: Row, emit?: EmitFunction): Value {
    const outer = this.#emit;
    this.#emit = emit ?? null;
    try {
      return this.#call(index, args, row);
    } catch (thrown) {
      throw evaluationFailure(thrown);
    } finally {
      this.#emit = outer;
    }
  }

  beginEvent(): void {
    this.#budget.beginEvent();
  }

  saveGlobals(): ReadonlyMap<string, Value> {
    return this.#globals.save();
  }

  loadGlobals(saved: ReadonlyMap<string, Value>): void {
    this.#globals.restore(saved);
  }

  #call(index: number, args: readonly Value[], row: Row): Value {
    const plan = this.#plan.functions[index] as FunctionPlan;
    const locals: Value[] = new Array(plan.locals).fill(null);
    plan.parameters.forEach((_, position) => {
      locals[position] = args[position] ?? null;
    });
    const activation = new Activation(this.#budget);
    this.#budget.enter(plan.name);
    try {
      this.#body(index, plan)({ row, bound: [], aggregates: [], locals }, activation);
    } finally {
      this.#budget.leave();
    }
    return activation.returned;
  }

  /** Made when first called: functions may call each other. */
  #body(index: number, plan: FunctionPlan): Run {
    let body = this.#bodies.get(index);
    if (body === undefined) {
      body = prepareStatements(plan.body, this.#host);
      this.#bodies.set(index, body);
    }
    return body;
  }
}

/** Cannot run into a limit of the runtime, so it needs no guard. */
function isShallow(plan: PlanExpression): boolean {
  return plan.kind === 'constant' || plan.kind === 'field' || plan.kind === 'attribute';
}

/** Where the program's globals are evaluated: no event is there yet, and `now()` is 0. */
export function loadScope(): Scope {
  return scopeOf({ type: '', time: 0, order: 0, fields: new Map(), bound: null, attributes: null, causes: [] });
}
