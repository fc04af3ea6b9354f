import type { OperatorCall, Span, StreamDeclaration } from '../ast/nodes.ts';
import type { Code } from '../diagnostics/codes.ts';
import type { Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import type { Origin } from '../plan/plan.ts';
import type { ResourceName } from './budget.ts';
import type { Repetitions } from './holes.ts';
import type { CheckOptions } from './options.ts';
import type { EmittedShape, FunctionSymbol, Module, Symbols, SymbolTable } from './symbols.ts';

/**
 * What every pass of the checker works with. The parts:
 *
 * - `context.ts`: reporting, and which file's names are visible.
 * - `symbols.ts`: what the merged program declares.
 * - `scope.ts`: `RowShape` (the fields of a row), `NameScope` (what a bare name or a qualifier means at one place), and the
 *   constructors of scopes for rows, matches, joins, steps, aggregates and locals.
 * - `lower.ts`: `lowerExpression` and its relatives, from the syntax tree to the typed plan.
 * - `conditions.ts`: `lowerStepCondition`, the `where` of a pattern step.
 * - `constants.ts`: `requireConstant`, `constantDurationMs` and their like.
 * - `type-expressions.ts`: `resolveType` for a type as written.
 *
 * A context is immutable but for what all its views share (diagnostics, used marks), so it can be handed on freely.
 */
export interface CheckContext {
  /** The file whose nodes are being checked; its names are the visible ones. */
  readonly module: Module;
  /** The text of `module`. */
  readonly source: SourceText;
  /** What is visible in `module`. */
  readonly symbols: Symbols;
  /** Everything the merged program declares, whichever file it stands in, in order of declaration. */
  readonly table: SymbolTable;
  readonly options: CheckOptions;

  /** Adds a diagnostic about `span` of `source`; its severity is that of the code. One code at one span is reported once. */
  report(code: Code, span: Span, message: string, hint?: string): void;
  /** As `report`, but once per program for each `key`; a hint that is costly is given as a function. */
  reportOnce(key: string, code: Code, span: Span, message: string, hint?: string | (() => string)): void;
  /** The same check, looking at nodes of another file: `context.in(stream.module)`. */
  in(module: Module): CheckContext;
  /** Counts what the program uses up. @throws ProgramTooLarge when that is too much, which is E095 at `span` */
  spend(resource: ResourceName, amount: number, span: Span): void;
  left(resource: ResourceName): number;
  /** Counts what a stream uses up; false, and nothing is counted, where that is too much. */
  spendOnStream(parts: number, fields: number): boolean;
  /** Whether anything was found that is no mere warning. */
  hasErrors(): boolean;
  /** Statements with the holes of a compile-time loop filled, and what each was made of. */
  readonly repetitions: Repetitions;
  /** The operators of a stream as they are written, where a loop fills in what stands in them: their own names are the same. */
  writtenOperators(node: StreamDeclaration): readonly OperatorCall[];
  /** A view that reports nothing, for trying out. */
  quietly(): CheckContext;
  origin(span: Span): Origin;
  /**
   * Identity of what a piece of the plan means: equal for equal meaning, whatever the indexes of functions, globals and
   * streams are. Leaves out `origin`, `text`, `fingerprint` and types. Functions count with their bodies.
   */
  fingerprint(value: unknown): string;
  /** Remembers a call of a function of the program from an expression, so that functions that emit are called by `.process` alone. */
  noteInvocation(callee: FunctionSymbol, span: Span, caller: EmittedShape[] | undefined): void;
  /** The written text of a node, on one line, for `OperatorPlan.text` and messages. */
  text(span: Span): string;
  /** Everything reported so far, in order of reporting. */
  readonly diagnostics: readonly Diagnostic[];
}
