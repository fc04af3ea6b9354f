import { CepError } from '../../../shared/errors/error.ts';
import { checkText, type TextOptions } from '../../../shared/language/check-text.ts';
import type { Diagnostic } from '../../../shared/language/diagnostics/diagnostic.ts';
import { type DiagnosticJson, diagnosticToJson, renderDiagnostic } from '../../../shared/language/diagnostics/render.ts';
import { StartedProgram, type StartOptions } from './started-program.ts';

/** A program that was checked: any number of engines may be started from it. */
export interface Program {
  /** What the checker would have the author look at; none of it keeps the program from running. */
  readonly warnings: readonly DiagnosticJson[];
  /** Names of its streams, in order of declaration. */
  readonly streams: readonly string[];
  /** An engine of its own, at the beginning of time. @throws CepError when a value of the program cannot be evaluated */
  start(options?: StartOptions): StartedProgram;
}

/** A program has errors. The message shows each with its line, a caret and a hint. */
export class ProgramError extends CepError {
  readonly diagnostics: readonly DiagnosticJson[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    super('validation_error', errors.map(renderDiagnostic).join('\n'));
    this.diagnostics = errors.map(diagnosticToJson);
  }
}

/** Checks the text of a program and makes it ready to run. @throws ProgramError when it has errors */
export function compile(text: string, options?: TextOptions): Program {
  const { plan, diagnostics } = checkText(text, options);
  if (plan === null) throw new ProgramError(diagnostics);
  return {
    warnings: diagnostics.map(diagnosticToJson),
    streams: plan.streams.map(({ name }) => name),
    start: (options = {}) => new StartedProgram(plan, options),
  };
}
