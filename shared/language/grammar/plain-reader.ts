/**
 * Reads by hand what most conditions and arguments are made of: names, members, calls, literals, parentheses and the usual
 * operators. The grammar costs a dozen calls of functions for each character of these, and large programs are made of them. It asks
 * here first; what is anything else, or wrong, it reads itself, and with the same functions it makes the same nodes.
 */
import type { Argument, Expression, Identifier, Span, StringLiteral } from '../ast/nodes.ts';
import { begins, blanksEnd, forms, quotedEnd, wordEnd } from './characters.ts';
import { readNumeric, readRawString, readString } from './literals.ts';
import { isReserved, nestingMax } from './lookahead.ts';
import type { Problems } from './notes.ts';
import { foldOperation, type Operand, type OperationTail, postfix } from './operators.ts';

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const OPEN = 0x28;
const CLOSE = 0x29;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const BACKTICK = 0x60;
const LETTER_N = 0x6e;
const BRACE = 0x7b;

/** Names that were read lately, by what they look like from outside: a name that comes again is the same text, not a copy. */
const NAMES = 64;

type Operator = Extract<OperationTail, { readonly start: number }>['operator'];
type Prefixes = Extract<Operand, { readonly prefixes: unknown }>['prefixes'];

/** Operators of signs, with what must not follow them: that would be another one. */
const signs: Readonly<Record<string, { readonly operator: Operator; readonly unless: string }>> = {
  '+': { operator: '+', unless: '' },
  '-': { operator: '-', unless: '>' },
  '*': { operator: '*', unless: '*' },
  '/': { operator: '/', unless: '' },
  '%': { operator: '%', unless: '' },
  '<': { operator: '<', unless: '<' },
  '>': { operator: '>', unless: '>' },
};
const comparisons: Readonly<Record<string, Operator>> = { '==': '==', '!=': '!=', '<=': '<=', '>=': '>=' };
const words: Readonly<Record<string, Operator>> = { and: 'and', or: 'or', in: 'in' };
/** A number or a duration. Behind an `e` a sign may follow. */
const quantity = /^\d[\d_]*(?:\.\d[\d_]*)?(?:[A-DF-Za-df-z][A-DF-Za-df-z0-9_]*)?$/;
/** Words that go on with an expression in a way that is not read here. */
const otherWords: ReadonlySet<string> = new Set(['is', 'not']);

export class PlainReader {
  /** Behind what was read last. */
  end = 0;
  readonly #input: string;
  readonly #names: string[] = [];
  /** What is wrong is told when the grammar reads it. */
  readonly #problems: Problems = {
    report: () => {
      this.#isWrong = true;
    },
  };
  #isWrong = false;
  #base = 0;
  #nesting = 0;
  /** What begins up to here was tried: so no text is read here twice. */
  #triedTo = -1;

  constructor(input: string) {
    this.#input = input;
  }

  /** The expression that begins here, as far as it goes, or null. `base`: where the input stands in the text; `nesting`: expressions around it. */
  expression(at: number, base: number, nesting: number): Expression | null {
    if (!this.#begin(at, base, nesting)) return null;
    const expression = this.#expression();
    const isWhole = expression !== null && !this.#isWrong && this.#endsHere();
    return isWhole ? expression : this.#giveUp();
  }

  /** The arguments in the parentheses that open here, or null. */
  arguments(at: number, base: number, nesting: number): readonly Argument[] | null {
    if (this.#input.charCodeAt(at) !== OPEN || !this.#begin(at, base, nesting)) return null;
    const list = this.#arguments();
    return list !== null && !this.#isWrong ? list : this.#giveUp();
  }

  #begin(at: number, base: number, nesting: number): boolean {
    if (at <= this.#triedTo) return false;
    this.end = at;
    this.#base = base;
    this.#nesting = nesting;
    return true;
  }

  #giveUp(): null {
    this.#triedTo = this.end;
    this.#isWrong = false;
    return null;
  }

  /** No operator and no postfix form follows. */
  #endsHere(): boolean {
    const at = blanksEnd(this.#input, this.end);
    if (this.#input.charCodeAt(at) === MINUS) return this.#input.charCodeAt(at + 1) === GREATER;
    const word = this.#input.slice(at, wordEnd(this.#input, at));
    if (word !== '') return words[word] === undefined && !otherWords.has(word);
    return !begins(forms.operation, this.#input, at) && !begins(forms.postfix, this.#input, at);
  }

  #span(start: number): Span {
    return { start: start + this.#base, end: this.end + this.#base };
  }

  /** Null where something stands that is not read here. What is read up to there has no meaning. */
  #expression(): Expression | null {
    if (++this.#nesting > nestingMax) return null;
    const head = this.#operand();
    if (head === null) return null;
    let tail: OperationTail[] | undefined;
    for (let item = this.#tail(); item !== undefined; item = this.#tail()) {
      if (item === null) return null;
      if (tail === undefined) tail = [item];
      else tail.push(item);
    }
    this.#nesting--;
    if (tail !== undefined) return foldOperation(head, tail, this.#problems);
    return 'kind' in head ? head : foldOperation(head, [], this.#problems);
  }

  /** Undefined where no operator stands that is read here. */
  #tail(): OperationTail | null | undefined {
    const at = blanksEnd(this.#input, this.end);
    if (!begins(forms.operation, this.#input, at)) return undefined;
    const operator = this.#operator(at);
    if (operator === undefined) return undefined;
    this.end = blanksEnd(this.#input, this.end);
    const operand = this.#operand();
    return operand === null ? null : { operator, operand, start: at + this.#base };
  }

  #operator(at: number): Operator | undefined {
    const end = wordEnd(this.#input, at);
    if (end > at) {
      const operator = words[this.#input.slice(at, end)];
      if (operator !== undefined) this.end = end;
      return operator;
    }
    const comparison = comparisons[this.#input.slice(at, at + 2)];
    if (comparison !== undefined) {
      this.end = at + 2;
      return comparison;
    }
    const sign = signs[this.#input[at] as string];
    if (sign === undefined || this.#input[at + 1] === sign.unless) return undefined;
    this.end = at + 1;
    return sign.operator;
  }

  #operand(): Operand | null {
    const prefixes = begins(forms.prefix, this.#input, this.end) ? this.#prefixes() : [];
    const operand = this.#postfix();
    return operand === null || prefixes.length === 0 ? operand : { prefixes, operand };
  }

  #prefixes(): Prefixes {
    const prefixes: Prefixes[number][] = [];
    for (let end = this.#prefixEnd(this.end); end > this.end; end = this.#prefixEnd(this.end)) {
      prefixes.push({ operator: this.#input[this.end] === '-' ? '-' : 'not', start: this.end + this.#base });
      this.end = blanksEnd(this.#input, end);
    }
    return prefixes;
  }

  /** Behind the `-` or `not` that stands here, or here. */
  #prefixEnd(at: number): number {
    const code = this.#input.charCodeAt(at);
    if (code === MINUS) return this.#input.charCodeAt(at + 1) === GREATER ? at : at + 1;
    return code === LETTER_N && this.#input.startsWith('not', at) && wordEnd(this.#input, at) === at + 3 ? at + 3 : at;
  }

  #postfix(): Expression | null {
    let object = this.#primary();
    while (object !== null) {
      const open = blanksEnd(this.#input, this.end, true);
      if (this.#input.charCodeAt(open) === OPEN) {
        this.end = open;
        const list = this.#arguments();
        object = list && postfix(object, { form: 'call', end: this.end + this.#base, arguments: list });
        continue;
      }
      const dot = blanksEnd(this.#input, this.end);
      if (this.#input.charCodeAt(dot) !== DOT) return object;
      this.end = blanksEnd(this.#input, dot + 1);
      const name = this.#anyName();
      object = name && postfix(object, { form: 'member', end: this.end + this.#base, name, optional: false });
    }
    return object;
  }

  #primary(): Expression | null {
    const at = this.end;
    const code = this.#input.charCodeAt(at);
    if (code === OPEN) return this.#parenthesized();
    if (code === QUOTE) return this.#string('"');
    if (code === APOSTROPHE) return this.#string("'");
    if (begins(forms.digit, this.#input, at)) return this.#numeric();
    return this.#nameOrConstant();
  }

  #parenthesized(): Expression | null {
    const start = this.end;
    this.end = blanksEnd(this.#input, start + 1);
    const expression = this.#expression();
    if (expression === null || !this.#passes(CLOSE)) return null;
    return { kind: 'Parenthesized', span: this.#span(start), expression };
  }

  /** Goes behind this character, which may stand behind blanks. */
  #passes(code: number): boolean {
    const at = blanksEnd(this.#input, this.end);
    if (this.#input.charCodeAt(at) !== code) return false;
    this.end = at + 1;
    return true;
  }

  #arguments(): readonly Argument[] | null {
    const list: Argument[] = [];
    this.end = blanksEnd(this.#input, this.end + 1);
    for (let isNext = !this.#passes(CLOSE); isNext; isNext = !this.#passes(CLOSE)) {
      const argument = this.#argument();
      if (argument === null) return null;
      list.push(argument);
      if (this.#passes(COMMA)) this.end = blanksEnd(this.#input, this.end);
      else if (this.#passes(CLOSE)) break;
      else return null;
    }
    // A list that has grown item by item has room for many more, and programs are made of calls.
    return list.slice();
  }

  #argument(): Argument | null {
    const start = this.end;
    const name = this.#argumentName();
    const value = this.#expression();
    if (value === null) return null;
    return { kind: 'Argument', span: name === null ? value.span : this.#span(start), name, value, order: null };
  }

  #argumentName(): Identifier | null {
    const end = wordEnd(this.#input, this.end);
    const colon = blanksEnd(this.#input, end);
    if (this.#input.charCodeAt(colon) !== COLON || this.#input.charCodeAt(colon + 1) === EQUALS) return null;
    const name = this.#anyName();
    if (name !== null) this.end = blanksEnd(this.#input, colon + 1);
    return name;
  }

  #anyName(): Identifier | null {
    const start = this.end;
    const text = this.#word();
    return text === '' ? null : { kind: 'Identifier', span: this.#span(start), text, quoted: false };
  }

  #nameOrConstant(): Expression | null {
    const start = this.end;
    const name = this.#word();
    // A word with a quote behind it is a template.
    if (name === '' || this.#input.charCodeAt(this.end) === QUOTE) return null;
    const span = this.#span(start);
    if (!isReserved(name)) return { kind: 'Name', span, name, quoted: false };
    if (name === 'null') return { kind: 'NullLiteral', span };
    return name === 'true' || name === 'false' ? { kind: 'BoolLiteral', span, value: name === 'true' } : null;
  }

  /** The word that begins here, or nothing. */
  #word(): string {
    const start = this.end;
    const first = this.#input.charCodeAt(start);
    if (first === BACKTICK || !begins(forms.word, this.#input, start)) return '';
    const end = wordEnd(this.#input, start);
    // What has a brace behind it may go on as a name of a compile-time loop.
    if (this.#input.charCodeAt(end) === BRACE) return '';
    this.end = end;
    const place = (first + 7 * this.#input.charCodeAt(end - 1) + 31 * (end - start)) % NAMES;
    const known = this.#names[place];
    if (known !== undefined && known.length === end - start && this.#input.startsWith(known, start)) return known;
    const word = this.#input.slice(start, end);
    this.#names[place] = word;
    return word;
  }

  #string(quote: '"' | "'"): StringLiteral | null {
    const start = this.end;
    const end = quotedEnd(this.#input, start + 1, quote);
    if (this.#input[end] !== quote) return null;
    this.end = end + 1;
    const text = this.#input.slice(start + 1, end);
    const isRaw = quote === "'";
    const value = isRaw ? readRawString(text) : readString(text, this.#base + start + 1, this.#problems);
    return { kind: 'StringLiteral', span: this.#span(start), value, raw: isRaw };
  }

  /** A number or a duration without an exponent. */
  #numeric(): Expression | null {
    const start = this.end;
    const whole = wordEnd(this.#input, start);
    const isFraction = this.#input.charCodeAt(whole) === DOT && begins(forms.digit, this.#input, whole + 1);
    const end = isFraction ? wordEnd(this.#input, whole + 1) : whole;
    const text = this.#input.slice(start, end);
    if (this.#input.charCodeAt(end) === DOT || !quantity.test(text)) return null;
    this.end = end;
    return readNumeric(text, this.#span(start), this.#problems);
  }
}
