import type { Fields } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { Plan, PlanExpression } from '../../../shared/language/plan/plan.ts';
import type { Evaluate, Row } from '../operators/row.ts';

/** Takes what a function called by `.process` emits, in order. */
export type EmitFunction = (type: string, fields: Fields) => void;

/**
 * What runs the expressions and functions of a program: generated code, and in tests the plain evaluator
 * (`test/reference`), which gives the same value, or fails where that fails, for every expression. Steps count so:
 *
 * - one step per pass of a loop, at most `functionLoopStepsPerCallMax` in one activation (a lambda's block is one);
 * - one step per pass of a loop, per call of a program function and per call of a lambda, at most
 *   `functionLoopStepsPerEventMax` between two `beginEvent`;
 * - arrays, maps and texts made within one call of an expression, or of `invoke`, at most `evaluationWordsMax`;
 * - calls of program functions within calls at most `functionRecursionDepthMax` deep.
 */
export interface ExpressionBackend {
  /** Ready to run any number of times. Evaluation throws `EvaluationError` on a failure, and nothing else because of input. */
  expression(plan: PlanExpression): Evaluate;
  /**
   * Calls function `index` of the program. `row` is what `now()`, `timestamp` and `event_type` read. Without `emit` an
   * `emit` statement is a failure. Throws `EvaluationError`.
   */
  invoke(index: number, args: readonly Value[], row: Row, emit?: EmitFunction): Value;
  /** A new external event, tick or end of input: the steps that all activations share start again. */
  beginEvent(): void;
  /** The program's `var`s by name, for checkpoints. */
  saveGlobals(): ReadonlyMap<string, Value>;
  /** Takes back those that the program still has. */
  loadGlobals(saved: ReadonlyMap<string, Value>): void;
}

/**
 * Makes the backend of a program and evaluates its globals: every `let` and `var`, then the top-level assignments.
 * @throws EvaluationError when one of them fails.
 */
export type BackendFactory = (plan: Plan) => ExpressionBackend;
