import type { Value, ValueMap } from '../value.ts';
import * as is from './characters.ts';
import { copyOf, EMPTY_HASH, hashWith } from './text-cache.ts';
import { TextScanner } from './text-scanner.ts';

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Reads values as JSON (RFC 8259) has them. Of equal keys the last wins; `__proto__` is a key like any other. */
export class JsonScanner extends TextScanner {
  protected value(depth: number): Value {
    const code = this.next();
    switch (code) {
      case is.QUOTE:
        return this.string();
      case is.BRACE_OPEN:
        if (this.isTooDeep(depth)) return null;
        this.at++;
        return this.members(depth + 1);
      case is.BRACKET_OPEN:
        if (this.isTooDeep(depth)) return null;
        this.at++;
        return this.items(depth + 1, false);
      default:
        return this.scalar();
    }
  }

  private scalar(): Value {
    const number = this.number();
    if (number !== undefined) return number;
    if (this.word('true')) return true;
    if (this.word('false')) return false;
    if (this.word('null')) return null;
    return this.fail(`expected a JSON value, found ${this.found()}`, 'text stands in double quotes, numbers have no leading zero or `+`');
  }

  private word(word: string): boolean {
    if (this.at + word.length > this.end || !this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** The members of an object whose brace is behind the cursor. */
  private members(depth: number): ValueMap {
    const members = new Map<string, Value>();
    if (this.next() === is.BRACE_CLOSE) {
      this.at++;
      return members;
    }
    do {
      const key = this.key();
      members.set(key, this.member(key, depth));
    } while (this.hasNextMember());
    return members;
  }

  /** Reads a key and the colon behind it. */
  protected key(): string {
    if (this.next() !== is.QUOTE) this.fail(`expected a field name in double quotes, found ${this.found()}`);
    const key = this.string();
    if (this.next() !== is.COLON) this.fail(`expected \`:\` behind the field name, found ${this.found()}`);
    this.at++;
    return key;
  }

  /** Moves behind the comma or the closing brace. */
  protected hasNextMember(): boolean {
    const code = this.next();
    if (code !== is.COMMA && code !== is.BRACE_CLOSE) this.fail(`expected \`,\` or \`}\` behind a value, found ${this.found()}`);
    this.at++;
    return code === is.COMMA;
  }

  protected string(): string {
    const { text, end } = this;
    const start = this.at + 1;
    let hash = EMPTY_HASH;
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code === is.QUOTE) {
        this.at = at + 1;
        return this.strings.get(text, start, at, hash);
      }
      hash = hashWith(hash, code);
      if (code === is.BACKSLASH) return this.escapedString(start, at);
      if (code < is.BLANK) this.failAt(at, 'a control character in a string must be written as an escape, for example `\\n` or `\\u0000`');
    }
    return this.unterminated();
  }

  /** A string from `start` with its first backslash at `at`. */
  private escapedString(start: number, at: number): string {
    const { text, end } = this;
    let result = '';
    let from = start;
    for (let index = at; index < end; index++) {
      const code = text.charCodeAt(index);
      if (code === is.QUOTE) {
        this.at = index + 1;
        return result + copyOf(text, from, index);
      }
      if (code < is.BLANK)
        this.failAt(index, 'a control character in a string must be written as an escape, for example `\\n` or `\\u0000`');
      if (code !== is.BACKSLASH) continue;
      result += copyOf(text, from, index) + this.escape(index);
      index += text.charCodeAt(index + 1) === 0x75 ? 5 : 1;
      from = index + 1;
    }
    return this.unterminated();
  }

  private escape(at: number): string {
    const letter = at + 1 < this.end ? this.text.charAt(at + 1) : '';
    const plain = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (plain !== undefined) return plain;
    const code = letter === 'u' ? hexDigits(this.text, at + 2, Math.min(at + 6, this.end)) : undefined;
    if (code !== undefined) return String.fromCharCode(code);
    return this.failAt(
      at,
      'unknown escape in a JSON string',
      'known are \\" \\\\ \\/ \\b \\f \\n \\r \\t \\u0000; a backslash is written \\\\',
    );
  }

  private unterminated(): never {
    return this.failAt(this.at, 'this string does not end', 'a quote inside a string is written \\"');
  }

  private failAt(at: number, message: string, hint?: string): never {
    this.at = at;
    return this.fail(message, hint);
  }

  protected skipString(): void {
    this.string();
  }

  protected isQuote(code: number): boolean {
    return code === is.QUOTE;
  }
}

/** The value of exactly four hexadecimal digits, or undefined. */
export function hexDigits(text: string, start: number, end: number): number | undefined {
  const digits = text.slice(start, end);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}
