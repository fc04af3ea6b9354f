/** The formatter: a program's text in its one layout. */
import type { Program } from '../ast/nodes.ts';
import { type Diagnostic, SourceText } from '../diagnostics/diagnostic.ts';
import { longText, parse } from '../grammar/parse.ts';
import { attachComments } from './comments.ts';
import { print } from './print.ts';
import { firstSpellings } from './spellings.ts';

export interface FormatResult {
  /** The formatted text; the text as it was when it has errors. */
  readonly text: string;
  /** The errors of the text. */
  readonly diagnostics: Diagnostic[];
}

/**
 * One statement below the other, blocks indented by four blanks, one operator a line, lines of at most 100 columns where
 * the language allows a line end, first spellings only. Comments stay with what they stand at; of several empty lines one
 * stays. A formatted text stays as it is, and means the same as before. No comment is ever lost: a text in which one would be
 * stays as it is.
 */
export function format(source: SourceText): FormatResult {
  const tooLong = longText(source);
  if (tooLong) return { text: source.text, diagnostics: [tooLong] };
  const { program, diagnostics } = parse(source);
  if (diagnostics.length > 0) return { text: source.text, diagnostics };
  let text = layout(source.text, program);
  // A comment may stand elsewhere once its surroundings are laid out: again, until nothing moves.
  for (let pass = 0, before = source.text; pass < PASSES_MAX && text !== before; pass++) {
    before = text;
    text = layout(before, parse(new SourceText(source.name, before)).program);
  }
  return { text: keepsComments(program, text) ? text : source.text, diagnostics };
}

const PASSES_MAX = 4;

function layout(text: string, program: Program): string {
  const spelled = firstSpellings(tidyComments(program));
  const attached = attachComments(spelled, text);
  return print(spelled, { attached, hasBlankBefore: (node) => hasBlankBefore(text, node) });
}

/** A comment inside of something that the layout puts on one line may have no place left: then the text stays as it was. */
function keepsComments(program: Program, text: string): boolean {
  return parse(new SourceText('formatted', text)).program.comments.length === program.comments.length;
}

function tidyComments(program: Program): Program {
  const comments = program.comments.map((comment) => ({ ...comment, text: comment.text.replaceAll('\r', '').replace(/[ \t]+$/gm, '') }));
  return { ...program, comments };
}

/** Whether the line before the one that a node begins is empty. */
function hasBlankBefore(text: string, node: object): boolean {
  const start = 'span' in node ? (node.span as { start: number }).start : 0;
  let lineEnds = 0;
  for (let at = start - 1; at >= 0 && lineEnds < 2; at--) {
    const char = text[at];
    if (char === '\n') lineEnds++;
    else if (char !== ' ' && char !== '\t' && char !== '\r') break;
  }
  return lineEnds === 2;
}
