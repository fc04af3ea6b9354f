import type { Value } from '../../../shared/events/value.ts';
import type { Plan, PlanExpression, StreamPlan } from '../../../shared/language/plan/plan.ts';
import { compiledBackend } from '../compile/compiled-backend.ts';
import type { ExpressionBackend } from '../evaluate/backend.ts';
import type { Evaluate } from '../operators/row.ts';
import type { ConditionReader } from './condition.ts';
import type { ExpressionNames } from './expression-text.ts';

/** Evaluates parts of a program's expressions for explanations: aside from the program, which none of it changes. */
export class ConditionReaders {
  readonly #plan: Plan;
  readonly #globals: () => ReadonlyMap<string, Value>;
  readonly #evaluators = new WeakMap<PlanExpression, Evaluate>();
  #backend: ExpressionBackend | null = null;

  /** `globals`: the program's variables as they are now. */
  constructor(plan: Plan, globals: () => ReadonlyMap<string, Value>) {
    this.#plan = plan;
    this.#globals = globals;
  }

  /** For the expressions of one stream. `local`: what the local is called that they read outside of lambdas. */
  of(stream: StreamPlan, local = ''): ConditionReader {
    return { names: { ...this.#namesIn(stream), local }, evaluator: (expression) => this.#evaluator(expression) };
  }

  #evaluator(expression: PlanExpression): Evaluate {
    this.#backend ??= compiledBackend(this.#plan);
    const backend = this.#backend;
    let evaluate = this.#evaluators.get(expression);
    if (evaluate === undefined) {
      evaluate = backend.expression(expression);
      this.#evaluators.set(expression, evaluate);
    }
    const ready = evaluate;
    return (scope) => {
      backend.beginEvent();
      if (this.#plan.globals.length > 0) backend.loadGlobals(this.#globals());
      return ready(scope);
    };
  }

  #namesIn({ source }: StreamPlan): Omit<ExpressionNames, 'local'> {
    return {
      function: (index) => this.#plan.functions[index]?.name ?? '',
      global: (index) => this.#plan.globals[index]?.name ?? '',
      slot: (slot) => {
        if (source.kind === 'join') return source.sides[slot]?.name ?? '';
        if (source.kind !== 'pattern') return '';
        const step = source.pattern.steps[slot];
        return step?.alias ?? step?.input.name ?? '';
      },
    };
  }
}
