import { otlpBody } from './otlp-body.ts';
import type { Span } from './tracing.ts';

/** Spans that wait to be sent; what comes beyond them is dropped and counted. */
const WAITING_SPANS_MAX = 4_096;
const BATCH_SPANS = 512;
const SEND_EVERY_MS = 5_000;
const ANSWER_MS_MAX = 10_000;

export interface OtlpExporterOptions {
  /** Of the collector; `/v1/traces` is added. */
  readonly endpoint: string;
  readonly about: { readonly name: string; readonly version: string };
  /** What became of spans. */
  readonly count: (result: 'exported' | 'dropped' | 'failed', spans: number) => void;
  /** The collector did not take a batch that it should have, for the first time since it took one. */
  readonly onFailure: (reason: string) => void;
}

/**
 * Sends spans to a collector as OTLP over HTTP, in JSON. Nobody ever waits for it: spans wait in a bounded buffer, one batch is under way
 * at a time, and a batch that is not taken is gone, counted.
 */
export class OtlpExporter {
  readonly #options: OtlpExporterOptions;
  readonly #url: string;
  readonly #timer: NodeJS.Timeout;
  readonly #end = new AbortController();
  #waiting: Span[] = [];
  #sending: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    this.#url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`;
    this.#timer = setInterval(() => void this.#send(), SEND_EVERY_MS).unref();
  }

  take(span: Span): void {
    if (this.#waiting.length >= WAITING_SPANS_MAX) {
      this.#options.count('dropped', 1);
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length === BATCH_SPANS) void this.#send();
  }

  /** Sends what waits, for so long at most. */
  async close(deadlineMs: number): Promise<void> {
    clearInterval(this.#timer);
    const deadline = setTimeout(() => this.#end.abort(), deadlineMs);
    while (this.#waiting.length > 0 && !this.#end.signal.aborted) await this.#send();
    await this.#sending;
    clearTimeout(deadline);
    this.#options.count('dropped', this.#waiting.length);
    this.#waiting = [];
  }

  /** Resolves when the batch that is under way, or the next one, is through. */
  #send(): Promise<void> {
    if (this.#sending !== undefined || this.#waiting.length === 0) return this.#sending ?? Promise.resolve();
    this.#sending = this.#sendBatch(this.#waiting.splice(0, BATCH_SPANS)).finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= BATCH_SPANS && !this.#end.signal.aborted) void this.#send();
    });
    return this.#sending;
  }

  async #sendBatch(batch: readonly Span[]): Promise<void> {
    const { about, count, onFailure } = this.#options;
    const failure = await this.#post(otlpBody(batch, about));
    count(failure === undefined ? 'exported' : 'failed', batch.length);
    if (failure !== undefined && !this.#hasFailed) onFailure(failure);
    this.#hasFailed = failure !== undefined;
  }

  /** Undefined when it was taken, else why not. */
  async #post(body: string): Promise<string | undefined> {
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.any([this.#end.signal, AbortSignal.timeout(ANSWER_MS_MAX)]),
        redirect: 'error',
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : `the answer was ${answer.status}`;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      return cause instanceof Error ? cause.message : String(cause);
    }
  }
}
