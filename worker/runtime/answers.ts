import type { Value } from '../../shared/events/value.ts';
import type { Answer, Answered, EngineHost, LookupRequest, Result, ScoreRequest } from '../engine/engine.ts';

export interface AnswersOptions {
  /** Looks one key up; gives a map of fields (or one value). Rejects when there is none. The signal ends it when time is up. */
  readonly lookup?: (request: LookupRequest, signal: AbortSignal) => Promise<Value>;
  /** Runs a model over a batch; gives one array of outputs per row. */
  readonly score?: (request: ScoreRequest) => Promise<Value>;
  /** Takes each answer as it comes, for example `(answer) => engine.answer(answer)`. Never called from within a question. */
  readonly deliver: (answer: Answer) => void;
  /** Any clock that only moves on, ms. @default performance.now */
  readonly now?: () => number;
}

/**
 * Answers what an engine asks: turns its questions into promises and these into answers, each exactly once, failures and
 * time-outs included.
 */
export class Answers {
  readonly #options: AnswersOptions;
  readonly #now: () => number;
  readonly #open = new Set<Promise<void>>();

  constructor(options: AnswersOptions) {
    this.#options = options;
    this.#now = options.now ?? ((): number => performance.now());
  }

  /** What an `EngineHost` needs; only the kinds of questions that can be answered. */
  get host(): Pick<EngineHost, 'lookup' | 'score'> {
    const { lookup, score } = this.#options;
    return {
      ...(lookup && { lookup: (request: LookupRequest) => this.#lookup(request, lookup) }),
      ...(score && { score: (request: ScoreRequest) => this.#take(request.id, score(request)) }),
    };
  }

  /** Questions under way. */
  get open(): number {
    return this.#open.size;
  }

  /** Resolves when nothing is under way, what answers have led to included. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #lookup(request: LookupRequest, lookup: NonNullable<AnswersOptions['lookup']>): Answered | undefined {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const isLate = new Promise<Result>((resolve) => {
      timer = setTimeout(() => {
        resolve({ status: 'timeout' });
        controller.abort();
      }, request.timeoutMs);
    });
    const found = asResult(lookup(request, controller.signal));
    return this.#takeResult(
      request.id,
      Promise.race([found, isLate]).finally(() => clearTimeout(timer)),
    );
  }

  #take(id: number, value: Promise<Value>): undefined {
    return this.#takeResult(id, asResult(value));
  }

  #takeResult(id: number, result: Promise<Result>): undefined {
    const started = this.#now();
    const open = result.then((known) => {
      this.#open.delete(open);
      this.#options.deliver({ id, result: known, latencyMs: Math.round(this.#now() - started) });
    });
    this.#open.add(open);
  }
}

async function asResult(value: Promise<Value>): Promise<Result> {
  try {
    return { status: 'ok', value: await value };
  } catch (error) {
    return { status: 'error', message: error instanceof Error ? error.message : String(error) };
  }
}
