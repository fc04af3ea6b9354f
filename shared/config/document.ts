/** 1-based, in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A configuration file as its format gives it, before any name or value is checked. */
export type ConfigDocument = readonly DocumentSection[];

export interface DocumentSection {
  readonly name: string;
  readonly at: Position;
  /** Undefined when the section is no table. */
  readonly entries: readonly DocumentEntry[] | undefined;
}

export interface DocumentEntry {
  readonly name: string;
  /** Where the name begins. */
  readonly at: Position;
  readonly value: unknown;
  /** Where the value begins. */
  readonly valueAt: Position;
}

/** The text is not what its format allows. */
export class DocumentSyntaxError extends Error {
  readonly at: Position;

  constructor(message: string, at: Position) {
    super(message);
    this.at = at;
  }
}
