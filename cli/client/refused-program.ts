import type { Static } from 'typebox';
import type { CepError } from '../../shared/errors/error.ts';
import { type Diagnostic, type Position, type Severity, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { diagnosticSchema } from '../../shared/protocol/program.ts';
import type { ProgramToSend } from '../program/program-to-send.ts';

type WireDiagnostic = Static<typeof diagnosticSchema>;

/** The diagnostics because of which the server refuses a program; undefined when the error is of another kind. */
export function diagnosticsOf({ code, details }: CepError): readonly WireDiagnostic[] | undefined {
  const isOfProgram = code === 'parse_error' || code === 'validation_error';
  if (!isOfProgram || !Array.isArray(details) || details.length === 0) return undefined;
  return details.every(isDiagnostic) ? details : undefined;
}

interface RefusedPipeline {
  readonly name: string;
  readonly diagnostics: readonly WireDiagnostic[];
}

/** The same of a group, whose programs a coordinator looks at one by one. */
export function refusedPipelines({ code, details }: CepError): readonly RefusedPipeline[] | undefined {
  if (code !== 'validation_error' || typeof details !== 'object' || details === null || !('pipelines' in details)) return undefined;
  const { pipelines } = details;
  return Array.isArray(pipelines) && pipelines.every(isRefusedPipeline) ? pipelines : undefined;
}

function isRefusedPipeline(value: unknown): value is RefusedPipeline {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('diagnostics' in value)) return false;
  return typeof value.name === 'string' && Array.isArray(value.diagnostics) && value.diagnostics.every(isDiagnostic);
}

function isDiagnostic(value: unknown): value is WireDiagnostic {
  return typeof value === 'object' && value !== null && 'severity' in value && 'line' in value && 'column' in value;
}

/** A diagnostic of the server over the text that was sent; one of a file that the server read itself has no text to show. */
export function shownDiagnostic(diagnostic: WireDiagnostic, { main, fileOf }: Pick<ProgramToSend, 'main' | 'fileOf'>): Diagnostic {
  const { severity, code, message, hint, file, line, column, end_line: endLine, end_column: endColumn } = diagnostic;
  const start = { line, column };
  const end = { line: endLine, column: endColumn };
  const source = (file === undefined ? main : fileOf(file)) ?? new UnseenText(file ?? '', start, end);
  const from = source.offset(start);
  const span = { start: from, end: Math.max(from, source.offset(end)) };
  return { severity: severity as Severity, code, message, ...(hint === undefined ? {} : { hint }), source, span };
}

/** A text that is not here: only where a diagnostic begins and ends in it is known. */
class UnseenText extends SourceText {
  readonly #places: readonly [Position, Position];

  constructor(name: string, start: Position, end: Position) {
    super(name, '');
    this.#places = [start, end];
  }

  override offset({ line, column }: Position): number {
    const [start] = this.#places;
    return line === start.line && column === start.column ? 0 : 1;
  }

  override position(offset: number): Position {
    return this.#places[offset === 0 ? 0 : 1];
  }
}
