import { CepError } from '../../shared/errors/error.ts';
import type { Diagnostic } from '../../shared/language/diagnostics/diagnostic.ts';
import { diagnosticToJson } from '../../shared/language/diagnostics/render.ts';

/** What a session that must go on says of a program with errors; `diagnostics` are all of them, for whoever shows them. */
export class ProgramError extends CepError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const isSyntax = errors.some(({ code }) => code === 'E000');
    const [first] = errors;
    super(
      isSyntax ? 'parse_error' : 'validation_error',
      first === undefined ? 'the program is wrong' : messageOf(first, errors.length - 1),
      {
        ...(first?.hint === undefined ? {} : { hint: first.hint }),
        details: diagnostics.map(diagnosticToJson),
      },
    );
    this.diagnostics = diagnostics;
  }
}

function messageOf({ source, span, message }: Diagnostic, others: number): string {
  const { line, column } = source.position(span.start);
  return `line ${line}, column ${column}: ${message}${others > 0 ? ` (and ${others} more)` : ''}`;
}
