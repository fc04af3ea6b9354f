import { CepError } from '../../../shared/errors/error.ts';
import { fileReason, isFileError } from '../../../shared/files/file-reason.ts';
import type { RuntimeReport } from '../service.ts';

/** What to do about damage; the page is in the repository. */
const page = 'docs/operations/damaged-storage.md';

/** Something of the state directory is not as it was, and the server goes on without it. */
export function reportDamage(report: (report: RuntimeReport) => void, message: string, fields: RuntimeReport['fields']): void {
  report({ level: 'error', message, fields: { ...fields, runbook: page } });
}

/** What to do where a file of the state directory cannot be used. */
export const damageHint = `${page} says what to do`;

/** What a file system has refused of the state directory, in words; anything else as it is. */
export function unusable(stateDir: string, error: unknown): unknown {
  if (!isFileError(error)) return error;
  const where = error.path === undefined ? '' : `'${error.path}': `;
  return new CepError('io_error', `the state directory '${stateDir}' cannot be used: ${where}${fileReason(error)}`, {
    hint: damageHint,
    cause: error,
  });
}

/** Something is missing that the server does not go on without. */
export function damaged(stateDir: string, missing: readonly string[], cause?: unknown): CepError {
  const shown = missing.slice(0, 20).join('; ');
  const more = missing.length > 20 ? `; and ${missing.length - 20} more` : '';
  return new CepError('io_error', `the state directory '${stateDir}' is damaged: ${shown}${more}`, {
    hint: `${page} says what to do; what is whole was left as it is`,
    cause,
  });
}

/** Of a pipeline that does not run because of it. */
export function lostState(reason: string): string {
  return `its saved state is lost: ${reason}; start it to go on with what is left, or see ${page}`;
}
