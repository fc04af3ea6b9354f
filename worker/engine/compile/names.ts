/** What minted names begin with; by the letter a reader of generated text sees what it is. `k` and `l` are taken. */
type MintedLetter = 'a' | 'b' | 'c' | 'e' | 'f' | 'g' | 'h' | 'o' | 'p' | 'r' | 's' | 't' | 'v' | 'x' | 'y';

/**
 * What may appear in generated text, all of it: names minted here (a letter and a number), entries of the constants table,
 * numbers, and the fixed words of `vocabulary.ts`. No text of the user ever does: names and strings are constants.
 */
export class Names {
  readonly #constants: unknown[] = [];
  readonly #known = new Map<unknown, number>();
  #count = 0;

  /** The table that `K` is in generated code. */
  get constants(): readonly unknown[] {
    return this.#constants;
  }

  /** A fresh name: `s4`. */
  mint(letter: MintedLetter): string {
    return `${letter}${this.#count++}`;
  }

  /** An entry of the constants table; the same primitive or object always has the same entry. */
  constant(value: unknown): string {
    return `K[${this.position(value)}]`;
  }

  /** Where that entry stands. */
  position(value: unknown): number {
    let at = this.#known.get(value);
    if (at === undefined) {
      at = this.#constants.push(value) - 1;
      this.#known.set(value, at);
    }
    return at;
  }
}

/** A local slot of the language's frames. */
export function localName(slot: number): string {
  return `l${slot}`;
}
