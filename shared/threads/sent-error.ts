import { type ErrorCode, errorCodes } from '../errors/codes.ts';
import { CepError, InvariantError } from '../errors/error.ts';

/** An error on its way between threads or processes. */
export interface SentError {
  readonly code: string;
  readonly message: string;
  /** Of a defect. */
  readonly stack?: string;
  readonly hint?: string;
  readonly details?: unknown;
}

export function sentError(error: unknown): SentError {
  if (error instanceof CepError) {
    const { code, message, hint, details } = error;
    return { code, message, ...(hint === undefined ? {} : { hint }), ...(details === undefined ? {} : { details }) };
  }
  if (!(error instanceof Error)) return { code: 'internal_error', message: String(error) };
  return { code: 'internal_error', message: error.message, ...(error.stack === undefined ? {} : { stack: error.stack }) };
}

/** A defect arrives as a defect: it is logged, and not shown to the client. */
export function receivedError({ code, message, stack, hint, details }: SentError): Error {
  if (!Object.hasOwn(errorCodes, code) || code === 'internal_error') {
    return Object.assign(new InvariantError(message), stack === undefined ? {} : { stack });
  }
  return new CepError(code as ErrorCode, message, { ...(hint === undefined ? {} : { hint }), details });
}
