import { CepError } from '../../../shared/errors/error.ts';
import type { Answered } from '../engine.ts';

/**
 * What an engine does for one call, with the callbacks that it runs meanwhile. None of them can break in: each call is done to its end,
 * for all streams, before the next begins and before what a callback has thrown goes on to the caller.
 */
export class Work {
  #isAtWork = false;
  /** What the first callback that failed has thrown. */
  #thrown: { readonly error: unknown } | null = null;

  /** @throws CepError from a callback, and what a callback has thrown */
  run<T>(work: () => T): T {
    if (this.#isAtWork)
      throw new CepError('validation_error', 'this program is at work: a callback may not call it', {
        hint: 'keep what is to come until the call that runs the callback has returned',
      });
    this.#isAtWork = true;
    let result: T;
    try {
      result = work();
    } finally {
      this.#isAtWork = false;
    }
    const thrown = this.#thrown;
    this.#thrown = null;
    if (thrown !== null) throw thrown.error;
    return result;
  }

  telling<A>(callback: (argument: A) => void): (argument: A) => void {
    return (argument) => {
      try {
        callback(argument);
      } catch (error) {
        this.#thrown ??= { error };
      }
    };
  }

  /** A question that cannot be asked has failed. */
  asking<Q>(callback: (question: Q) => Answered | undefined): (question: Q) => Answered | undefined {
    return (question) => {
      try {
        return callback(question);
      } catch (error) {
        this.#thrown ??= { error };
        return { result: { status: 'error', message: error instanceof Error ? error.message : String(error) }, latencyMs: null };
      }
    };
  }
}
