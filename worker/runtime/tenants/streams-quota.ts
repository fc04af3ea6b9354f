import { CepError } from '../../../shared/errors/error.ts';
import type { ProgramDiagnostic, Quota } from '../service.ts';
import type { ProgramSummary } from '../threads/messages.ts';

const BEGINNING = { line: 1, column: 1, endLine: 1, endColumn: 1 } as const;

/** Why a quota does not let a program run. */
export function streamsOverQuota({ streams }: ProgramSummary, { maxStreamsPerPipeline: max }: Quota): CepError | undefined {
  if (streams.length <= max) return undefined;
  return new CepError('quota_exceeded', `the program has ${streams.length} streams, and the quota of the tenant is ${max}`);
}

/** The same to who only has a program looked at; nothing where it may run. */
export function overQuotaDiagnostics(summary: ProgramSummary, quota: Quota): readonly ProgramDiagnostic[] {
  const tooMany = streamsOverQuota(summary, quota);
  return tooMany === undefined ? [] : [{ severity: 'error', code: 'E095', ...BEGINNING, message: tooMany.message }];
}
