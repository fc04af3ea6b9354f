import { CepError } from '../../../shared/errors/error.ts';
import { type Call, type Route, routeMaker } from '../../../shared/http/route.ts';
import type { Access, Change, ProgramDiagnostic, ReloadReport } from '../../runtime/service.ts';
import { diagnosticWire, reloadWire } from '../wire.ts';

/** Declares a route of the server. */
export const apiRoute = routeMaker<Access>();
export type ApiRoute = Route<Access>;

export const pipelinePath = '/api/v1/pipelines/{id}';

/** Names the details of a refused program, or of a refused reload, as the interface does. */
export async function withWireDetails<T>(action: Promise<T>): Promise<T> {
  try {
    return await action;
  } catch (error) {
    throw error instanceof CepError ? wireError(error) : error;
  }
}

/** The same error with its details as the interface names them. */
function wireError(error: CepError): CepError {
  const { code, message, details, hint, retryAfterSeconds } = error;
  const wire = detailsWire(details);
  if (wire === details) return error;
  return new CepError(code, message, {
    details: wire,
    cause: error,
    ...(hint === undefined ? {} : { hint }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function detailsWire(details: unknown): unknown {
  if (Array.isArray(details) && details.every(isDiagnostic)) return details.map(diagnosticWire);
  return isReloadReport(details) ? reloadWire({ ...details, warnings: details.warnings ?? [] }) : details;
}

function isDiagnostic(value: unknown): value is ProgramDiagnostic {
  return typeof value === 'object' && value !== null && 'severity' in value && 'endLine' in value;
}

/** What a reload would do: a report, which has no warnings when it is the reason of a refusal. */
function isReloadReport(value: unknown): value is Omit<ReloadReport, 'warnings'> & Partial<Pick<ReloadReport, 'warnings'>> {
  return typeof value === 'object' && value !== null && 'reloaded' in value && 'preserved' in value;
}

/** For what a change is asked: until its client hangs up, and for what that has seen. */
export function changeOf({ headers, signal }: Pick<Call<unknown>, 'headers' | 'signal'>): Required<Change> {
  return { signal, versions: versionsOf(headers['if-match']) };
}

/** The versions that `If-Match` names (RFC 9110, 13.1.1); undefined when any will do. What names none of ours matches none. */
function versionsOf(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return Array.from(header.matchAll(/(?<!W\/)"(\d{1,15})"/g), ([, version]) => Number(version));
}
