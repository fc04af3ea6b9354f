/** Says in the user's words what the grammar did not expect, and what the user may have meant. */
import { nearestName } from '../diagnostics/nearest-name.ts';
import { clipped } from './literals.ts';
import { isReserved } from './lookahead.ts';

/** What the generated parser hands over about what it expected. */
export interface Expectation {
  readonly type: string;
  readonly text?: string;
  readonly description?: string;
}

export interface Explanation {
  readonly message: string;
  readonly hint?: string;
  /** Of the unexpected token. */
  readonly length: number;
}

interface Failure {
  /** The rule that was read. */
  readonly rule: string;
  /** The line as the user wrote it, without comments. */
  readonly text: string;
  readonly at: number;
  readonly expected: readonly Expectation[];
}

export function explainSyntaxError({ rule, text, at, expected }: Failure): Explanation {
  const token = tokenAt(text, at);
  const wanted = describeExpected(expected);
  const message = `unexpected ${describeToken(token)}${wanted.length > 0 ? `; expected ${alternatives(wanted)}` : ''}`;
  const hint = findHint({ rule, token, before: text.slice(0, at).trimEnd(), after: text.slice(at + token.length), wanted, expected });
  const length = Math.max(1, token.length);
  return hint === undefined ? { message, length } : { message, hint, length };
}

// ------------------------------------------------------------------------------------------------ tokens

const tokenPattern =
  /[A-Za-z_][A-Za-z0-9_]*|\d[\w.]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|`[^`\n]*`|===|!==|->|=>|:=|==|!=|<=|>=|<>|\+\+|--|[-+*/%]=|&&|\|\||::|[\s\S]/uy;

function tokenAt(text: string, at: number): string {
  tokenPattern.lastIndex = at;
  return tokenPattern.exec(text)?.[0] ?? '';
}

function describeToken(token: string): string {
  if (token === '') return 'end of line';
  return `\`${clipped(token)}\``;
}

// ------------------------------------------------------------------------------------------------ expectations

const operandOnly: ReadonlySet<string> = new Set([
  'a number',
  'a string',
  'a timestamp',
  'a name',
  '`f"`',
  '`(`',
  '`[`',
  '`{`',
  '`-`',
  '`~`',
  '`!`',
  '`not`',
  '`true`',
  '`false`',
  '`null`',
  '`if`',
]);
const behindOperand: ReadonlySet<string> = new Set(['an operator', '`is`', '`.`', '`?`', '`(`', '`[`']);

function describeExpected(expected: readonly Expectation[]): string[] {
  const all = new Set(expected.flatMap(describe));
  if (all.has('a number')) return ['an expression', ...[...all].filter((item) => !operandOnly.has(item))];
  if (!all.has('an operator')) return [...all];
  const rest = [...all].filter((item) => !behindOperand.has(item));
  return rest.length > 0 ? rest : ['an operator'];
}

function describe({ type, text, description }: Expectation): string[] {
  if (type === 'literal' && text !== undefined) return [`\`${text}\``];
  return type === 'other' && description !== undefined && description !== 'a blank' ? [description] : [];
}

function alternatives(items: readonly string[]): string {
  const sorted = [...items].sort((a, b) => Number(a.startsWith('`')) - Number(b.startsWith('`')) || (a < b ? -1 : 1));
  if (sorted.length <= 1) return sorted.join('');
  return `${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}

// ------------------------------------------------------------------------------------------------ hints

interface HintInput {
  readonly rule: string;
  readonly token: string;
  /** The line up to the token, blanks at its end cut off. */
  readonly before: string;
  readonly after: string;
  readonly wanted: readonly string[];
  readonly expected: readonly Expectation[];
}

function findHint(input: HintInput): string | undefined {
  if (input.token === '') return lineEndHint(input);
  return fixedHints[input.token] ?? signHint(input) ?? wordHint(input);
}

const trailingOperator = /(?:->|[-+*/%<>=|&^?,]|\b(?:and|or|not|in|AND|OR))$/;

function lineEndHint({ before, rule }: HintInput): string | undefined {
  if (trailingOperator.test(before))
    return 'a line does not continue because it ends with an operator: begin the next line with the operator';
  if (/^(?:.*Head)$/.test(rule) && !before.endsWith(':')) return 'a block opens with `:` at the end of the line';
  return undefined;
}

const fixedHints: Readonly<Record<string, string>> = {
  __proto__: null as never,
  '===': 'write `==`',
  '!==': 'write `!=`',
  '<>': 'write `!=`',
  '::': 'write `.`',
  '++': 'write `x := x + 1`',
  '--': 'write `x := x - 1`',
  '+=': 'write `x := x + ..`',
  '-=': 'write `x := x - ..`',
  '*=': 'write `x := x * ..`',
  '/=': 'write `x := x / ..`',
  ';': 'a statement ends at the end of its line',
  '?': 'there is no `c ? a : b`: write `if c then a else b`',
  '\u201c': 'write plain quotes: `"`',
  '\u201d': 'write plain quotes: `"`',
  '\u2018': "write plain quotes: `'`",
  '\u2019': "write plain quotes: `'`",
  '\u00a0': 'this is a no-break space; write a plain one',
  '\u2192': 'write `->`',
  '\u2265': 'write `>=`',
  '\u2264': 'write `<=`',
  '\u2260': 'write `!=`',
  AND: 'in an expression write `and`',
  OR: 'in an expression write `or`',
  NOT: 'in an expression write `not`',
  IN: 'write `in`',
  IS: 'write `is`',
  WHERE: 'write `where`',
  AS: 'write `as`',
  xor: 'write `!=` between bools, `^` between ints',
  mod: 'write `%`',
  div: 'write `div(a, b)`',
  like: 'write `regex_match(text, "pattern")`, `starts_with` or `contains`',
  LIKE: 'write `regex_match(text, "pattern")`, `starts_with` or `contains`',
  between: 'write `x >= a and x <= b`',
  BETWEEN: 'write `x >= a and x <= b`',
  contains: 'write `contains(x, y)` or `y in x`',
  matches: 'write `regex_match(text, "pattern")`',
};

function signHint({ token, before, after, wanted, expected, rule }: HintInput): string | undefined {
  const behind = expected.some(({ description }) => description === 'an operator');
  if (token === '=' && behind) return rule === 'ExpressionLine' ? 'to assign write `:=`, to compare `==`' : 'to compare write `==`';
  if (token === ':=') return 'a name is assigned with `:=` at the start of a statement only';
  if (token === '=' && rule === 'FunctionHead') return 'parameters have no default values';
  if (token === '=>' && behind) return 'the parameters of a lambda are names: `x => e`, `(a, b) => e`';
  if (token === '->' && behind) return 'a pattern cannot stand in an expression';
  if (token === ':' && before.includes('f"') && wanted.includes('`}`'))
    return 'an f-string has no formats: write `round(x, 2)` or `format_time(t, ..)`';
  if (token === ',' && /\([^()]*$/.test(before) && wanted.includes('`)`') && !wanted.includes('`,`'))
    return 'there are no tuples: write an array `[a, b]`';
  if (token === '/' && after.startsWith('/')) return 'a comment with `//` needs a blank before it; `div(a, b)` divides ints';
  if (token === '{' && rule === 'EventHead') return 'fields follow a `:`';
  if (token === '+' && wanted.includes('an expression')) return 'there is no unary `+`';
  if (token === '}' && before.includes('f"')) return 'in the text of an f-string a brace is written twice: `}}`';
  if ((token.codePointAt(0) ?? 0) > 0x7f) return 'a name with other characters is written in backticks';
  return undefined;
}

function wordHint({ token, rule, wanted, expected }: HintInput): string | undefined {
  if (!/^[A-Za-z_]/.test(token))
    return /^\d[\d_]*[A-Za-z]/.test(token) && wanted.includes('a name') ? 'a name begins with a letter' : undefined;
  if (isReserved(token)) return reservedHint(token, wanted);
  if (token === 'from' && rule === 'StreamLine' && wanted.includes('`=`')) return 'write `stream Name = Source`';
  const words = expected.flatMap(({ text }) => (text !== undefined && /^[A-Za-z]/.test(text) ? [text] : []));
  const operators =
    wanted.some((item) => item === 'an operator') || expected.some(({ description }) => description === 'an operator')
      ? ['and', 'or', 'in', 'is']
      : [];
  const near = nearestName(token, [...words, ...operators]);
  return near === undefined ? undefined : `did you mean \`${near}\`?`;
}

function reservedHint(token: string, wanted: readonly string[]): string | undefined {
  if (wanted.includes('a name')) return `\`${token}\` is a word of the language; as a name write it in backticks`;
  if (wanted.includes('an expression') && token === 'if') return 'put the `if .. then .. else ..` in parentheses';
  return undefined;
}

// ------------------------------------------------------------------------------------------------ statements

const statementWords = {
  declaration: [
    'event',
    'type',
    'const',
    'let',
    'var',
    'fn',
    'connector',
    'context',
    'config',
    'pattern',
    'stream',
    'import',
    'for',
    'if',
    'test',
  ],
  function: ['let', 'var', 'const', 'if', 'elif', 'else', 'for', 'while', 'break', 'continue', 'return', 'emit'],
  test: ['at', 'advance', 'expect'],
  stray: [] as string[],
} as const;

const otherLanguages: Readonly<Record<string, string>> = {
  __proto__: null as never,
  def: 'a function is declared with `fn name(x: int) -> int:`',
  function: 'a function is declared with `fn name(x: int) -> int:`',
  func: 'a function is declared with `fn name(x: int) -> int:`',
  class: 'an event type is declared with `event Name:`, a record with `type Name:`',
  struct: 'an event type is declared with `event Name:`, a record with `type Name:`',
  record: 'an event type is declared with `event Name:`, a record with `type Name:`',
  schema: 'an event type is declared with `event Name:`',
  select: 'a stream is written `stream Name = Source.where(..).select(..)`',
  SELECT: 'a stream is written `stream Name = Source.where(..).select(..)`',
  from: 'a stream is written `stream Name = Source.where(..)`',
  FROM: 'a stream is written `stream Name = Source.where(..)`',
  CREATE: 'a stream is written `stream Name = Source.where(..)`',
  elseif: 'write `elif`',
  elsif: 'write `elif`',
  switch: 'write `if .. elif .. else`',
  try: 'evaluation failures are handled by `.on_error(..)`',
  pass: 'a block needs a statement; write `return null`',
  export: 'every declaration can be imported: leave the word out',
};

interface StatementExplanation extends Explanation {
  /** It cannot be an expression either. */
  readonly certain: boolean;
}

/** Why a line that begins here begins no statement. */
export function explainStatement(text: string, at: number, place: keyof typeof statementWords): StatementExplanation {
  const token = tokenAt(text, at);
  const isWord = /^[A-Za-z_]/.test(token);
  const next = text.slice(at + token.length, at + token.length + 40);
  const length = Math.max(1, token.length);
  if (place === 'stray')
    return { message: 'unexpected indentation: the line above opens no block', hint: strayHint(token, next), length, certain: true };
  const near = isWord && !isAtom(next) ? nearestName(token, statementWords[place]) : undefined;
  const hint = statementHint(token, next, place) ?? (near === undefined ? undefined : `did you mean \`${near}\`?`);
  const message = `unexpected ${describeToken(token)}; expected ${expectedAt[place]}`;
  const certain = hint !== undefined && /^[ \t]+["A-Za-z_]/.test(next) && !/^[ \t]+(?:and|or|in|is|not|as)\b/.test(next);
  return hint === undefined ? { message, length, certain } : { message, hint, length, certain };
}

/** What follows shows that the word is used as a value. */
function isAtom(next: string): boolean {
  return /^[ \t]*(?:[-+*/%.([<>]|==|$)/.test(next);
}

const expectedAt = { declaration: 'a declaration', function: 'a statement', test: '`at`, `advance` or `expect`', stray: '' } as const;

function strayHint(token: string, next: string): string {
  if (/^[ \t]*\(/.test(next)) return `an operator begins with a dot: \`.${token}(..)\``;
  return 'a block opens after a `:` at the end of the line';
}

function statementHint(token: string, next: string, place: keyof typeof statementWords): string | undefined {
  if (token === 'elif' || token === 'else') return `\`${token}\` follows the block of an \`if\``;
  if (token in otherLanguages) return otherLanguages[token];
  if (place === 'declaration' && /^[ \t]*=(?!=)/.test(next))
    return `to declare it write \`let ${token} = ..\`, or \`stream ${token} = ..\``;
  if (place === 'function' && /^[ \t]*=(?!=)/.test(next)) return `to declare it write \`let ${token} = ..\`, to assign \`${token} := ..\``;
  if (place === 'declaration' && (token === 'while' || token === 'return' || token === 'emit')) return `\`${token}\` stands in a function`;
  return undefined;
}
