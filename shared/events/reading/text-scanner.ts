import { limits } from '../../limits.ts';
import type { Value, ValueArray } from '../value.ts';
import * as is from './characters.ts';
import { type PathSegment, UnreadableText, type ValueProblem } from './scan-problem.ts';
import { EMPTY_HASH, hashWith, TextCache } from './text-cache.ts';

/** For each ASCII unit, and at 128 for all others that are visible, 1 when the set has it. */
export type CharacterSet = Uint8Array;

export function charactersMatching(pattern: RegExp): CharacterSet {
  return Uint8Array.from({ length: 129 }, (_, code) => (pattern.test(String.fromCharCode(code < 128 ? code : 0xe9)) ? 1 : 0));
}

function isInvisible(code: number): boolean {
  return /[\s\p{Cc}\p{Cf}]/u.test(String.fromCharCode(code));
}

/** Digits of a whole number that certainly fits a double. */
const EXACT_DIGITS_MAX = 15;
const powersOfTen = Float64Array.from({ length: EXACT_DIGITS_MAX + 1 }, (_, exponent) => 10 ** exponent);

/**
 * A cursor over a part of a text, with what JSON and `.evt` values have in common. Subclasses read one dialect each.
 *
 * A value that can be read but that no event may hold (an unsafe integer, too much nesting) does not end the scan: it is
 * noted in `problems`, and what stands in its place no caller sees. What cannot be read at all is thrown as `UnreadableText`.
 */
export abstract class TextScanner {
  protected text = '';
  protected at = 0;
  protected end = 0;
  protected readonly strings = new TextCache();
  protected problems: { path: PathSegment[]; message: string; isInexact: boolean }[] = [];
  /** Set by a whole number that was written with a point or an exponent. */
  protected sawWholeFloat = false;
  protected depthMax: number = limits.eventDepthMax;

  /** The first value that no event may hold. Of fields that `isTime`, whole numbers may be too large to be exact. */
  problemUnless(isTime: (field: string) => boolean): ValueProblem | undefined {
    if (this.problems.length === 0) return undefined;
    return this.problems.find(({ path, isInexact }) => !isInexact || path.length !== 1 || !isTime(String(path[0])));
  }

  /** Reads the value at the cursor; `depth` counts it and the maps and arrays around it. */
  protected abstract value(depth: number): Value;
  /** Moves behind the string at the cursor. */
  protected abstract skipString(quote: number): void;
  protected abstract isQuote(code: number): boolean;

  protected open(text: string, start: number, end: number): void {
    this.text = text;
    this.at = start;
    this.end = end;
    this.sawWholeFloat = false;
    if (this.problems.length > 0) this.problems = [];
  }

  protected peek(): number {
    return this.at < this.end ? this.text.charCodeAt(this.at) : is.END;
  }

  /** Skips blanks and returns the unit behind them. */
  protected next(): number {
    const { text, end } = this;
    for (let at = this.at; at < end; at++) {
      const code = text.charCodeAt(at);
      if (is.isBlank(code)) continue;
      this.at = at;
      return code;
    }
    this.at = end;
    return is.END;
  }

  /** The characters at the cursor that `allowed` allows; the cursor is then behind them. */
  protected run(allowed: CharacterSet): string {
    const { text, at: start, end } = this;
    let at = start;
    let hash = EMPTY_HASH;
    for (; at < end; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 ? allowed[code] === 0 : allowed[128] === 0 || isInvisible(code)) break;
      hash = hashWith(hash, code);
    }
    this.at = at;
    return this.strings.get(text, start, at, hash);
  }

  protected fail(message: string, hint?: string): never {
    throw new UnreadableText(this.at, message, hint);
  }

  /** What stands at the cursor, for messages. */
  protected found(): string {
    if (this.at >= this.end) return 'the end';
    const character = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0);
    return /[^\P{Z} ]|\p{C}/u.test(character) ? `the character ${codePointName(character)}` : `\`${character}\``;
  }

  protected note(message: string, isInexact = false): void {
    this.problems.push({ path: [], message, isInexact });
  }

  /** Reads a value inside a map or an array; problems in it get `segment` in front of their path. */
  protected member(segment: PathSegment, depth: number): Value {
    const before = this.problems.length;
    const value = this.value(depth);
    for (let index = before; index < this.problems.length; index++) this.problems[index]?.path.unshift(segment);
    return value;
  }

  /** The items of an array whose bracket is behind the cursor. */
  protected items(depth: number, allowTrailingComma: boolean): ValueArray {
    const items: Value[] = [];
    let isClosed = this.next() === is.BRACKET_CLOSE;
    while (!isClosed) {
      items.push(this.member(items.length, depth));
      isClosed = this.next() === is.BRACKET_CLOSE;
      if (isClosed) break;
      if (this.peek() !== is.COMMA) this.fail(`expected \`,\` or \`]\` behind a value, found ${this.found()}`);
      this.at++;
      isClosed = allowTrailingComma && this.next() === is.BRACKET_CLOSE;
    }
    this.at++;
    return items;
  }

  /** Whether what the brackets at the cursor hold is above the limit; they are then skipped and the problem noted. */
  protected isTooDeep(depth: number): boolean {
    if (depth < this.depthMax || (depth === this.depthMax && this.isEmpty())) return false;
    this.note(`nested more than ${this.depthMax} levels deep: flatten it, or send a part of it`);
    this.skipValue();
    return true;
  }

  private isEmpty(): boolean {
    const start = this.at++;
    const close = this.text.charCodeAt(start) === is.BRACKET_OPEN ? is.BRACKET_CLOSE : is.BRACE_CLOSE;
    const isEmpty = this.next() === close;
    this.at = start;
    return isEmpty;
  }

  /** Moves behind the bracketed value at the cursor without recursion; what it holds is not looked at closely. */
  private skipValue(): void {
    let open = 0;
    do {
      const code = this.next();
      if (code === is.END) this.fail('expected the closing bracket, found the end');
      if (this.isQuote(code)) this.skipString(code);
      else {
        if (code === is.BRACKET_OPEN || code === is.BRACE_OPEN) open++;
        if (code === is.BRACKET_CLOSE || code === is.BRACE_CLOSE) open--;
        this.at++;
      }
    } while (open > 0);
  }

  /**
   * Reads a number as JSON writes it. Returns undefined, and leaves the cursor, when none stands here.
   * Long for speed: one pass over the digits, no piece of text for the usual number.
   */
  protected number(): number | undefined {
    const { text, end } = this;
    const start = this.at;
    const isNegative = this.peek() === is.MINUS;
    const first = isNegative ? start + 1 : start;
    let at = first;
    let code = at < end ? text.charCodeAt(at) : is.END;
    let digits = 0;
    while (is.isDigit(code)) {
      digits = digits * 10 + (code - is.ZERO);
      code = ++at < end ? text.charCodeAt(at) : is.END;
    }
    const count = at - first;
    if (count === 0 || (count > 1 && text.charCodeAt(first) === is.ZERO)) return undefined;
    if (code === is.POINT || code === is.LOWER_E || code === is.UPPER_E) return this.float(start, at);
    this.at = at;
    if (count > EXACT_DIGITS_MAX) return this.longInteger(text.slice(start, at));
    return isNegative ? -digits : digits;
  }

  /** A number from `start` whose point or exponent is at `at`. */
  private float(start: number, at: number): number | undefined {
    const { text } = this;
    const behindPoint = text.charCodeAt(at) === is.POINT ? this.endOfDigits(at + 1) : at;
    if (behindPoint === at + 1) return undefined;
    const last = this.endOfExponent(behindPoint);
    if (last === undefined) return undefined;
    this.at = last;
    const isShort = last === behindPoint && last - start <= EXACT_DIGITS_MAX + 1 && text.charCodeAt(start) !== is.MINUS;
    const value = isShort ? this.shortDecimal(start, at, last) : Number(text.slice(start, last));
    return this.finiteFloat(value);
  }

  /** At most 15 digits with a point: the digits and the power of ten are exact, so their quotient is the nearest double. */
  private shortDecimal(start: number, point: number, end: number): number {
    let digits = 0;
    for (let at = start; at < end; at++) if (at !== point) digits = digits * 10 + (this.text.charCodeAt(at) - is.ZERO);
    return digits / (powersOfTen[end - point - 1] as number);
  }

  protected finiteFloat(value: number): number {
    if (!Number.isFinite(value)) {
      this.note('the number is too large for a float: expected a magnitude below 1.8e308; send it as text');
      return Number.NaN;
    }
    if (Number.isInteger(value)) this.sawWholeFloat = true;
    return value;
  }

  protected longInteger(literal: string): number {
    const value = Number(literal);
    if (Number.isSafeInteger(value)) return value;
    const message = `whole number ${shortened(literal)} is beyond 2^53-1 and would change: send it as text, and declare the field \`str\``;
    this.note(message, Number.isFinite(value));
    return value;
  }

  /** Behind the exponent at `at`, or `at` when there is none; undefined when it has no digits. */
  private endOfExponent(at: number): number | undefined {
    const code = at < this.end ? this.text.charCodeAt(at) : is.END;
    if (code !== is.LOWER_E && code !== is.UPPER_E) return at;
    const sign = at + 1 < this.end ? this.text.charCodeAt(at + 1) : is.END;
    const first = sign === is.PLUS || sign === is.MINUS ? at + 2 : at + 1;
    const last = this.endOfDigits(first);
    return last === first ? undefined : last;
  }

  private endOfDigits(at: number): number {
    let last = at;
    while (last < this.end && is.isDigit(this.text.charCodeAt(last))) last++;
    return last;
  }
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

function shortened(literal: string): string {
  return literal.length <= 40 ? literal : `${literal.slice(0, 40)}...`;
}
