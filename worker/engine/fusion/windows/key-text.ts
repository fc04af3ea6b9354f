import { InvariantError } from '../../../../shared/errors/error.ts';
import { Duration, Timestamp, type Value } from '../../../../shared/events/value.ts';

/** The values of a key, from the canonical text that `keyOf` makes of them; `parts` is how many there are. */
export function valuesOfKey(text: string, parts: number): Value[] {
  if (parts === 0) return [];
  if (parts === 1 && text.startsWith('s')) return [text.slice(1)];
  const reader = new KeyReader(text, parts === 1 ? 0 : text.indexOf('(') + 1);
  return Array.from({ length: parts }, () => reader.value());
}

class KeyReader {
  readonly #text: string;
  #at: number;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  value(): Value {
    const kind = this.#text[this.#at++];
    switch (kind) {
      case 's':
        return this.#named();
      case 'n':
        return Number(this.#until(';'));
      case 't':
        return new Timestamp(Number(this.#until(';')));
      case 'd':
        return new Duration(Number(this.#until(';')));
      case 'a':
        return Array.from({ length: Number(this.#until(':')) }, () => this.value());
      case 'm':
        return new Map(Array.from({ length: Number(this.#until(':')) }, () => [this.#named(), this.value()] as const));
      case 'T':
      case 'F':
        return kind === 'T';
      case 'N':
        return null;
      default:
        throw new InvariantError(`${JSON.stringify(this.#text)} is the text of no key`);
    }
  }

  #until(end: string): string {
    const from = this.#at;
    const to = this.#text.indexOf(end, from);
    this.#at = to + 1;
    return this.#text.slice(from, to);
  }

  /** A text behind its length. */
  #named(): string {
    const length = Number(this.#until(':'));
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }
}
