/** The entry of the parser: a program's text to its syntax tree. */
import { utf8Length } from '../../events/reading/utf8.ts';
import { limits } from '../../limits.ts';
import type { Expression, Program } from '../ast/nodes.ts';
import type { Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import { type Layout, readLayout } from './layout.ts';
import { LineReader } from './line-reader.ts';
import { StatementReader } from './statements.ts';

export interface ParseResult {
  /** Every statement that could be read; those with errors are left out. */
  readonly program: Program;
  /** Errors (E000) in order of their position; empty when the program is the whole text. */
  readonly diagnostics: Diagnostic[];
}

/** Reads a program. Never throws; takes time linear in the text; after an error it goes on with the next line of the block. */
export function parse(source: SourceText): ParseResult {
  const layout = readLayout(source.text);
  const reader = readerOf(source, layout);
  const statements = new StatementReader(reader).declarations(layout.lines, null);
  const span = { start: 0, end: source.text.length };
  return { program: { kind: 'Program', span, statements, comments: layout.comments }, diagnostics: inOrder(reader.errors) };
}

/** What is wrong with a text that no program is as long as (E095); null = nothing. */
export function longText(source: SourceText): Diagnostic | null {
  // No character takes more than three bytes for each of its places in the text.
  if (source.text.length * 3 <= limits.programBytesMax) return null;
  const bytes = utf8Length(source.text);
  if (bytes <= limits.programBytesMax) return null;
  const message = `the file has ${bytes} bytes; a program has at most ${limits.programBytesMax}`;
  const hint = 'divide it: `import` reads other files';
  return { severity: 'error', code: 'E095', source, span: { start: 0, end: 0 }, message, hint };
}

/** Reads a text that is one expression. Null when it is none; the diagnostics say why. */
export function parseExpression(source: SourceText): { expression: Expression | null; diagnostics: Diagnostic[] } {
  const layout = readLayout(source.text);
  const reader = readerOf(source, layout);
  const isBroken = layout.problems.length > 0;
  const expression = isBroken ? undefined : reader.read('LoneExpression', { start: 0, end: source.text.length }, null);
  return { expression: reader.errors.length > 0 ? null : (expression ?? null), diagnostics: inOrder(reader.errors) };
}

function readerOf(source: SourceText, layout: Layout): LineReader {
  const reader = new LineReader(source, layout.text);
  for (const { start, end, message, hint } of layout.problems) reader.report({ start, end }, message, hint);
  return reader;
}

function inOrder(errors: readonly Diagnostic[]): Diagnostic[] {
  return [...errors].sort((a, b) => a.span.start - b.span.start);
}
