import { InvariantError } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { FieldExpression, FunctionPlan, Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import type { BackendFactory } from '../evaluate/backend.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import { ProgramBackend } from '../evaluate/program-backend.ts';
import { fieldOf } from '../evaluate/row-reading.ts';
import { Activation } from '../evaluate/step-budget.ts';
import type { Evaluate, Row, Scope } from '../operators/row.ts';
import { library, type ProgramLibrary } from './library.ts';
import { loadGenerated } from './load.ts';
import { type GeneratedModule, printAlone, printModule } from './print-module.ts';
import { verifyGenerated } from './verify.ts';
import { parameters, programNames } from './vocabulary.ts';

/** What a loaded module gives: functions take their scope, then their arguments. */
type LoadedModule = readonly [readonly Evaluate[], readonly ((scope: Scope, ...args: Value[]) => Value)[]];

interface CompiledModule {
  readonly expressions: ReadonlyMap<PlanExpression, Evaluate>;
  readonly functions: LoadedModule[1];
}

/** Runs the expressions and functions of a program as generated JavaScript: one module, printed from the plan, verified, loaded. */
export const compiledBackend: BackendFactory = (plan) => new CompiledBackend(plan);

/** Of a program with more streams few may run any expression here: each is printed and loaded when it first runs. */
const STREAMS_TOGETHER_MAX = 64;

class CompiledBackend extends ProgramBackend {
  /** Printed and loaded when the first expression or function runs: a fused program may never need it. */
  #loaded: CompiledModule | null = null;

  /** Evaluates the program's globals. @throws EvaluationError when one of them fails. */
  constructor(plan: Plan) {
    super(plan);
    this.load();
  }

  override expression(plan: PlanExpression): Evaluate {
    if (isOwnField(plan)) return ({ row }) => fieldOf(row, plan.name);
    if (this.#loaded !== null) return this.#compiled(plan);
    let evaluate: Evaluate | null = null;
    return (scope) => {
      evaluate ??= this.#compiled(plan);
      return evaluate(scope);
    };
  }

  protected override run(index: number, _plan: FunctionPlan, args: readonly Value[], row: Row): Value {
    return (this.#module().functions[index] as LoadedModule[1][number])({ row, bound: [], aggregates: [], locals: [] }, ...args);
  }

  #compiled(plan: PlanExpression): Evaluate {
    if (this.#loaded === null && this.plan.streams.length > STREAMS_TOGETHER_MAX) return this.#alone(plan);
    return this.#module().expressions.get(plan) ?? this.#alone(plan);
  }

  #module(): CompiledModule {
    if (this.#loaded !== null) return this.#loaded;
    const module = printModule(this.plan);
    const [expressions, functions] = this.#load(module);
    this.#loaded = { expressions: new Map(module.expressions.map((one, at) => [one, expressions[at] as Evaluate])), functions };
    return this.#loaded;
  }

  /** A part of one of the program's expressions: explanations ask for these, one by one. */
  #alone(plan: PlanExpression): Evaluate {
    const [[evaluate]] = this.#load(printAlone(plan));
    if (evaluate === undefined) throw new InvariantError(`the module lacks its expression (${plan.kind})`);
    return evaluate;
  }

  #load({ text, constants }: GeneratedModule): LoadedModule {
    verifyGenerated(text);
    const program = this.#programLibrary();
    const given = [constants, ...programNames.map((name) => program[name]), ...Object.values(library)];
    return loadGenerated(text, parameters, 'program')(...given) as LoadedModule;
  }

  #programLibrary(): ProgramLibrary {
    const { budget, globals } = this;
    return {
      readGlobal: (index) => globals.read(index),
      writeGlobal: (index, value) => globals.write(index, value),
      invoke: (index, args, row) => this.call(index, args, row),
      lambda:
        (arity, body) =>
        (...args) => {
          budget.step();
          return body(...Array.from({ length: arity }, (_, i) => args[i] ?? null));
        },
      activation: () => new Activation(budget),
      emit: (type, fields) => this.emit(type, fields),
      failure: evaluationFailure,
    };
  }
}

/** A field of the row itself, as keys are: reading it needs no module, which a fused program may do without. */
function isOwnField(plan: PlanExpression): plan is FieldExpression {
  return plan.kind === 'field' && plan.of.kind === 'current';
}
