import { roundToMicrosecond, TIMESTAMP_MS_MAX } from '../calendar.ts';
import type { Fields } from '../event.ts';
import type { EventSchemas } from '../schema.ts';
import { parseDuration } from '../time-text.ts';
import type { Value, ValueMap } from '../value.ts';
import * as is from './characters.ts';
import { JsonEventScanner } from './json-event-scanner.ts';
import { hexDigits } from './json-scanner.ts';
import type { ReaderOptions } from './read-result.ts';
import type { ValueProblem } from './scan-problem.ts';
import { copyOf, EMPTY_HASH, hashWith } from './text-cache.ts';
import { charactersMatching, TextScanner } from './text-scanner.ts';
import { TimeFields } from './time-fields.ts';

/** A line that holds an event. `timestamp` is the envelope's, which only a JSON line has, or that of the field which was named for it. */
export interface EvtEvent {
  readonly type: string;
  readonly fields: Fields;
  readonly timestamp: number | undefined;
}

const OFFSET_HINT = 'an offset is a number of milliseconds, or has a unit: 100, 100ms, 5s, 2m, 1h';
const EVENT_HINT = 'an event is written `@100 Type { field: value }`';

/**
 * Reads one line of an `.evt` file at a time. The offset that `@` and `BATCH` set lasts until the next one; a line whose
 * rest cannot be read has set it all the same.
 */
export class EvtScanner extends TextScanner {
  private readonly json: JsonEventScanner;
  private readonly schemas: EventSchemas | undefined;
  private readonly times: TimeFields;
  private readonly markFloats: boolean;
  private currentOffset = 0;
  private currentType = '';
  private isJson = false;
  private floats: string[] = [];

  constructor(options: ReaderOptions) {
    super();
    this.json = new JsonEventScanner(options);
    this.schemas = options.schemas;
    this.times = new TimeFields(options);
    this.markFloats = options.markFloats ?? false;
  }

  /** Milliseconds from the start of the file, as of the line just read. */
  get offset(): number {
    return this.currentOffset;
  }

  set offset(offset: number) {
    this.currentOffset = offset;
  }

  /** The type of the event in the line just read, as far as it was read. */
  get typeSoFar(): string {
    return this.isJson ? this.json.typeSoFar : this.currentType;
  }

  get wholeFloats(): readonly string[] {
    return this.isJson ? this.json.wholeFloats : this.floats;
  }

  /** Of an event in JSON: members that mean nothing. */
  get unknownMembers(): readonly string[] {
    return this.isJson ? this.json.unknownMembers : [];
  }

  /** Why no schema could admit the event of the line just read. */
  get problem(): ValueProblem | undefined {
    return this.isJson ? this.json.problem : this.problemUnless((field) => this.times.has(this.currentType, field));
  }

  /** The event of a line, or undefined when it holds none. @throws UnreadableText */
  event(text: string, start: number, end: number): EvtEvent | undefined {
    this.open(text, start, end);
    this.currentType = '';
    this.isJson = false;
    if (this.floats.length > 0) this.floats = [];
    if (this.isAtEnd()) return undefined;
    const hasOffset = this.peek() === is.AT;
    if (hasOffset) this.readOffset();
    const event = this.next() === is.BRACE_OPEN ? this.jsonEvent() : this.typedEvent(hasOffset);
    this.endOfEvent();
    return event;
  }

  /** Whether nothing but blanks or a comment follows. */
  private isAtEnd(): boolean {
    const code = this.next();
    return (
      code === is.END || code === is.HASH || (code === is.SLASH && this.text.charCodeAt(this.at + 1) === is.SLASH && this.at + 1 < this.end)
    );
  }

  private endOfEvent(): void {
    while (this.next() === is.SEMICOLON) this.at++;
    if (!this.isAtEnd())
      this.fail(`expected the end of the line behind the event, found ${this.found()}`, 'each event stands on a line of its own');
  }

  private jsonEvent(): EvtEvent {
    this.isJson = true;
    const event = this.json.event(this.text, this.at, this.end);
    this.at = this.json.position;
    return event;
  }

  private typedEvent(hasOffset: boolean): EvtEvent | undefined {
    const start = this.at;
    const type = this.typeName();
    const code = this.next();
    if (code === is.BRACE_OPEN || code === is.PARENTHESIS_OPEN) {
      this.currentType = type;
      this.at++;
      const fields = code === is.BRACE_OPEN ? this.members(1) : this.positionalFields(type);
      return { type, fields, timestamp: this.times.named(fields) };
    }
    if (type !== 'BATCH') this.fail(`expected \`{\` or \`(\` behind the event type \`${type}\`, found ${this.found()}`, EVENT_HINT);
    if (hasOffset) {
      this.at = start;
      this.fail('`BATCH` sets an offset itself and takes none in front of it', 'write `BATCH 100` on a line of its own');
    }
    this.currentOffset = this.readTime('`BATCH`');
    return undefined;
  }

  private typeName(): string {
    if (nameStarts[this.peek()] !== 1) this.fail(`expected an event type, found ${this.found()}`, EVENT_HINT);
    return this.run(nameParts);
  }

  private readOffset(): void {
    this.at++;
    this.currentOffset = this.readTime('`@`');
  }

  /** Reads an offset: usually a few digits, which are all of it. */
  private readTime(what: string): number {
    if (what !== '`@`') this.next();
    const { text, at: start, end } = this;
    let at = start;
    let ms = 0;
    let code = is.END;
    for (; at < end; at++) {
      code = text.charCodeAt(at);
      if (!is.isDigit(code)) break;
      ms = ms * 10 + (code - is.ZERO);
    }
    if (code === is.BLANK && at > start && ms <= TIMESTAMP_MS_MAX) {
      this.at = at;
      return ms;
    }
    return this.offsetWord(what);
  }

  private offsetWord(what: string): number {
    const start = this.at;
    const word = this.run(wordParts);
    const ms = offsetOf(word);
    if (ms <= TIMESTAMP_MS_MAX) return ms;
    this.at = start;
    const found = word === '' ? this.found() : `\`${word.slice(0, 64)}\``;
    return this.fail(`expected an offset behind ${what}, found ${found}`, OFFSET_HINT);
  }

  /** Fields from values in order: those of the declared type, inherited first, else `field_0`, `field_1`, ... */
  private positionalFields(type: string): Fields {
    const names = this.schemas?.fieldNames(type);
    const fields = new Map<string, Value>();
    let count = 0;
    while (this.next() !== is.PARENTHESIS_CLOSE) {
      this.entry(fields, names?.[count] ?? `field_${count}`, 1);
      count++;
      this.comma(is.PARENTHESIS_CLOSE);
    }
    this.at++;
    if (names && count > names.length) {
      this.problems.unshift({
        path: [],
        isInexact: false,
        message: `found ${count} values, expected at most ${names.length}: ${type} has ${listed(names)}`,
      });
    }
    return fields;
  }

  protected value(depth: number): Value {
    const code = this.next();
    switch (code) {
      case is.QUOTE:
        return this.quoted();
      case is.APOSTROPHE:
        return this.raw(is.APOSTROPHE);
      case is.BRACE_OPEN:
        if (this.isTooDeep(depth)) return null;
        this.at++;
        return this.members(depth + 1);
      case is.BRACKET_OPEN:
        if (this.isTooDeep(depth)) return null;
        this.at++;
        return this.items(depth + 1, true);
      default:
        return this.plainValue();
    }
  }

  /** The fields of an event, or the entries of a map, whose brace is behind the cursor. */
  private members(depth: number): ValueMap {
    const members = new Map<string, Value>();
    while (this.next() !== is.BRACE_CLOSE) {
      this.entry(members, this.key(), depth);
      this.comma(is.BRACE_CLOSE);
    }
    this.at++;
    return members;
  }

  private entry(map: Map<string, Value>, key: string, depth: number): void {
    if (depth === 1) this.sawWholeFloat = false;
    map.set(key, this.member(key, depth));
    if (depth === 1 && this.sawWholeFloat && this.markFloats) this.floats.push(key);
  }

  /** Moves behind a comma; without one the closing mark must follow. */
  private comma(close: number): void {
    const code = this.next();
    if (code === is.COMMA) this.at++;
    else if (code !== close) {
      this.fail(
        `expected \`,\` or \`${String.fromCharCode(close)}\` behind a value, found ${this.found()}`,
        'text with blanks stands in quotes',
      );
    }
  }

  /** Reads a field name and the colon behind it. */
  private key(): string {
    const key = this.fieldName();
    if (this.next() !== is.COLON) this.fail(`expected \`:\` behind the field name \`${key}\`, found ${this.found()}`);
    this.at++;
    return key;
  }

  private fieldName(): string {
    const code = this.peek();
    if (code === is.QUOTE) return this.quoted();
    if (code === is.APOSTROPHE || code === is.BACKTICK) return this.raw(code);
    const name = this.run(keyParts);
    return name === '' ? this.fail(`expected a field name or \`}\`, found ${this.found()}`) : name;
  }

  /** A number, `true`, `false`, `null`, `nil`, or a word that stands for itself. */
  private plainValue(): Value {
    const start = this.at;
    const problems = this.problems.length;
    const number = this.number();
    if (number !== undefined && endsWord(this.peek())) return number;
    this.problems.length = problems; // What began like a number begins a word (`1.2.3.4`).
    this.at = start;
    const word = this.run(wordParts);
    if (word === '')
      this.fail(`expected a value, found ${this.found()}`, 'a value is text in quotes, a number, true, false, null, [..] or {..}');
    return this.wordValue(word);
  }

  private wordValue(word: string): Value {
    switch (word) {
      case 'true':
        return true;
      case 'false':
        return false;
      case 'null':
      case 'nil':
        return null;
      default:
        return this.looseNumber(word) ?? word;
    }
  }

  /** Numbers that JSON does not know: `+5`, `.5`, `5.`. A leading zero makes a word (`007` is no 7). */
  private looseNumber(word: string): number | undefined {
    if (!/^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(word)) return undefined;
    return /^[+-]?\d+$/.test(word) ? this.longInteger(word) : this.finiteFloat(Number(word));
  }

  /** A string in double quotes. */
  private quoted(): string {
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
      if (code === is.BACKSLASH) return this.escaped(start, at);
    }
    return this.unterminated();
  }

  /** A string in double quotes from `start` with its first backslash at `at`. */
  private escaped(start: number, at: number): string {
    const { text, end } = this;
    let result = '';
    let from = start;
    for (let index = at; index < end; index++) {
      const code = text.charCodeAt(index);
      if (code === is.QUOTE) {
        this.at = index + 1;
        return result + copyOf(text, from, index);
      }
      if (code !== is.BACKSLASH) continue;
      const known = escapeAt(text, index, end);
      result += copyOf(text, from, index) + known.text;
      index += known.length - 1;
      from = index + 1;
    }
    return this.unterminated();
  }

  /** Text between two marks in which a backslash is a backslash and two marks are one. */
  private raw(mark: number): string {
    const { text, end } = this;
    let result = '';
    let from = this.at + 1;
    for (let at = from; at < end; at++) {
      if (text.charCodeAt(at) !== mark) continue;
      result += copyOf(text, from, at);
      if (at + 1 >= end || text.charCodeAt(at + 1) !== mark) {
        this.at = at + 1;
        return result;
      }
      from = ++at;
    }
    return this.unterminated();
  }

  private unterminated(): never {
    return this.fail(
      'this string does not end',
      'a quote inside "..." is written \\", a backslash at its end \\\\; in \'...\' a backslash is a backslash',
    );
  }

  protected skipString(quote: number): void {
    if (quote === is.QUOTE) this.quoted();
    else this.raw(quote);
  }

  protected isQuote(code: number): boolean {
    return code === is.QUOTE || code === is.APOSTROPHE || code === is.BACKTICK;
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' };

/** What the escape at `at` stands for, and how long it is. One that is not known stands for itself. */
function escapeAt(text: string, at: number, end: number): { readonly text: string; readonly length: number } {
  const letter = at + 1 < end ? text.charAt(at + 1) : '';
  const plain = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (plain !== undefined) return { text: plain, length: 2 };
  const unicode = letter === 'u' ? unicodeEscape(text, at, end) : undefined;
  return unicode ?? { text: '\\', length: 1 };
}

/** `\u{1F600}`, or JSON's `\u0041`. */
function unicodeEscape(text: string, at: number, end: number): { readonly text: string; readonly length: number } | undefined {
  const unit = hexDigits(text, at + 2, Math.min(at + 6, end));
  if (unit !== undefined) return { text: String.fromCharCode(unit), length: 6 };
  const match = /^\{([0-9a-fA-F]{1,6})\}/.exec(text.slice(at + 2, Math.min(at + 10, end)));
  const codePoint = match ? Number.parseInt(match[1] as string, 16) : Number.POSITIVE_INFINITY;
  return match && codePoint <= 0x10ffff ? { text: String.fromCodePoint(codePoint), length: 2 + match[0].length } : undefined;
}

/** Milliseconds of a written offset; NaN when it is none. */
function offsetOf(word: string): number {
  if (word.startsWith('-')) return Number.NaN;
  const ms = /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : parseDuration(word);
  return roundToMicrosecond(ms ?? Number.NaN);
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'no fields';
  return names.length <= 8 ? names.join(', ') : `${names.slice(0, 8).join(', ')}, ...`;
}

const nameStarts = charactersMatching(/[A-Za-z_]/);
const nameParts = charactersMatching(/[A-Za-z0-9_.-]/);
/** Unquoted text ends at a blank, a control character, a bracket, a quote, `,` or `;`. */
const wordParts = charactersMatching(/[^\s\p{Cc}()[\]{}"'`,;]/u);
const keyParts = charactersMatching(/[^\s\p{Cc}()[\]{}"'`,;:]/u);

/** Whether a number ends before this unit; the usual ones first. */
function endsWord(code: number): boolean {
  return code <= is.BLANK || code === is.COMMA || code === is.BRACE_CLOSE || (code < 128 && wordParts[code] === 0);
}
