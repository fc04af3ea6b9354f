import { parseDuration, parseTimestamp } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import type { FunctionValue } from '../../../shared/language/functions/descriptor.ts';
import { functions } from '../../../shared/language/functions/index.ts';

/** The lambdas that examples use. Whoever writes another example adds its lambda here. */
const LAMBDAS: Readonly<Record<string, (...args: number[]) => Value>> = {
  'x => x > 2': (x) => Number(x) > 2,
  'x => x * 10': (x) => Number(x) * 10,
  '(x, i) => i': (_, i) => Number(i),
};

type Argument = Value | FunctionValue;

/**
 * Reads and evaluates the small part of the language in which examples are written: literals, arrays, maps, and calls.
 * It knows nothing of operators; the tests of the parser run the same examples through the real one.
 */
export class ExampleReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  static evaluate(text: string): Value {
    const reader = new ExampleReader(text);
    const value = reader.#value();
    if (reader.#at !== text.length) throw new Error(`unread: ${text.slice(reader.#at)}`);
    return value as Value;
  }

  #value(): Argument {
    const lambda = Object.keys(LAMBDAS).find((code) => this.#text.startsWith(code, this.#at));
    if (lambda) return this.#lambda(lambda);
    if (this.#take('[')) return this.#list(']', () => this.#value() as Value);
    if (this.#take('{')) return new Map(this.#list('}', () => this.#entry()));
    const name = this.#match(/[a-z][a-z0-9_]*/y);
    return name === undefined ? (this.#time() ?? this.#duration() ?? this.#string() ?? this.#number()) : this.#named(name);
  }

  #lambda(code: string): FunctionValue {
    this.#at += code.length;
    return LAMBDAS[code] as FunctionValue;
  }

  #entry(): readonly [string, Value] {
    const key = this.#match(/[a-z]+(?=:)/y) ?? this.#string();
    this.#match(/:\s*/y);
    return [String(key), this.#value() as Value];
  }

  #named(name: string): Value {
    if (name === 'true' || name === 'false') return name === 'true';
    if (name === 'null') return null;
    if (!this.#take('(')) throw new Error(`no value is called ${name}`);
    const args = this.#list(')', () => this.#value());
    const descriptor = functions.get(name);
    if (!descriptor) throw new Error(`no function is called ${name}`);
    return descriptor.evaluate(args, { now: 0 });
  }

  #time(): Timestamp | undefined {
    const text = this.#match(/@[-:.TZ+0-9]+/y);
    return text === undefined ? undefined : new Timestamp(parseTimestamp(text.slice(1)) ?? Number.NaN);
  }

  #duration(): Duration | undefined {
    const text = this.#match(/-?(\d+(ns|us|ms|[wdhms]))+/y);
    return text === undefined ? undefined : new Duration(parseDuration(text) ?? Number.NaN);
  }

  #string(): string | undefined {
    const raw = this.#match(/'[^']*'/y);
    if (raw !== undefined) return raw.slice(1, -1);
    const text = this.#match(/"(?:[^"\\]|\\.)*"/y);
    return text === undefined ? undefined : String(JSON.parse(text));
  }

  #number(): number {
    const text = this.#match(/-?\d+(\.\d+)?/y);
    if (text === undefined) throw new Error(`no value: ${this.#text.slice(this.#at)}`);
    return Number(text);
  }

  #list<T>(end: string, item: () => T): T[] {
    const items: T[] = [];
    while (!this.#take(end)) {
      items.push(item());
      this.#match(/,\s*/y);
    }
    return items;
  }

  #take(text: string): boolean {
    const found = this.#text.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [text] = pattern.exec(this.#text) ?? [];
    this.#at += text?.length ?? 0;
    return text;
  }
}
