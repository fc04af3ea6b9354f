import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';

/**
 * The evaluation failure that something thrown is about: an `EvaluationError`, or the runtime's own limit of stack or
 * memory (`RangeError`), which a program can run into as well.
 * @throws whatever was thrown, when it is a defect of ours.
 */
export function evaluationFailure(thrown: unknown): EvaluationError {
  if (thrown instanceof EvaluationError) return thrown;
  if (thrown instanceof RangeError) return new EvaluationError(limitText(thrown));
  throw thrown;
}

/** The runtime's own words are about its insides; these are about the program. */
function limitText({ message }: RangeError): string {
  return /call stack/.test(message)
    ? 'too deep to evaluate: calls, or parts of an expression, stand too deep in one another'
    : 'too large to evaluate: a text, an array or a number is beyond what can be held';
}
