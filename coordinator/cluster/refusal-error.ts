import { CepError } from '../../shared/errors/error.ts';
import type { Refusal } from '../state/commands/outcome.ts';

/** What whoever sent a command is told when the state refuses it. */
export function refusalError({ code, message, hint }: Refusal): CepError {
  const retry = code === 'overloaded' ? { retryAfterSeconds: 60 } : {};
  return new CepError(code, message, { ...retry, ...(hint === undefined ? {} : { hint }) });
}
