import { InvariantError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { FunctionPlan, Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import type { BackendFactory, EmitFunction, ExpressionBackend } from '../evaluate/backend.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import { Globals } from '../evaluate/globals.ts';
import { loadScope } from '../evaluate/reference-backend.ts';
import { Activation, StepBudget } from '../evaluate/step-budget.ts';
import type { Evaluate, Row, Scope } from '../operators/row.ts';
import { library, type ProgramLibrary } from './library.ts';
import { loadGenerated } from './load.ts';
import { printModule } from './print-module.ts';
import { verifyGenerated } from './verify.ts';
import { parameters, programNames } from './vocabulary.ts';

/** What a loaded module gives: functions take their scope, then their arguments. */
type LoadedModule = readonly [readonly Evaluate[], readonly ((scope: Scope, ...args: Value[]) => Value)[]];

/** Runs the expressions and functions of a program as generated JavaScript: one module, printed from the plan, verified, loaded. */
export const compiledBackend: BackendFactory = (plan) => new CompiledBackend(plan);

class CompiledBackend implements ExpressionBackend {
  readonly #plan: Plan;
  readonly #budget = new StepBudget();
  readonly #globals: Globals;
  readonly #expressions = new Map<PlanExpression, Evaluate>();
  readonly #functions: LoadedModule[1];
  #emit: EmitFunction | null = null;

  /** Evaluates the program's globals. @throws EvaluationError when one of them fails. */
  constructor(plan: Plan) {
    this.#plan = plan;
    this.#globals = new Globals(plan.globals, (global) => this.expression(global.value)(loadScope()));
    const module = printModule(plan);
    verifyGenerated(module.text);
    const program = this.#programLibrary();
    const given = [module.constants, ...programNames.map((name) => program[name]), ...Object.values(library)];
    const [expressions, functions] = loadGenerated(module.text, parameters, 'program')(...given) as LoadedModule;
    for (const [i, expression] of module.expressions.entries()) this.#expressions.set(expression, expressions[i] as Evaluate);
    this.#functions = functions;
    this.#globals.load();
    for (const load of plan.loads) this.#globals.write(load.global, this.expression(load.value)(loadScope()));
  }

  expression(plan: PlanExpression): Evaluate {
    const evaluate = this.#expressions.get(plan);
    if (evaluate === undefined) throw new InvariantError(`the module has no such expression (${plan.kind})`);
    return evaluate;
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
    this.#budget.enter(plan.name);
    try {
      return (this.#functions[index] as LoadedModule[1][number])({ row, bound: [], aggregates: [], locals: [] }, ...args);
    } finally {
      this.#budget.leave();
    }
  }

  #programLibrary(): ProgramLibrary {
    const budget = this.#budget;
    return {
      readGlobal: (index) => this.#globals.read(index),
      writeGlobal: (index, value) => this.#globals.write(index, value),
      invoke: (index, args, row) => this.#call(index, args, row),
      lambda:
        (arity, body) =>
        (...args) => {
          budget.step();
          return body(...Array.from({ length: arity }, (_, i) => args[i] ?? null));
        },
      activation: () => new Activation(budget),
      emit: (type, fields) => {
        if (this.#emit === null) throw new EvaluationError(`emit ${type}: only a function called by .process may emit`);
        this.#emit(type, fields);
      },
      failure: evaluationFailure,
    };
  }
}
