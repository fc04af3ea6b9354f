import type { Span } from '../ast/nodes.ts';

/** A program file as the user wrote it. Lines and columns are 1-based and count code points. */
export class SourceText {
  readonly name: string;
  readonly text: string;
  #lineStarts: number[] | undefined;
  #pairs: number[] | undefined;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }

  /** 1-based line and column (in code points) of a UTF-16 offset. */
  position(offset: number): Position {
    const starts = this.#starts();
    const line = Math.max(1, countBelow(starts, offset + 1));
    const start = starts[line - 1] as number;
    const pairs = this.#pairsBefore(offset) - this.#pairsBefore(start);
    return { line, column: Math.max(0, offset - start - pairs) + 1 };
  }

  /** The UTF-16 offset of a position: at most the end of its line, or of the text when there is no such line. */
  offset({ line, column }: Position): number {
    const starts = this.#starts();
    const start = starts[line - 1];
    if (start === undefined) return this.text.length;
    const pairsBefore = this.#pairsBefore(start);
    let low = start;
    let high = Math.min((starts[line] ?? this.text.length + 1) - 1, start + 2 * (column - 1));
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (middle - start - (this.#pairsBefore(middle) - pairsBefore) <= column - 1) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** What stands before and behind an offset in its line, without the line end, each cut to so many UTF-16 units. */
  around(offset: number, unitsMax: number): Surroundings {
    const starts = this.#starts();
    const line = Math.max(1, countBelow(starts, offset + 1));
    const start = starts[line - 1] as number;
    const next = (starts[line] ?? this.text.length + 1) - 1;
    const end = Math.max(start, this.text[next - 1] === '\r' ? next - 1 : next);
    const at = Math.min(Math.max(start, offset), end);
    const from = this.#wholeCharacter(Math.max(start, at - unitsMax));
    const to = this.#wholeCharacter(Math.min(end, at + unitsMax));
    return { before: this.text.slice(from, at), behind: this.text.slice(at, to), isBeginCut: from > start, isEndCut: to < end };
  }

  /** The offset, or the one after it where it would divide a character of two units. */
  #wholeCharacter(offset: number): number {
    return (this.text.codePointAt(offset - 1) ?? 0) > 0xffff ? offset + 1 : offset;
  }

  /** Characters of two units that lie before an offset, so that a long line is not counted through for each of its positions. */
  #pairsBefore(offset: number): number {
    this.#pairs ??= Array.from(this.text.matchAll(/[\ud800-\udbff][\s\S]/g), ({ index }) => index);
    return countBelow(this.#pairs, offset - 1);
  }

  #starts(): number[] {
    if (this.#lineStarts) return this.#lineStarts;
    // A byte order mark is no part of the first line.
    const starts = [this.text.charCodeAt(0) === 0xfeff ? 1 : 0];
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }
}

/** A part of a line, around a place in it. */
export interface Surroundings {
  readonly before: string;
  readonly behind: string;
  readonly isBeginCut: boolean;
  readonly isEndCut: boolean;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

export type Severity = 'error' | 'warning';

/** A problem of a program. `code` is one of the table in `codes.ts`. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly source: SourceText;
  readonly span: Span;
}

/** How many of ascending numbers lie below a bound. */
function countBelow(ascending: readonly number[], bound: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
