import type { Static } from 'typebox';
import type { CepError } from '../../shared/errors/error.ts';
import { type Diagnostic, type Severity, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { diagnosticSchema } from '../../shared/protocol/program.ts';
import type { ProgramToSend } from '../program/program-to-send.ts';

type WireDiagnostic = Static<typeof diagnosticSchema>;

/** The diagnostics because of which the server refuses a program; undefined when the error is of another kind. */
export function diagnosticsOf({ code, details }: CepError): readonly WireDiagnostic[] | undefined {
  const isOfProgram = code === 'parse_error' || code === 'validation_error';
  if (!isOfProgram || !Array.isArray(details) || details.length === 0) return undefined;
  return details.every(isDiagnostic) ? details : undefined;
}

function isDiagnostic(value: unknown): value is WireDiagnostic {
  return typeof value === 'object' && value !== null && 'severity' in value && 'line' in value && 'column' in value;
}

/** A diagnostic of the server over the text that was sent; one of a file that the server read itself has no text to show. */
export function shownDiagnostic(diagnostic: WireDiagnostic, { main, fileOf }: Pick<ProgramToSend, 'main' | 'fileOf'>): Diagnostic {
  const { severity, code, message, hint, file, line, column, end_line: endLine, end_column: endColumn } = diagnostic;
  const own = file === undefined ? main : fileOf(file);
  const source = own ?? new SourceText(file ?? '', `${'\n'.repeat(endLine - 1)}${' '.repeat(endColumn)}`);
  const start = offsetOf(source.text, line, column);
  const span = { start, end: Math.max(start, offsetOf(source.text, endLine, endColumn)) };
  return { severity: severity as Severity, code, message, ...(hint === undefined ? {} : { hint }), source, span };
}

/** The UTF-16 offset of a 1-based line and a 1-based column in code points. */
function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const newline = text.indexOf('\n', start);
    if (newline < 0) return text.length;
    start = newline + 1;
  }
  const lineText = text.slice(start).split('\n', 1)[0] ?? '';
  return start + [...lineText].slice(0, column - 1).join('').length;
}
