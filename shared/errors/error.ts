import { type ErrorCode, errorCodes } from './codes.ts';

export interface CepErrorOptions {
  /** What the user can do about it: one sentence, shown on a line of its own. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** More about it as JSON-safe data, such as the diagnostics of a program; part of an HTTP answer. */
  readonly details?: unknown;
  /** When trying again makes sense, in seconds. */
  readonly retryAfterSeconds?: number;
}

/**
 * A mistake that the user can correct: in a program, an event, a setting, a file name, or in the world outside.
 * The message says what was found and what was expected. It is complete: whoever catches it prints it as it is.
 */
export class CepError extends Error {
  override readonly name = 'CepError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: unknown;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: CepErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The exit code of a process that ends because of this error. */
  get exitCode(): number {
    return errorCodes[this.code].exitCode;
  }

  /** The HTTP status of an answer that says this error. */
  get status(): number {
    return errorCodes[this.code].status;
  }
}

/**
 * A defect of ours: something that the code itself guarantees turned out false. Never thrown because of input, never
 * handled: it ends the process, or the one task whose state can no longer be trusted.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws an `InvariantError` with the message unless the condition holds. */
export function invariant(condition: unknown, message: string | (() => string)): asserts condition {
  if (!condition) throw new InvariantError(typeof message === 'string' ? message : message());
}
