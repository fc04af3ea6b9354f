import type { Span } from '../ast/nodes.ts';

/** A program file as the user wrote it. Lines and columns are 1-based and count code points. */
export class SourceText {
  readonly name: string;
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }

  /** 1-based line and column (in code points) of a UTF-16 offset. */
  position(offset: number): Position {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: codePoints(this.text, starts[low] as number, offset) + 1 };
  }

  /** The text of a 1-based line, without its line end. */
  line(line: number): string {
    const starts = this.#starts();
    const start = starts[line - 1];
    if (start === undefined) return '';
    const next = starts[line] ?? this.text.length + 1;
    return this.text.slice(start, next - 1).replace(/\r$/, '');
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

function codePoints(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < to) at++;
    count++;
  }
  return count;
}
