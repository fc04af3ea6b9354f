/** The language as a library: check and format the text of a program, without an engine. */
import { checkText, type TextOptions } from './check-text.ts';
import { SourceText } from './diagnostics/diagnostic.ts';
import { type DiagnosticJson, diagnosticToJson, renderDiagnostic } from './diagnostics/render.ts';
import { format as formatSource } from './format/format.ts';

export type { TextOptions } from './check-text.ts';
export type { DiagnosticJson } from './diagnostics/render.ts';

export interface CheckReport {
  readonly valid: boolean;
  /** Statements of the file. */
  readonly statements: number;
  readonly diagnostics: readonly DiagnosticJson[];
  /** The diagnostics for people: position, message, excerpt with a caret, hint. */
  readonly text: string;
}

/** Says of a program whether it is right, and everything that is wrong with it. Never throws because of the text. */
export function check(text: string, options?: TextOptions): CheckReport {
  const { plan, statements, diagnostics } = checkText(text, options);
  return {
    valid: plan !== null,
    statements,
    diagnostics: diagnostics.map(diagnosticToJson),
    text: diagnostics.map(renderDiagnostic).join('\n'),
  };
}

export interface FormatReport {
  /** In the one layout; as it was when it has errors. */
  readonly text: string;
  /** The errors that keep it from being laid out. */
  readonly diagnostics: readonly DiagnosticJson[];
}

/** Lays the text of a program out; what is laid out stays as it is. */
export function format(text: string): FormatReport {
  const { text: laidOut, diagnostics } = formatSource(new SourceText('program.vpl', text));
  return { text: laidOut, diagnostics: diagnostics.map(diagnosticToJson) };
}
