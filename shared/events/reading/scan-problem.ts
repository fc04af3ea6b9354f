/** Thrown and caught inside a reader: the text at this UTF-16 offset cannot be read. */
export class UnreadableText extends Error {
  override readonly name = 'UnreadableText';
  readonly at: number;
  readonly hint: string | undefined;

  constructor(at: number, message: string, hint?: string) {
    super(message);
    this.at = at;
    this.hint = hint;
  }
}

/** One step from a map or an array to a value inside it. */
export type PathSegment = string | number;

/** A value that can be read and that no event may hold. */
export interface ValueProblem {
  readonly path: readonly PathSegment[];
  readonly message: string;
  /** It is a whole number that a double cannot hold to the last digit, as nanoseconds are: no problem where it is a time. */
  readonly isInexact?: boolean;
}

/** The path as messages show it: `items[2].price`. */
export function printPath(path: readonly PathSegment[]): string {
  return path.map((segment, index) => (typeof segment === 'number' ? `[${segment}]` : index === 0 ? segment : `.${segment}`)).join('');
}
