import { beginMaking } from '../../shared/events/making.ts';
import type { Value } from '../../shared/events/value.ts';
import type { FunctionPlan, Plan, PlanExpression } from '../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../../worker/engine/evaluate/failure.ts';
import { makesValues } from '../../worker/engine/evaluate/making.ts';
import { ProgramBackend } from '../../worker/engine/evaluate/program-backend.ts';
import { Activation } from '../../worker/engine/evaluate/step-budget.ts';
import type { Evaluate, Row } from '../../worker/engine/operators/row.ts';
import { createExpressions, type ExpressionHost } from './expressions.ts';
import { prepareStatements, type Run } from './statements.ts';

/** The plain evaluator over the plan: the definition of what expressions and functions mean. */
export class ReferenceBackend extends ProgramBackend {
  readonly #expression: (plan: PlanExpression) => Evaluate;
  readonly #host: ExpressionHost;
  readonly #bodies = new Map<number, Run>();

  /** Evaluates the program's globals. @throws EvaluationError when one of them fails. */
  constructor(plan: Plan) {
    super(plan);
    this.#host = {
      budget: this.budget,
      expression: (expression) => this.#expression(expression),
      readGlobal: (index) => this.globals.read(index),
      writeGlobal: (index, value) => this.globals.write(index, value),
      emit: (type, fields) => this.emit(type, fields),
      invoke: (index, args, row) => this.call(index, args, row),
    };
    this.#expression = createExpressions(this.#host);
    this.load();
  }

  override expression(plan: PlanExpression): Evaluate {
    const evaluate = this.#expression(plan);
    if (isShallow(plan)) return evaluate;
    const makes = makesValues(plan);
    return (scope) => {
      if (makes) beginMaking();
      try {
        return evaluate(scope);
      } catch (thrown) {
        throw evaluationFailure(thrown);
      }
    };
  }

  protected override run(index: number, plan: FunctionPlan, args: readonly Value[], row: Row): Value {
    const locals: Value[] = new Array(plan.locals).fill(null);
    for (let position = 0; position < plan.parameters.length; position++) locals[position] = args[position] ?? null;
    const activation = new Activation(this.budget);
    this.#body(index, plan)({ row, bound: [], aggregates: [], locals }, activation);
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
