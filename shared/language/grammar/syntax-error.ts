/** Says in the user's words what the grammar did not expect, and what the user may have meant. */
import { operatorNames } from '../ast/operator-names.ts';
import { unitOf } from '../diagnostics/foreign-words.ts';
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

/** Characters around an error that hints look at. */
const hintReach = 2000;

export function explainSyntaxError({ rule, text, at: failedAt, expected }: Failure): Explanation & { readonly at: number } {
  const at = tokenStart(text, failedAt);
  const token = tokenAt(text, at);
  const wanted = describeExpected(expected);
  const message = `unexpected ${describeToken(token)}${wanted.length > 0 ? `; expected ${alternatives(wanted)}` : ''}`;
  const upTo = text.slice(Math.max(0, at - hintReach), at);
  const before = upTo.trimEnd();
  const after = text.slice(at + token.length, at + hintReach);
  const hint = findHint({ rule, token, before, startsLine: upTo.slice(before.length).includes('\n'), after, wanted, expected });
  const length = Math.max(1, token.length);
  return hint === undefined ? { at, message, length } : { at, message, hint, length };
}

// ------------------------------------------------------------------------------------------------ tokens

const tokenPattern =
  /[A-Za-z_][A-Za-z0-9_]*|\d[\w.]*|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|`[^`\n]*`|===|!==|->|=>|:=|==|!=|<=|>=|<>|\+\+|--|[-+*/%]=|&&|\|\||\/\/|::|[\s\S]/uy;

/** Signs of other languages, of which the grammar has read the first character when it stops. */
const foreignSign = /(?:===|!==|<>|\+\+|--|[-+*/%]=|\/\/|\?)$/;

/** Where the unexpected token begins: behind blanks, or at the first character of a sign that was read in part. */
function tokenStart(text: string, failedAt: number): number {
  const read = /^(?:[=+\-/>]|\s|$)/.test(text.slice(failedAt, failedAt + 1))
    ? foreignSign.exec(text.slice(Math.max(0, failedAt - 3), failedAt + 1).trimEnd())
    : null;
  const signEnd = text.slice(0, failedAt + 1).trimEnd().length;
  if (read && signEnd - read[0].length < failedAt) return signEnd - read[0].length;
  let at = failedAt;
  while (at < text.length && /[ \t\r\n]/.test(text[at] as string)) at++;
  return at;
}

function tokenAt(text: string, at: number): string {
  tokenPattern.lastIndex = at;
  return tokenPattern.exec(text)?.[0] ?? '';
}

function describeToken(token: string): string {
  return token === '' ? 'end of line' : `\`${clipped(token)}\``;
}

// ------------------------------------------------------------------------------------------------ expectations

/** What one expectation stands for when all of `signs` (or more) are expected; the others of the group are left out. */
interface Group {
  readonly has: string;
  readonly means: readonly string[];
  readonly others: ReadonlySet<string>;
}

const groups: readonly Group[] = [
  {
    has: '`SEQ`',
    means: ['a step'],
    others: new Set(['a name', '`(`', '`AND`', '`OR`', '`sequence`']),
  },
  {
    has: 'a number',
    means: ['an expression'],
    others: new Set([
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
    ]),
  },
  { has: 'a type', means: ['a type'], others: new Set(['`[`', '`{`', '`(`']) },
  { has: '`{{`', means: [], others: new Set(['`"`', '`\\`', '`\\u{`', '`{`', '`}}`']) },
  {
    has: '`partition`',
    means: ['`->`', '`where`', '`as`', '`within`', 'an operator such as `.where(..)`'],
    others: new Set([
      '`->`',
      '`where`',
      '`as`',
      '`within`',
      'a quantifier',
      '`AND`',
      '`OR`',
      '`[`',
      '`.`',
      '`(`',
      'an operator',
      '`is`',
      '`?`',
    ]),
  },
];

/** Left out when anything else is expected: they may follow nearly everything. */
const commonplace: ReadonlySet<string> = new Set([
  '`is`',
  '`.`',
  '`?`',
  '`(`',
  '`[`',
  '`<`',
  '`asc`',
  '`desc`',
  'a quantifier',
  '`within`',
  '`AND`',
  '`OR`',
]);

function describeExpected(expected: readonly Expectation[]): string[] {
  const all = new Set(expected.flatMap(describe));
  for (const { has, means, others } of groups) {
    if (!all.delete(has)) continue;
    for (const other of others) all.delete(other);
    for (const meaning of means) all.add(meaning);
    if (has === '`partition`') return [...all];
  }
  if (all.has('`)`') || all.has('`,`')) for (const item of ['`where`', '`as`', '`->`', 'an operator']) all.delete(item);
  const telling = [...all].filter((item) => !commonplace.has(item));
  if (telling.length > 1) return telling.filter((item) => item !== 'an operator');
  if (telling.length > 0 || all.size > 2) return telling.length > 0 ? telling : ['an operator'];
  return all.size > 0 ? [...all] : endOf(expected);
}

function endOf(expected: readonly Expectation[]): string[] {
  return expected.some(({ type }) => type === 'end') ? ['the end of the line'] : [];
}

function describe({ type, text, description }: Expectation): string[] {
  if (type === 'literal' && text !== undefined) return [`\`${text}\``];
  return type === 'other' && description !== undefined && description !== 'a blank' ? [description] : [];
}

function alternatives(items: readonly string[]): string {
  const sorted = [...items].sort((a, b) => Number(a.startsWith('`')) - Number(b.startsWith('`')));
  if (sorted.length <= 1) return sorted.join('');
  return `${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}

// ------------------------------------------------------------------------------------------------ hints

interface HintInput {
  readonly rule: string;
  readonly token: string;
  /** The line up to the token, blanks at its end cut off. */
  readonly before: string;
  /** It is the first token of its line. */
  readonly startsLine: boolean;
  readonly after: string;
  readonly wanted: readonly string[];
  readonly expected: readonly Expectation[];
}

function findHint(input: HintInput): string | undefined {
  if (input.token === '') return lineEndHint(input);
  return fixedHints[input.token] ?? beforeHint(input) ?? signHint(input) ?? wordHint(input);
}

const trailingOperator = /(?:->|[-+*/%<>=|&^?,]|\b(?:and|or|not|in|AND|OR))$/;

function lineEndHint({ before, rule, wanted }: HintInput): string | undefined {
  if (trailingOperator.test(before))
    return 'a line does not continue because it ends with an operator: begin the next line with the operator';
  const isBlock = /Head$/.test(rule) || (/^\s*if\b/.test(before) && wanted.includes('`then`'));
  return isBlock && !before.endsWith(':') ? 'a block opens with `:` at the end of the line' : undefined;
}

const nullHint = 'write `null`';
const quotesHint = (quote: string): string => `write plain quotes: \`${quote}\``;

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
  '//': 'a comment with `//` needs a blank before it; `div(a, b)` divides ints',
  ';': 'a statement ends at the end of its line',
  '?': 'there is no `c ? a : b`: write `if c then a else b`',
  '\u201c': quotesHint('"'),
  '\u201d': quotesHint('"'),
  '\u2018': quotesHint("'"),
  '\u2019': quotesHint("'"),
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
  NULL: nullHint,
  None: nullHint,
  nil: nullHint,
  undefined: nullHint,
  xor: 'write `!=` between bools, `^` between ints',
  mod: 'write `%`',
  div: 'write `div(a, b)`',
  like: 'write `regex_match(text, "pattern")`, `starts_with` or `contains`',
  LIKE: 'write `regex_match(text, "pattern")`, `starts_with` or `contains`',
  between: 'write `x >= a and x <= b`',
  BETWEEN: 'write `x >= a and x <= b`',
  contains: 'write `contains(x, y)` or `y in x`',
  matches: 'write `regex_match(text, "pattern")`',
  group: 'write `.partition_by(key)`',
  order: 'write `.order_by(value)`',
  twice: 'write `2 times`',
};

/** What the text before the token gives away. */
function beforeHint({ before, startsLine, token, rule, wanted, expected }: HintInput): string | undefined {
  if (startsLine && wanted.some((item) => /^`[)\]}]`$/.test(item))) return 'a bracket before it is still open';
  const operator = /\.(\w+)$/.exec(before)?.[1];
  if (operator !== undefined && operatorNames.has(operator) && token !== '(')
    return `an operator takes its arguments in parentheses: \`.${operator}(..)\``;
  const source = /\b(timer|merge|sequence|\w*join)$/.exec(before)?.[1];
  if (source !== undefined && rule === 'StreamLine') return `write \`${source}(..)\``;
  if (token === '->' && expected.some(({ text }) => text === 'on'))
    return 'an input is a type or a stream: declare a stream with the pattern and name it here';
  if (rule === 'StreamLine' && /[(,:]\s*\w+\s*->/.test(before) && !/\bas\s+\w+\s*->/.test(before)) return 'a lambda is written `x => e`';
  return undefined;
}

function signHint({ token, before, after, wanted, expected, rule }: HintInput): string | undefined {
  const behind = expected.some(({ description }) => description === 'an operator');
  const field = /\.(?:emit|select|aggregate|trend_aggregate)(?: +as +\w+ *)?\((?:[^()]*,)?\s*(\w+)\s*$/.exec(before)?.[1];
  if (token === '=' && behind && field !== undefined) return `a field is given with a colon: \`${field}: ..\``;
  if (token === '=' && behind) return rule === 'ExpressionLine' ? 'to assign write `:=`, to compare `==`' : 'to compare write `==`';
  if (token === ':=') return 'a name is assigned with `:=` at the start of a statement only';
  if (token === '=' && rule === 'FunctionHead') return 'parameters have no default values';
  if (token === '=' && rule === 'FieldLine')
    return 'fields have no default values: write `name: type?` and `name ?? value` where it is read';
  if (token === '=>' && behind) return 'the parameters of a lambda are names: `x => e`, `(a, b) => e`';
  if (token === '->' && behind) return 'a pattern cannot stand in an expression';
  if (token === ':' && before.includes('f"') && wanted.includes('`}`'))
    return 'an f-string has no formats: write `round(x, 2)` or `format_time(t, ..)`';
  if (token === ',' && /(?:^|[^\w`\])])\([^()]*$/.test(before) && wanted.includes('`)`'))
    return 'there are no tuples: write an array `[a, b]`';
  if (token === ',' && rule === 'StreamLine' && wanted.includes('`->`'))
    return 'several sources are written `merge(A, B)` or `join(A, B)`, a sequence `A -> B`';
  if (token === '{' && rule === 'EventHead') return 'fields follow a `:`';
  if (token === '{' && /^\s*[A-Za-z_]\w*\s*\}/.test(after) && /\w$/.test(before))
    return '`{name}` in a name is filled with the variable of a `for` around it';
  if (token === '+' && wanted.includes('an expression')) return 'there is no unary `+`';
  if (token === '}' && before.includes('f"')) return 'in the text of an f-string a brace is written twice: `}}`';
  if (token === '.' && /^\d/.test(after)) return 'a number begins with a digit: `0.5`';
  if (token === '$') return 'a name begins with a letter or `_`';
  if ((token.codePointAt(0) ?? 0) > 0x7f) return 'a name with other characters is written in backticks';
  return undefined;
}

function wordHint({ token, before, rule, wanted, expected }: HintInput): string | undefined {
  const amount = /(?:^|[^\w.])(\d[\d_]*(?:\.\d+)?)$/.exec(before)?.[1];
  const unit = amount === undefined ? undefined : unitOf(token);
  if (unit !== undefined) return `a duration is one word: write \`${amount}${unit}\``;
  if (/^\d[\d_]*[A-Za-z]/.test(token) && wanted.includes('a name')) return 'a name begins with a letter or `_`';
  if (!/^[A-Za-z_]/.test(token)) return undefined;
  if (isReserved(token)) return reservedHint(token, wanted);
  if (token === 'from' && rule === 'StreamLine' && wanted.includes('`=`')) return 'write `stream Name = Source`';
  if (rule === 'StreamLine' && operatorNames.has(token)) return `an operator begins with a dot: \`.${token}(..)\``;
  const words = expected.flatMap(({ text }) => (text !== undefined && /^[A-Za-z]/.test(text) ? [text] : []));
  const operators = expected.some(({ description }) => description === 'an operator') ? ['and', 'or', 'in', 'is'] : [];
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
  const goesOn = /^[ \t]+(?!(?:and|or|in|is|not|as)\b)["A-Za-z_]|^[ \t]*:(?!=)/.test(next);
  const certain = hint !== undefined && goesOn;
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
