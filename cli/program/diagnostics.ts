import type { Writable } from 'node:stream';
import type { Diagnostic } from '../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../shared/language/diagnostics/render.ts';
import { type Colors, colorsFor } from '../colors.ts';
import { visibleLines } from '../event-text.ts';

/** A block for each diagnostic, in the colours of the stream it is for; empty when there is none. */
export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  stream: Writable,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const colors = colorsFor(stream, env);
  return diagnostics.map((diagnostic) => `${block(diagnostic, colors)}\n`).join('');
}

function block(diagnostic: Diagnostic, colors: Colors): string {
  const { severity, code } = diagnostic;
  const [head = '', ...rest] = visibleLines(renderDiagnostic(diagnostic)).split('\n');
  const label = `${severity} ${code}`;
  const color = severity === 'error' ? colors.red : colors.yellow;
  return [head.replace(label, color(label)), ...rest].join('\n');
}
