/** An evaluation failure: what `.on_error` is about. Anything else that is thrown while a program runs is a defect of ours. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}
