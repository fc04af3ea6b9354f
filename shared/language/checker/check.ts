import type { TestDeclaration } from '../ast/nodes.ts';
import type { Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import type { Plan } from '../plan/plan.ts';
import type { CheckOptions } from './options.ts';
import type { Module, SymbolTable } from './symbols.ts';

export interface CheckResult {
  /** By file, then by position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null when there is any error. */
  readonly plan: Plan | null;
  /** Statements of the main file as written, before expansion. */
  readonly statements: number;
  /** What the merged program declares after expansion and imports. */
  readonly program: SymbolTable;
  /** `test` blocks of the main file. */
  readonly tests: readonly { readonly node: TestDeclaration; readonly module: Module }[];
}

/** Checks a program and makes its plan. Total: no text makes it throw. */
export function check(_source: SourceText, _options: CheckOptions = {}): CheckResult {
  throw new Error('not built');
}
