/** Predicates of the grammar: what stands ahead, decided by one regular expression over a bounded piece of the text. */
import { blanksEnd, wordEnd } from './characters.ts';
import type { Notes } from './notes.ts';

/** Expressions and types inside one another. */
export const nestingMax = 256;

const reserved: ReadonlySet<string> = new Set(['true', 'false', 'null', 'and', 'or', 'not', 'if', 'then', 'else']);
const reservedLengthMax = 5;

/** The only words that can never be names. */
export function isReserved(word: string): boolean {
  return word.length <= reservedLengthMax && reserved.has(word);
}

const word = '[A-Za-z_][A-Za-z0-9_]*';
const name = `(?:${word}(?:\\{${word}\\}[A-Za-z0-9_]*)*|\`[^\`\\n]+\`)`;
const blank = '[ \\t\\r\\n]*';
const string = `(?:"(?:[^"\\\\\\n]|\\\\[^\\n])*"|'[^'\\n]*')`;
/** A word that goes on with a step instead of naming a type. */
const stepWord = '(?:where|as|within|partition|AND|OR)(?![A-Za-z0-9_])';

export const patterns = {
  /** `all` before a type: otherwise it is a type of that name. */
  all: new RegExp(`all[ \\t\\r\\n]+(?!${stepWord})[A-Za-z_\`]`, 'y'),
  /** `NOT` before a type, `(` or `OR(`: otherwise it is a type of that name. */
  not: new RegExp(`NOT(?:[ \\t\\r\\n]+(?:(?!${stepWord})[A-Za-z_\`]|OR[ \\t\\r]*\\()|[ \\t\\r]*\\()`, 'y'),
  /** `emit as T (`: an operator, no part of a dotted name. */
  emitAs: new RegExp(`emit[ \\t\\r\\n]+as[ \\t\\r\\n]+${name}(?:\\.${name})*[ \\t\\r]*\\(`, 'y'),
  binding: /(?:let|var|const)[ \t]+[A-Za-z_`]/y,
  assignment: new RegExp(`${name}${blank}:=`, 'y'),
} as const;

/** `name:` of a named argument. */
const named = new RegExp(`${name}${blank}:(?!=)`, 'y');
/** `x =>`, `(a, b) =>`. */
const lambda = new RegExp(`(?:${name}|\\(${blank}(?:${name}${blank}(?:,${blank}${name}${blank})*,?${blank})?\\))${blank}=>`, 'y');
const map = new RegExp(`\\{${blank}(?:\\}|(?:${name}|${string})${blank}:(?!=))`, 'y');
const hole = new RegExp(`\\{${blank}(${word})${blank}\\}`, 'y');

export function ahead(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** `name:` of a named argument. */
export function isNamedAhead(text: string, at: number): boolean {
  const end = wordEnd(text, at);
  if (end === at ? text[at] !== '`' : text[end] !== '{' && text[blanksEnd(text, end)] !== ':') return false;
  return ahead(named, text, at);
}

/** `x =>`, `(a, b) =>`. */
export function isLambdaAhead(text: string, at: number): boolean {
  const end = wordEnd(text, at);
  if (end === at ? text[at] !== '(' && text[at] !== '`' : text[end] !== '{' && text[blanksEnd(text, end)] !== '=') return false;
  return ahead(lambda, text, at);
}

/** The loop variables of the compile-time `for` bodies around a line, or null outside of them. */
export type Holes = ReadonlySet<string> | null;

/** `{i}` where i is a loop variable. */
export function isLoopVariableAhead(text: string, at: number, holes: Holes): boolean {
  if (holes === null) return false;
  const found = holeName(text, at);
  return found !== undefined && holes.has(found);
}

/** As `isLoopVariableAhead`, but any other `{name}` ends the line with an error: it is no map. */
export function isHoleAhead(text: string, at: number, context: { holes: Holes; base: number; notes: Notes }): boolean {
  const found = holeName(text, at);
  if (found === undefined) return false;
  if (context.holes?.has(found)) return true;
  const where = context.holes === null ? 'outside the body of a `for`' : `: \`${found}\` is no loop variable here`;
  const separator = context.holes === null ? ' ' : '';
  return context.notes.fail(
    { start: context.base + at, end: context.base + hole.lastIndex },
    `\`{${found}}\` means nothing${separator}${where}`,
    `a map is written \`{${found}: value}\``,
  );
}

function holeName(text: string, at: number): string | undefined {
  hole.lastIndex = at;
  return hole.exec(text)?.[1];
}

/** `{ let y = 1; y + x }`: a brace that begins neither a map nor a hole. */
export function isBlockAhead(text: string, at: number, holes: Holes): boolean {
  return text[at] === '{' && !ahead(map, text, at) && !isLoopVariableAhead(text, at, holes);
}

/** Whether `->` stands in the argument that begins here, outside further brackets. `lastArrow` saves the search. */
export function hasArrow(text: string, from: number, lastArrow: number): boolean {
  if (from > lastArrow) return false;
  let depth = 0;
  for (let at = from; at <= lastArrow; at++) {
    const char = text[at] as string;
    if (char === '"' || char === "'" || char === '`') at = stringEnd(text, at);
    else if (char === '(' || char === '[' || char === '{') depth++;
    else if (char === ')' || char === ']' || char === '}') {
      if (--depth < 0) return false;
    } else if (depth > 0) continue;
    else if (char === ',') return false;
    else if (char === '-' && text[at + 1] === '>') return true;
  }
  return false;
}

/** The offset of the closing quote of the string, f-string or name in backticks whose opening quote stands here. */
function stringEnd(text: string, start: number): number {
  const quote = text[start];
  if (quote === '"' && isTemplateQuote(text, start)) return templateEnd(text, start);
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote === '"') at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

function isTemplateQuote(text: string, quote: number): boolean {
  return text[quote - 1] === 'f' && !/\w/.test(text[quote - 2] ?? '');
}

function templateEnd(text: string, start: number): number {
  const inside: ('text' | 'code')[] = ['text'];
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] as string;
    if (inside.at(-1) === 'text') {
      if (char === '\\') at += text.startsWith('u{', at + 1) ? 2 : 1;
      else if (char === '{' && text[at + 1] === '{') at++;
      else if (char === '{') inside.push('code');
      else if (char === '"' && inside.length === 1) return at;
      else if (char === '"') inside.pop();
    } else if (char === '"' && isTemplateQuote(text, at)) inside.push('text');
    else if (char === '"' || char === "'" || char === '`') at = stringEnd(text, at);
    else if (char === '{') inside.push('code');
    else if (char === '}') inside.pop();
  }
  return text.length;
}
