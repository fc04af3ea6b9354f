import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';

/**
 * The evaluation failure that something thrown is about: an `EvaluationError`, or the runtime's own limit of stack or
 * memory (`RangeError`), which a program can run into as well.
 * @throws whatever was thrown, when it is a defect of ours.
 */
export function evaluationFailure(thrown: unknown): EvaluationError {
  if (thrown instanceof EvaluationError) return thrown;
  if (thrown instanceof RangeError) return new EvaluationError(`too large or too deep to evaluate: ${thrown.message}`);
  throw thrown;
}
