import type { Span } from '../ast/nodes.ts';

/** An error that ends the reading of the line; caught in `parse.ts` only. */
export class LineError extends Error {
  readonly span: Span;
  readonly hint: string | undefined;

  constructor(span: Span, message: string, hint?: string) {
    super(message);
    this.span = span;
    this.hint = hint;
  }
}

export interface Problems {
  /** An error after which reading goes on. Said twice of one place, it counts once. */
  report(span: Span, message: string, hint?: string): void;
}

/** What the grammar's actions say about the line they read. */
export interface Notes extends Problems {
  /** An error that ends the reading of this line. */
  fail(span: Span, message: string, hint?: string): never;
}
