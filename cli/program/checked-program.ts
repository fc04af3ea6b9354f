import { type CheckResult, check } from '../../shared/language/checker/check.ts';
import type { CheckOptions } from '../../shared/language/checker/options.ts';
import type { Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { ProgramFiles } from './program-files.ts';

/** A program read from files and checked. */
export interface CheckedProgram extends CheckResult {
  /** The program's file and the files it imports, each once. */
  readonly sources: readonly SourceText[];
  /** Other names by which they were imported. */
  readonly otherNames: ReadonlyMap<string, SourceText>;
  /** Patterns of imports, relative to the current directory. */
  readonly patterns: readonly string[];
  /** Of the diagnostics those about bytes that are no text. */
  readonly problems: readonly Diagnostic[];
}

/** Checks the program of a file, or that of several files together; imports are read relative to the file they stand in. @throws CepError when the file cannot be read */
export function checkProgram(paths: string | readonly string[], options: CheckOptions = {}): CheckedProgram {
  const files = new ProgramFiles();
  return checkWith(files, files.main(...[paths].flat()), options);
}

/** Checks a program that was typed or sent; imports are read relative to the file that its name says. */
export function checkSource(source: SourceText, options: CheckOptions = {}): CheckedProgram {
  return checkWith(new ProgramFiles(), source, options);
}

function checkWith(files: ProgramFiles, main: SourceText, options: CheckOptions): CheckedProgram {
  const result = check(main, { ...options, resolveImport: files.resolveImport });
  const { problems, sources, otherNames, patterns } = files;
  const read = { sources, otherNames, patterns, problems };
  if (problems.length === 0) return { ...result, ...read };
  return { ...result, plan: null, diagnostics: [...problems, ...result.diagnostics], ...read };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}
