import { CepError } from '../../../shared/errors/error.ts';
import type { Answer, Answered } from '../engine.ts';

interface Failed {
  readonly error: unknown;
}

interface Asking {
  readonly id: number;
  answered?: Answered;
}

/**
 * What an engine does for one call, with the callbacks that it runs meanwhile. None of them can break in: each call is done to its end,
 * for all streams, before the next begins and before what a callback has thrown goes on to the caller.
 */
export class Work {
  #isAtWork = false;
  /** What the first callback that failed has thrown. */
  #thrown: Failed | null = null;
  /** The question that is being asked, with its answer when that has come meanwhile. */
  #asking: Asking | null = null;

  /** @throws CepError from a callback, and what a callback has thrown */
  run<T>(work: () => T): T {
    if (this.#isAtWork)
      throw new CepError('validation_error', 'this program is at work: a callback may not call it', {
        hint: 'keep what is to come until the call that runs the callback has returned',
      });
    this.#isAtWork = true;
    let result: T;
    let thrown: Failed | null = null;
    try {
      result = work();
    } finally {
      thrown = this.#thrown;
      [this.#isAtWork, this.#thrown] = [false, null];
    }
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

  /** An answer that comes while its question is asked is as good as one that the callback returns. */
  answer({ id, ...answered }: Answer, work: () => boolean): boolean {
    const asking = this.#asking;
    if (asking?.id !== id) return this.run(work);
    if (asking.answered !== undefined) return false;
    asking.answered = answered;
    return true;
  }

  /** A question that cannot be asked has failed. */
  asking<Q extends { readonly id: number }>(callback: (question: Q) => Answered | undefined): (question: Q) => Answered | undefined {
    return (question) => {
      const asking: Asking = { id: question.id };
      this.#asking = asking;
      try {
        const returned = callback(question);
        return asking.answered ?? returned;
      } catch (error) {
        this.#thrown ??= { error };
        return { result: { status: 'error', message: error instanceof Error ? error.message : String(error) }, latencyMs: null };
      } finally {
        this.#asking = null;
      }
    };
  }
}
