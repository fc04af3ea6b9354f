import { type CheckResult, check } from '../../shared/language/checker/check.ts';
import type { Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { ProgramFiles } from './program-files.ts';

/** A program read from files and checked. */
export interface CheckedProgram extends CheckResult {
  /** The program's file and the files it imports, each once. */
  readonly sources: readonly SourceText[];
}

/** Checks the program of a file; imports are read relative to the file they stand in. @throws CepError when the file cannot be read */
export function checkProgram(path: string): CheckedProgram {
  const files = new ProgramFiles();
  const result = check(files.main(path), { resolveImport: files.resolveImport });
  const { problems, sources } = files;
  if (problems.length === 0) return { ...result, sources };
  return { ...result, plan: null, diagnostics: [...problems, ...result.diagnostics], sources };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}
