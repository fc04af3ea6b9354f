import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { renderDiagnostic } from '../../../../shared/language/diagnostics/render.ts';
import { format } from '../../../../shared/language/format/format.ts';
import { print } from '../../../../shared/language/format/print.ts';
import { bracketDepthMax } from '../../../../shared/language/grammar/layout.ts';
import { errorsMax } from '../../../../shared/language/grammar/line-reader.ts';
import { parse, parseExpression } from '../../../../shared/language/grammar/parse.ts';
import { programs } from '../format/syntax-trees.ts';

/** Parses with a bound on time that only a wrong order of growth can reach on a busy machine. */
function parseQuickly(text: string): { statements: number; messages: string[] } {
  const source = new SourceText('t.vpl', text);
  const started = process.cpuUsage();
  const { program, diagnostics } = parse(source);
  expect(process.cpuUsage(started).user / 1e6).toBeLessThan(6);
  for (const { span, code } of diagnostics) {
    expect(code).toBe('E000');
    expect(span.start).toBeGreaterThanOrEqual(0);
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect(span.start).toBeLessThanOrEqual(text.length);
  }
  diagnostics.slice(0, 5).map(renderDiagnostic);
  return { statements: program.statements.length, messages: diagnostics.map(({ message }) => message) };
}

const many = 50_000;
const mebibyte = 1 << 20;

describe('a text of any size', () => {
  it.each([
    ['a word', `let x = ${'a'.repeat(mebibyte)}`],
    ['a string', `let x = "${'a'.repeat(mebibyte)}"`],
    ['escapes', `let x = "${'\\n'.repeat(mebibyte / 2)}"`],
    ['an f-string', `let x = f"${'{a}b'.repeat(mebibyte / 8)}"`],
    ['blanks', `let x = ${' '.repeat(mebibyte)}1`],
    ['an array', `let x = [${'a, '.repeat(mebibyte / 3)}]`],
    ['arguments', `stream X = A.emit(${'a: b, '.repeat(mebibyte / 8)})`],
    ['lines', '\n'.repeat(mebibyte)],
    ['comments', '# a\n'.repeat(mebibyte / 4)],
    ['block comments', '/**/'.repeat(mebibyte / 4)],
    ['statements in a line', `fn f(): ${'x := 1; '.repeat(5000)}`],
    ['a sequence', `stream X = A${' -> A'.repeat(many)}`],
    ['operators', `stream X = A${'\n    .where(a)'.repeat(many)}`],
    ['conditions of a step', `stream X = A ${'where a '.repeat(many)} -> B`],
    ['a dotted name', `stream X = A${'.b'.repeat(many)}`],
    ['additions', `let x = a${'+a'.repeat(many)}`],
    ['conjunctions', `stream X = A.where(a ${'and a '.repeat(many)})`],
    ['alternatives', `stream X = A.where(a ${'or a '.repeat(many)})`],
    ['`else if`s', `let x = ${'if a then b else '.repeat(many)}1`],
  ])('is read when it is made of %s', (_, text) => {
    expect(parseQuickly(text).messages).toEqual([]);
  });

  it.each([
    ['members', `let x = a${'.b'.repeat(many)}`],
    ['indexes', `let x = a${'[1]'.repeat(many)}`],
    ['calls', `let x = a${'(1)'.repeat(many)}`],
    ['minus signs', `let x = ${'-'.repeat(many)}1`],
    ['`not`s', `let x = ${'not '.repeat(many)}a`],
    ['powers', `let x = a${' ** a'.repeat(many)}`],
    ['lambdas', `let x = ${'x => '.repeat(many)}1`],
    ['`then if`s', `let x = ${'if a then '.repeat(many)}1${' else 2'.repeat(many)}`],
    ['optional types', `let x: int${'?'.repeat(many)} = 1`],
    ['generic types', `let x: ${'A<'.repeat(many)}int${'>'.repeat(many)} = 1`],
    ['blocks on a line', `fn f():${' if a:'.repeat(many)} return 1`],
    ['loops on a line', 'for i in 0..2: '.repeat(many)],
    ['indented blocks', Array.from({ length: 1200 }, (_, depth) => `${' '.repeat(depth)}if a:`).join('\n')],
  ])('is refused when it is too deep in %s', (_, text) => {
    expect(parseQuickly(text).messages[0]).toMatch(/nested more than \d+ deep/);
  });

  it('is told once when many indented blocks are too deep', () => {
    const blocks = (depth: number): string =>
      `fn f():\n${Array.from({ length: depth }, (_, at) => `${' '.repeat(at + 1)}if a:\n`).join('')}${' '.repeat(depth + 1)}return 1\n`;
    expect(parseQuickly(blocks(98)).messages).toEqual([]);
    for (const depth of [99, 150]) expect(parseQuickly(blocks(depth)).messages).toEqual(['blocks are nested more than 100 deep']);
  });

  it.each([
    ['parentheses', '(', ')'],
    ['arrays', '[', ']'],
    ['maps', '{a: ', '}'],
    ['calls', 'f(', ')'],
    ['lambdas', 'f(x => ', ')'],
    ['blocks', 'x => { ', '}'],
    ['f-strings', 'f"{', '}"'],
    ['filters', 'f(g() where ', ')'],
  ])('is refused when it nests too many %s, read when not', (_, open, close) => {
    for (const depth of [many, bracketDepthMax + 1]) {
      expect(parseQuickly(`let x = ${open.repeat(depth)}1${close.repeat(depth)}`).messages).toEqual([
        `brackets are nested more than ${bracketDepthMax} deep`,
      ]);
    }
    const depth = Math.floor(bracketDepthMax / open.replace(/[^([{]/g, '').length);
    expect(parseQuickly(`let x = ${open.repeat(depth)}1${close.repeat(depth)}`).messages).toEqual([]);
    expect(parseQuickly(`let x = ${open.repeat(depth)}$${close.repeat(depth)}`).messages).toHaveLength(1);
    expect(parseQuickly(`let x = ${open.repeat(many)}`).messages).not.toEqual([]);
  });

  it.each([
    ['groups', '(A -> ', 'B', ')'],
    ['calls', 'AND(A, ', 'B', ')'],
    ['forks', 'A.fork(a: .fork(', 'a: .where(x)', '))'],
  ])('is refused when a pattern nests too many %s, read when not', (_, open, core, close) => {
    const at = (depth: number): string => `stream X = A -> ${open.repeat(depth)}${core}${close.repeat(depth)}`;
    expect(parseQuickly(at(many)).messages).toEqual([`brackets are nested more than ${bracketDepthMax} deep`]);
    if (core === 'B') expect(parseQuickly(at(bracketDepthMax)).messages).toEqual([]);
    expect(parseQuickly(at(bracketDepthMax).replace('B', '$')).messages).toHaveLength(1);
  });

  it.each([
    ['closing brackets', 'let x = ]\n'.repeat(many)],
    ['mixed brackets', `let x = ${'('.repeat(many)}${']'.repeat(many)}`],
    ['quotes', '"\n'.repeat(mebibyte / 2)],
    ['unknown statements', 'x\n'.repeat(mebibyte / 2)],
    ['null characters', '\0'.repeat(mebibyte)],
    ['halves of surrogate pairs', '\ud800\n'.repeat(mebibyte / 2)],
    ['comparisons', `let x = a${' < a'.repeat(many)}`],
    ['bad escapes', `let x = "${'\\q'.repeat(mebibyte / 2)}"`],
    ['digits', `let x = ${'1'.repeat(mebibyte)}`],
    ['durations', `let x = ${'1h'.repeat(mebibyte / 4)}`],
    ['backslashes', '\\'.repeat(mebibyte)],
    ['at signs', '@'.repeat(mebibyte)],
  ])('gives a bounded number of errors for %s', (_, text) => {
    const { messages } = parseQuickly(text);
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.length).toBeLessThanOrEqual(errorsMax);
  });

  it('is read in a second or two when it has 10,000 streams', () => {
    const streams = Array.from(
      { length: 10_000 },
      (_, index) => `stream S${index} = Tick\n    .where(price > ${index} and symbol == "A")\n    .emit(symbol: symbol, price: price * 2)`,
    );
    expect(parseQuickly(streams.join('\n'))).toEqual({ statements: 10_000, messages: [] });
  });
});

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...'stream event pattern fn let var if elif else for in test at expect A as a -> B where within partition by not NOT AND OR SEQ ( ) [ ] { } : , . .where( .emit( = == := + - ** => "s" \'r\' f"{ }" " \' ` # // /* */ 1 5m @2026-01-01 null \n \n\n \n\t ? + * {i} \\ ; é 😀 \0 \ud800'.split(
      ' ',
    ),
    '\n    ',
    '\n  ',
    ' ',
  );
  const checkAll = (text: string): void => {
    parseQuickly(text);
    parseExpression(new SourceText('t.vpl', text));
    format(new SourceText('t.vpl', text));
  };

  it('never throws and ends quickly', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), checkAll), { numRuns: 300 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => checkAll(new TextDecoder().decode(bytes))),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => checkAll(parts.join(' '))),
      { numRuns: 600 },
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => checkAll(parts.join(''))),
      { numRuns: 600 },
    );
  }, 120_000);

  it('ends quickly when forms that begin alike are nested and the innermost is broken', () => {
    const openings = [
      'A -> B.pattern(',
      'A -> (B.x(',
      'A -> B[f(',
      'A -> B within f(',
      'A -> B where f(',
      'A -> B partition by f(',
      'A -> NOT(B.x(',
      'A -> all B+.x(',
      'AND(A, B -> C.x(',
      'sequence(a: A.x(',
      'merge(A.x(',
      'A.fork(a: .x(A -> B.x(',
      'A.not(X where f(',
      'A.emit as T (A -> B.emit as T (',
      'f(a, {b: [',
      'f(x => {let y = (',
      'f((a, b) => (',
      'count() where (',
      '{a: if (',
      'x[f"{',
      '-(not (',
    ];
    const nested = fc.tuple(
      fc.array(fc.constantFrom(...openings), { minLength: 1, maxLength: 40 }),
      fc.constantFrom('$', 'A -> $', 'x', '', ')'),
      fc.boolean(),
    );
    fc.assert(
      fc.property(nested, ([opens, core, closed]) => {
        const open = opens.join('');
        const closers = [...open.replace(/[^([{]/g, '')].reverse().map((bracket) => ({ '(': ')', '[': ']', '{': '}' })[bracket]);
        const close = closers.join('').replaceAll('}]', '}"]');
        const started = process.cpuUsage();
        parse(new SourceText('t.vpl', `stream X = ${open}${core}${closed ? close : ''}`));
        expect(process.cpuUsage(started).user / 1e6).toBeLessThan(1);
      }),
      { numRuns: 400 },
    );
  }, 120_000);

  it('never throws and ends quickly when it is a program with a piece taken out, put in or doubled', () => {
    const mutation = fc.tuple(fc.nat(), fc.nat(40), pieces, fc.constantFrom('cut', 'insert', 'double'));
    fc.assert(
      fc.property(programs, fc.array(mutation, { minLength: 1, maxLength: 4 }), (program, mutations) => {
        checkAll(mutations.reduce(mutate, print(program)));
      }),
      { numRuns: 150 },
    );
  }, 120_000);
});

function mutate(text: string, [at, length, piece, how]: readonly [number, number, string, string]): string {
  const start = at % (text.length + 1);
  if (how === 'cut') return text.slice(0, start) + text.slice(start + length);
  return text.slice(0, start) + (how === 'insert' ? piece : text.slice(start, start + length)) + text.slice(start);
}
