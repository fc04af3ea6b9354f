/**
 * The first pass over a program: finds comments, strings, brackets and logical lines, and blanks the comments out.
 *
 * It hands the grammar single logical lines (a statement's head, a field, a step of a test) as a tree that follows the
 * indentation, so the grammar knows neither comments nor line ends, and one bad line costs only itself. The blanked
 * text has the length of the user's text: every offset means the same in both.
 *
 * The scanner walks the text once, character by character; it is long because every kind of token that can hide a
 * bracket, a quote or a line end must be known here.
 */
import type { Comment } from '../ast/nodes.ts';
import { operatorNames } from '../ast/operator-names.ts';
import { begins, forms, quotedEnd, wordEnd } from './characters.ts';

/** Brackets (and braces of f-strings) inside one another. */
export const bracketDepthMax = 200;
/** Blocks inside one another. */
export const blockDepthMax = 100;

export interface Problem {
  readonly start: number;
  readonly end: number;
  readonly message: string;
  readonly hint?: string;
}

/** A logical line: a statement's head with its continuation lines, or one line of a block. */
export interface Line {
  readonly start: number;
  end: number;
  /** Offset at which the indentation of the line starts. */
  readonly indentStart: number;
  readonly indentEnd: number;
  /** Offsets of `:`, `;` and of the `.` before an operator's name and `(`, outside all brackets. */
  readonly colons: number[];
  readonly semicolons: number[];
  readonly operatorDots: number[];
  /** The last token is a `:` outside brackets. */
  opensBlock: boolean;
  /** Something in it is no text of the language; it was reported, the grammar must not see it. */
  broken: boolean;
  /** Lines of its block. */
  readonly children: Line[];
  /** Lines that are indented more although this line opens no block. */
  readonly stray: Line[];
}

export interface Layout {
  /** The text with comments replaced by blanks, line ends kept. */
  readonly text: string;
  readonly lines: readonly Line[];
  readonly comments: readonly Comment[];
  readonly problems: readonly Problem[];
}

/** Never throws; takes time linear in the text. */
export function readLayout(text: string): Layout {
  const scanner = new Scanner(text, false);
  scanner.scan();
  if (!scanner.unclosed) return scanner.layout();
  const recovering = new Scanner(text, true);
  recovering.scan();
  return recovering.layout();
}

interface Bracket {
  /** `(`, `[`, `{`, or `f` for a brace in an f-string. */
  readonly open: string;
  readonly at: number;
  /** Start of the f-string for `f`. */
  readonly stringStart: number;
}

const closers: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
const openers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', f: '}' };
const timestamp = /@\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?/y;
const operatorAhead = /\.[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*\(/y;
const emitAsAhead = /\.[ \t]*emit[ \t]+as[ \t]+(?:[\w.{}]+|`[^`\n]+`)[ \t]*\(/y;
const continuationWord = /(?:and|or|where|as|within|in|is|AND|OR|partition[ \t]+by|not[ \t]+in)(?![A-Za-z0-9_])(?![ \t]*:)/y;
const continuationSign = /\.|->|[-+*/%<>^|&]|==|!=|\?\?|\?\./y;
const declarationAhead = /(?:event|type|const|let|var|fn|connector|context|config|pattern|stream|for|test|import)[ \t]+["A-Za-z_]/y;
const strange =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

class Scanner {
  unclosed = false;
  readonly #text: string;
  readonly #recover: boolean;
  readonly #pieces: string[] = [];
  readonly #lines: Line[] = [];
  readonly #comments: Comment[] = [];
  readonly #problems: Problem[] = [];
  readonly #brackets: Bracket[] = [];
  readonly #strange: number[] = [];
  #at = 0;
  #copied = 0;
  #line: Line | undefined;
  /** A line end was passed since the last token. */
  #freshLine = true;
  #indentStart = 0;
  #indentEnd = -1;
  /** Brackets open beyond the depth allowed; they are counted, not kept. */
  #excess = 0;
  /** How many of the open brackets are braces of f-strings. */
  #holes = 0;

  constructor(text: string, recover: boolean) {
    this.#text = text;
    this.#recover = recover;
  }

  layout(): Layout {
    this.#breakStrangeLines();
    return {
      text: this.#blanked(),
      lines: nest(this.#lines, this.#text, this.#problems),
      comments: this.#comments,
      problems: this.#problems,
    };
  }

  scan(): void {
    if (this.#text.charCodeAt(0) === 0xfeff) {
      this.#blank(0, 1);
      this.#indentStart = 1;
      this.#at = 1;
    }
    this.#findStrangeCharacters();
    while (this.#skipBlanks()) {
      if (this.#freshLine) this.#beginPhysicalLine();
      this.#freshLine = false;
      this.#token();
    }
    this.#closeBrackets(this.#text.length);
  }

  // ---------------------------------------------------------------- blanks and comments

  /** Moves to the next token; false at the end of the text. */
  #skipBlanks(): boolean {
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === 0x0a) this.#newline();
      else if (code === 0x20 || code === 0x09 || code === 0x0d || code === 0xfeff) continue;
      else if (!this.#comment(code)) return true;
    }
    return false;
  }

  #newline(): void {
    if (this.#holes > 0) this.#unterminatedTemplate(this.#at);
    this.#freshLine = true;
    this.#indentStart = this.#at + 1;
    this.#indentEnd = -1;
  }

  /** Skips a comment and stays on its last character; false when none begins here. */
  #comment(code: number): boolean {
    if (code !== 0x23 && code !== 0x2f) return false;
    const text = this.#text;
    const start = this.#at;
    const second = text.charCodeAt(start + 1);
    let end: number;
    if (code === 0x23 || (second === 0x2f && this.#afterBlank())) end = lineEnd(text, start);
    else if (code === 0x2f && second === 0x2a) end = this.#blockCommentEnd(start);
    else return false;
    const ownLine = this.#freshLine;
    if (ownLine && this.#indentEnd < this.#indentStart) this.#indentEnd = start;
    this.#comments.push({ kind: 'Comment', span: { start, end }, text: text.slice(start, end), ownLine });
    this.#blank(start, end);
    if (text.slice(start, end).includes('\n')) this.#freshLine = true;
    this.#at = end - 1;
    return true;
  }

  #afterBlank(): boolean {
    return this.#at === 0 || this.#copied === this.#at || /\s/.test(this.#text[this.#at - 1] as string);
  }

  #blockCommentEnd(start: number): number {
    const close = this.#text.indexOf('*/', start + 2);
    if (close >= 0) return close + 2;
    this.#problem(start, start + 2, 'this comment is never closed', 'close it with `*/`');
    return this.#text.length;
  }

  #blank(start: number, end: number): void {
    this.#pieces.push(this.#text.slice(this.#copied, start), this.#text.slice(start, end).replace(/[^\n]/g, ' '));
    this.#copied = end;
  }

  #blanked(): string {
    this.#pieces.push(this.#text.slice(this.#copied));
    return this.#pieces.join('');
  }

  // ---------------------------------------------------------------- lines

  #beginPhysicalLine(): void {
    if (this.#indentEnd < this.#indentStart) this.#indentEnd = this.#at;
    if (this.#brackets.length > 0) {
      if (!this.#recover || this.#indentEnd !== this.#indentStart || !matches(declarationAhead, this.#text, this.#at)) return;
      this.#closeBrackets(this.#at);
    } else if (this.#line && !this.#line.opensBlock && this.#continues()) return;
    this.#startLine(this.#indentStart, this.#indentEnd);
  }

  #continues(): boolean {
    return matches(continuationSign, this.#text, this.#at) || matches(continuationWord, this.#text, this.#at);
  }

  #startLine(indentStart: number, indentEnd: number): void {
    this.#line = {
      start: this.#at,
      end: this.#at,
      indentStart,
      indentEnd,
      colons: [],
      semicolons: [],
      operatorDots: [],
      opensBlock: false,
      broken: false,
      children: [],
      stray: [],
    };
    this.#lines.push(this.#line);
  }

  // ---------------------------------------------------------------- tokens

  #token(): void {
    const text = this.#text;
    const start = this.#at;
    const line = this.#line as Line;
    const char = text[start] as string;
    line.opensBlock = false;
    if (char === '"' || char === "'") this.#string(start, char);
    else if (char === '`') this.#backticks(start);
    else if (begins(forms.word, text, start)) this.#word();
    else if (char in closers) this.#close(char);
    else if (char in openers) this.#open(char, start, start);
    else if (char === '@' && matches(timestamp, text, start)) this.#at = timestamp.lastIndex;
    else this.#sign(char, line);
    line.end = Math.min(this.#at, text.length);
  }

  #word(): void {
    const start = this.#at;
    this.#at = wordEnd(this.#text, start);
    if (this.#at !== start + 1 || this.#text[start] !== 'f' || this.#text[this.#at] !== '"') return;
    this.#at++;
    this.#templateText(start);
  }

  #sign(char: string, line: Line): void {
    const start = this.#at++;
    if (this.#brackets.length > 0) return;
    if (char === ':') {
      if (this.#text[this.#at] === '=') this.#at++;
      else {
        line.colons.push(start);
        line.opensBlock = true;
      }
    } else if (char === ';') line.semicolons.push(start);
    else if (char === '.' && this.#text[start - 1] !== '.' && this.#isOperatorAhead(start)) line.operatorDots.push(start);
  }

  #isOperatorAhead(at: number): boolean {
    operatorAhead.lastIndex = at;
    const found = operatorAhead.exec(this.#text);
    if (found) return operatorNames.has(found[1] as string);
    return matches(emitAsAhead, this.#text, at);
  }

  /** A string, which ends on its line; a doubled `'` is a quote, a backslash escapes in `"` only. */
  #string(start: number, quote: '"' | "'"): void {
    const text = this.#text;
    const end = quotedEnd(text, start + 1, quote);
    if (text[end] === quote) this.#at = end + 1;
    // A backslash that escapes nothing is the last character of its line.
    else this.#unterminatedString(start, Math.min(text[end] === '\\' ? end + 1 : end, text.length), quote);
  }

  /** A name in backticks, which ends on its line. */
  #backticks(start: number): void {
    const text = this.#text;
    for (let at = start + 1; ; at++) {
      const char = text[at];
      if (char === '`') {
        this.#at = at + 1;
        return;
      }
      if (char === undefined || char === '\n') {
        this.#unterminatedString(start, at, '`');
        return;
      }
    }
  }

  #unterminatedString(start: number, end: number, quote: string): void {
    this.#at = end;
    if (this.#holes > 0) {
      this.#unterminatedTemplate(end);
      return;
    }
    const what = quote === '`' ? 'this name in backticks' : 'this string';
    this.#break(start, start + 1, `${what} has no closing ${quote === '`' ? 'backtick' : `\`${quote}\``}`, stringHint(quote));
  }

  /** Ends the outermost f-string that is open. */
  #unterminatedTemplate(end: number): void {
    this.#at = end;
    const outermost = this.#brackets.findIndex((bracket) => bracket.open === 'f');
    const [bracket] = this.#brackets.splice(outermost);
    this.#holes = 0;
    this.#excess = 0;
    const start = (bracket as Bracket).stringStart;
    this.#break(start, start + 2, 'this f-string has no closing `"`', 'an f-string and its `{..}` end on the line they begin on');
  }

  /** The text of an f-string up to its end or to the next `{`. */
  #templateText(stringStart: number): void {
    const text = this.#text;
    for (let at = this.#at; ; at++) {
      const char = text[at];
      if (char === '"') {
        this.#at = at + 1;
        return;
      }
      if (char === '\\' && text[at + 1] !== '\n') at += text.startsWith('u{', at + 1) ? 2 : 1;
      else if (char === '{' && text[at + 1] === '{') at++;
      else if (char === '{') {
        this.#open('f', at, stringStart);
        return;
      } else if (char === undefined || char === '\n') {
        this.#at = Math.min(at, text.length);
        this.#break(stringStart, stringStart + 2, 'this f-string has no closing `"`', stringHint('"'));
        return;
      }
    }
  }

  // ---------------------------------------------------------------- brackets

  #open(open: string, at: number, stringStart: number): void {
    this.#at = at + 1;
    if (this.#brackets.length < bracketDepthMax) {
      this.#brackets.push({ open, at, stringStart });
      if (open === 'f') this.#holes++;
      return;
    }
    this.#excess++;
    this.#break(at, at + 1, `brackets are nested more than ${bracketDepthMax} deep`, 'name parts of the expression with `let`');
  }

  #close(char: string): void {
    const start = this.#at++;
    if (this.#excess > 0) {
      this.#excess--;
      return;
    }
    const top = this.#brackets.at(-1);
    if (top && openers[top.open] === char) this.#closeTop();
    else this.#closeMismatched(char, start);
  }

  #closeTop(): void {
    const top = this.#brackets.pop() as Bracket;
    if (top.open !== 'f') return;
    this.#holes--;
    this.#templateText(top.stringStart);
  }

  #closeMismatched(char: string, start: number): void {
    const top = this.#brackets.at(-1);
    const opener = this.#brackets.findLastIndex((bracket) => bracket.open === closers[char] || bracket.open === 'f');
    if (opener >= 0 && this.#brackets[opener]?.open !== 'f') {
      for (const bracket of this.#brackets.splice(opener).slice(1)) this.#neverClosed(bracket);
      return;
    }
    const hint = top ? `\`${shown(top)}\` was opened before it: close that with \`${openers[top.open]}\` first` : undefined;
    this.#break(start, start + 1, `this \`${char}\` closes nothing`, hint);
  }

  #closeBrackets(end: number): void {
    if (this.#brackets.length === 0) return;
    this.unclosed = true;
    this.#neverClosed(this.#brackets.at(-1) as Bracket);
    this.#brackets.length = 0;
    this.#holes = 0;
    this.#excess = 0;
    this.#at = end;
  }

  #neverClosed(bracket: Bracket): void {
    this.#break(bracket.at, bracket.at + 1, `this \`${shown(bracket)}\` is never closed`, `close it with \`${openers[bracket.open]}\``);
  }

  // ---------------------------------------------------------------- problems

  #problem(start: number, end: number, message: string, hint?: string): void {
    this.#problems.push(hint === undefined ? { start, end, message } : { start, end, message, hint });
  }

  /** Reports the first problem of a line and keeps the line from the grammar. */
  #break(start: number, end: number, message: string, hint?: string): void {
    if (this.#line?.broken) return;
    this.#problem(start, end, message, hint);
    if (this.#line) this.#line.broken = true;
  }

  /** Characters that are no text, wherever they stand; one report for each line. */
  #findStrangeCharacters(): void {
    let reportedUpTo = -1;
    for (const found of this.#text.matchAll(strange)) {
      if (found.index < reportedUpTo) continue;
      reportedUpTo = lineEnd(this.#text, found.index);
      const code = found[0].charCodeAt(0);
      const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
      const what = code >= 0xd800 ? `half of a surrogate pair (${name})` : `a control character (${name})`;
      this.#problem(found.index, found.index + 1, `${what} is no text`, 'in a string write it as `\\u{..}`');
      this.#strange.push(found.index);
    }
  }

  #breakStrangeLines(): void {
    let index = 0;
    for (const at of this.#strange) {
      while (index < this.#lines.length && (this.#lines[index] as Line).end <= at) index++;
      const line = this.#lines[index];
      if (line && line.start <= at) line.broken = true;
    }
  }
}

function shown(bracket: Bracket): string {
  return bracket.open === 'f' ? '{' : bracket.open;
}

function stringHint(quote: string): string {
  if (quote === '`') return 'a name in backticks ends on the line it begins on';
  return quote === '"' ? 'a string ends on the line it begins on; write `\\n` for a line end' : 'a string ends on the line it begins on';
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

// ------------------------------------------------------------------------------------------------ blocks

interface OpenBlock {
  readonly width: number;
  readonly lines: Line[];
}

/** Turns the list of lines into a tree by their indentation. */
function nest(lines: readonly Line[], text: string, problems: Problem[]): readonly Line[] {
  const root: Line[] = [];
  const first = lines[0];
  const blocks: OpenBlock[] = [{ width: first ? first.indentEnd - first.indentStart : 0, lines: root }];
  let previous: Line | undefined;
  let style: string | undefined;
  for (const line of lines) {
    const width = line.indentEnd - line.indentStart;
    if (width === blocks[0]?.width) style = undefined;
    style = checkStyle(line, text, style, problems);
    placeLine({ line, width, previous, blocks, problems });
    if (!isStray(line, blocks)) previous = line;
  }
  return root;
}

function isStray(line: Line, blocks: readonly OpenBlock[]): boolean {
  return blocks.at(-1)?.lines.at(-1) !== line;
}

interface Placing {
  readonly line: Line;
  readonly width: number;
  readonly previous: Line | undefined;
  readonly blocks: OpenBlock[];
  readonly problems: Problem[];
}

function placeLine({ line, width, previous, blocks, problems }: Placing): void {
  const current = blocks.at(-1) as OpenBlock;
  if (width > current.width && previous) {
    if (!previous.opensBlock) previous.stray.push(line);
    else openBlock({ line, width, previous, blocks, problems });
    return;
  }
  while (blocks.length > 1 && width < (blocks.at(-1) as OpenBlock).width) blocks.pop();
  const block = blocks.at(-1) as OpenBlock;
  if (width !== block.width && !line.broken) {
    line.broken = true;
    problems.push({
      start: line.indentStart,
      end: Math.max(line.indentEnd, line.start),
      message: 'this indentation matches no line above',
      hint: 'indent the lines of a block alike',
    });
  }
  block.lines.push(line);
}

function openBlock({ line, width, previous, blocks, problems }: Placing): void {
  if (blocks.length >= blockDepthMax) {
    // Lines that are deeper still belong to what is told already.
    if (!previous?.broken)
      problems.push({ start: line.start, end: line.end, message: `blocks are nested more than ${blockDepthMax} deep` });
    previous?.stray.push(line);
    if (previous) previous.broken = true;
    return;
  }
  previous?.children.push(line);
  blocks.push({ width, lines: previous?.children ?? [] });
}

/** Blanks and tabs must not mix, within a line nor within one top-level statement. */
function checkStyle(line: Line, text: string, style: string | undefined, problems: Problem[]): string | undefined {
  for (let at = line.indentStart; at < line.indentEnd; at++) {
    const char = text[at] as string;
    if (char !== ' ' && char !== '\t') continue;
    if (style !== undefined && char !== style) {
      problems.push({
        start: at,
        end: at + 1,
        message: `${char === '\t' ? 'a tab' : 'a blank'} in an indentation that began with ${style === '\t' ? 'tabs' : 'blanks'}`,
        hint: 'indent with blanks or with tabs, not with both',
      });
      line.broken = true;
      return style;
    }
    style = char;
  }
  return style;
}
