import type { TextTest } from './text-test.ts';

type Letters = TextTest['letters'];

/** The texts of a row in the letters in which rules ask for them, each made when it is first read. */
export class RowTexts {
  readonly #columns: readonly string[];
  /** Where the columns begin among the values of a row. */
  readonly #from: number;
  #values: readonly unknown[] = [];
  /** The row that is read, and by form the row of which a text was last made. */
  #row = 0;
  readonly #madeOf: number[] = [];
  readonly #texts: string[] = [];
  readonly #forms = new Map<string, number>();

  constructor(columns: readonly string[], from: number) {
    this.#columns = columns;
    this.#from = from;
  }

  /** What is read from now on. */
  begin(values: readonly unknown[]): void {
    this.#values = values;
    this.#row++;
  }

  /** What reads a column, of which the row must have a text. */
  reader(column: string, letters: Letters): () => string {
    const at = this.#from + this.#columns.indexOf(column);
    if (letters === 'same') return () => this.#values[at] as string;
    const form = this.#formOf(`${letters} ${at}`);
    return () => {
      if (this.#madeOf[form] !== this.#row) {
        this.#madeOf[form] = this.#row;
        const text = this.#values[at] as string;
        this.#texts[form] = letters === 'lower' ? text.toLowerCase() : text.toUpperCase();
      }
      return this.#texts[form] as string;
    };
  }

  #formOf(key: string): number {
    const known = this.#forms.get(key);
    if (known !== undefined) return known;
    const form = this.#madeOf.push(0) - 1;
    this.#forms.set(key, form);
    return form;
  }
}
