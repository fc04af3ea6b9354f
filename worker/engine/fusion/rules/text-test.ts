/** What a column is asked for. */
export interface TextTest {
  readonly column: string;
  /** The letters in which it is asked: as they are, or all in one case. */
  readonly letters: 'same' | 'lower' | 'upper';
  readonly how: 'contains' | 'starts' | 'ends' | 'equals';
  /** Not empty. */
  readonly text: string;
}

/** What a condition needs of texts. */
export interface TextNeeds {
  /** One of them holds where the condition is true. */
  readonly tests: readonly TextTest[];
  /** Columns that are read before one holds. Where each of them is null or a text of common length, nothing fails. */
  readonly reads: ReadonlySet<string>;
  /** How many texts are made of them before one holds. */
  readonly makes: number;
}
