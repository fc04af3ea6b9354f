import { describe, expect, it } from 'vitest';
import { errorLines, grouped, read, readAs, readExpression } from './reading.ts';

describe('literals', () => {
  it.each([
    ['42', 42, 'int'],
    ['1_000', 1000, 'int'],
    ['0', 0, 'int'],
    ['9007199254740991', Number.MAX_SAFE_INTEGER, 'int'],
    ['1.5', 1.5, 'float'],
    ['1e3', 1000, 'float'],
    ['2.5e-3', 0.0025, 'float'],
    ['1_0.2_5', 10.25, 'float'],
  ])('reads the number %s', (text, value, type) => {
    expect(readExpression(text)).toMatchObject({ kind: 'NumberLiteral', value, type, text });
  });

  it.each([
    ['"a b"', 'a b'],
    ['"\\n\\t\\r\\"\\\\"', '\n\t\r"\\'],
    ['"\\u{e9}\\u{1F600}"', 'é😀'],
    ['"{expr}"', '{expr}'],
    ['""', ''],
    ['"# no comment // nor this /* nor this */"', '# no comment // nor this /* nor this */'],
    ["'C:\\Windows'", 'C:\\Windows'],
    ["'it''s'", "it's"],
    ["''", ''],
    ["'\"'", '"'],
  ])('reads the string %s', (text, value) => {
    expect(readExpression(text)).toMatchObject({ kind: 'StringLiteral', value, raw: text.startsWith("'") });
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['1h30m15s', 5_415_000],
    ['250us', 0.25],
    ['1ns', 0.000001],
    ['0s', 0],
    ['1_000ms', 1000],
    ['1.5s', 1500],
  ])('reads the duration %s', (text, ms) => {
    expect(readExpression(text)).toMatchObject({ kind: 'DurationLiteral', ms, text });
  });

  it.each([
    ['@2026-01-31', Date.UTC(2026, 0, 31)],
    ['@2026-01-31T10:00:00Z', Date.UTC(2026, 0, 31, 10)],
    ['@2026-01-31T10:00:00', Date.UTC(2026, 0, 31, 10)],
    ['@2026-01-31T10:00Z', Date.UTC(2026, 0, 31, 10)],
    ['@2026-01-31T10:00:00.25Z', Date.UTC(2026, 0, 31, 10, 0, 0, 250)],
    ['@2026-01-31T10:00:00+02:30', Date.UTC(2026, 0, 31, 7, 30)],
    ['@2026-01-31T10:00:00-02:30', Date.UTC(2026, 0, 31, 12, 30)],
    ['@1969-12-31', Date.UTC(1969, 11, 31)],
    ['@2000-02-29', Date.UTC(2000, 1, 29)],
    ['@0001-01-01', new Date('0001-01-01T00:00:00Z').getTime()],
  ])('reads the timestamp %s', (text, ms) => {
    expect(readExpression(text)).toMatchObject({ kind: 'TimestampLiteral', ms, text });
  });

  it('keeps a fraction of a millisecond to the microsecond', () => {
    expect(readExpression('@1970-01-01T00:00:00.000250Z')).toMatchObject({ ms: 0.25 });
  });

  it('reads true, false and null', () => {
    expect(readExpression('[true, false, null]')).toMatchObject({
      items: [{ kind: 'BoolLiteral', value: true }, { kind: 'BoolLiteral', value: false }, { kind: 'NullLiteral' }],
    });
  });

  it('reads arrays and maps with a trailing comma', () => {
    expect(readExpression('[1, 2,]')).toMatchObject({ kind: 'ArrayLiteral', items: [{ value: 1 }, { value: 2 }] });
    expect(readExpression('{k: 1, "a b": 2, `c-d`: 3, null: 4,}')).toMatchObject({
      kind: 'MapLiteral',
      entries: [
        { key: 'k', quoted: false },
        { key: 'a b', quoted: true },
        { key: 'c-d', quoted: true },
        { key: 'null', quoted: false },
      ],
    });
    expect(readExpression('{}')).toMatchObject({ kind: 'MapLiteral', entries: [] });
  });

  it('reads an f-string with expressions, doubled braces and escapes', () => {
    expect(readExpression('f"x={x + 1}, {{y}} \\u{e9}\\"{g("}")}"')).toMatchObject({
      kind: 'TemplateLiteral',
      parts: ['x=', { kind: 'Binary' }, ', {y} é"', { kind: 'Call' }],
    });
    expect(readExpression('f""')).toMatchObject({ parts: [] });
    expect(readExpression('f"{f"{f"{a}"}"}"')).toMatchObject({ parts: [{ parts: [{ parts: [{ name: 'a' }] }] }] });
  });
});

describe('precedence', () => {
  it.each([
    ['a or b and c', '(a or (b and c))'],
    ['a and b or c', '((a and b) or c)'],
    ['not a == b', '(not (a == b))'],
    ['not a and b', '((not a) and b)'],
    ['not not a', '(not (not a))'],
    ['!a && b || c', '(((not a) and b) or c)'],
    ['a ?? b or c', '(a ?? (b or c))'],
    ['a ?? b ?? c', '((a ?? b) ?? c)'],
    ['a == b | c', '(a == (b | c))'],
    ['a | b ^ c & d << e + f * g', '(a | (b ^ (c & (d << (e + (f * g))))))'],
    ['a - b - c', '((a - b) - c)'],
    ['a / b * c % d', '(((a / b) * c) % d)'],
    ['-a * b', '((- a) * b)'],
    ['a * -b', '(a * (- b))'],
    ['--a', '(- (- a))'],
    ['~a + 1', '((~ a) + 1)'],
    ['-a ** b', '(- (a ** b))'],
    ['a ** -b', '(a ** (- b))'],
    ['a ** b ** c', '(a ** (b ** c))'],
    ['2 ** -a ** b', '(2 ** (- (a ** b)))'],
    ['a ** b * c', '((a ** b) * c)'],
    ['-a.b', '(- a.b)'],
    ['a in b and c not in d', '((a in b) and (c not in d))'],
    ['a is null or b is not null', '((a is null) or (b is not null))'],
    ['a + 1 is null', '((a + 1) is null)'],
    ['not a is null', '(not (a is null))'],
    ['a..b', '(a..b)'],
    ['0..=n + 1', '(0..=(n + 1))'],
    ['a ?? 1..b', '((a ?? 1)..b)'],
    ['if a then b else c + 1', '(if a then b else (c + 1))'],
    ['if a then b else if c then d else e', '(if a then b else (if c then d else e))'],
    ['if a then if b then c else d else e', '(if a then (if b then c else d) else e)'],
    ['x => x + 1', '(x => (x + 1))'],
    ['(a, b) => a ?? b', '(a, b => (a ?? b))'],
    ['() => 1', '( => 1)'],
    ['x => y => x', '(x => (y => x))'],
    ['x => if x then 1 else 2', '(x => (if x then 1 else 2))'],
    ['(a + b) * c', '((a + b) * c)'],
    ['a.b?.c[d][e:f][:g][h:][:](i, j)', 'a.b?.c[d][e:f][:g][h:][:](i, j)'],
    ['a.first().b', 'a.first().b'],
    ['1.abs()', '1.abs()'],
    ['a\n.b\n?.c', 'a.b?.c'],
    ['a-b', '(a - b)'],
    ['a<b', '(a < b)'],
    ['a!=b', '(a != b)'],
    ['a in[1]', '(a in ArrayLiteral)'],
  ])('groups %s', (text, expected) => {
    expect(grouped(text)).toBe(expected);
  });

  it.each(['a < b < c', 'a == b != c', 'a in b in c', 'a is null == b', 'a < b is null'])('refuses the chain %s', (text) => {
    expect(errorLines(`let x = ${text}`)).toEqual([expect.stringContaining('comparisons do not chain')]);
  });
});

describe('names', () => {
  it('keeps words whole', () => {
    expect(readExpression('notes')).toMatchObject({ kind: 'Name', name: 'notes' });
    expect(grouped('android or orange and iffy')).toBe('(android or (orange and iffy))');
    expect(grouped('nullable in index')).toBe('(nullable in index)');
  });

  it('takes every word but the reserved ones', () => {
    const words =
      'all any first last as in where within partition by event stream pattern let var const fn for while emit is AND OR NOT SEQ merge join timer f';
    for (const word of words.split(' '))
      expect(grouped(`${word} + x.${word}(${word}: 1)[${word}]`)).toBe(`(${word} + x.${word}(1)[${word}])`);
    for (const word of ['true', 'false', 'null', 'and', 'or', 'not', 'if', 'then', 'else']) {
      expect(errorLines(`let ${word} = 1`)).not.toEqual([]);
      expect(grouped(`x.${word}`)).toBe(`x.${word}`);
    }
  });

  it('takes names in backticks', () => {
    expect(readExpression('`cs-uri-query`')).toMatchObject({ kind: 'Name', name: 'cs-uri-query', quoted: true });
    expect(readExpression('p.`sc-status`')).toMatchObject({ kind: 'Member', name: { text: 'sc-status', quoted: true } });
    expect(readExpression('`null`')).toMatchObject({ kind: 'Name', name: 'null' });
  });
});

describe('calls', () => {
  it('takes positional and named arguments, filters and trailing commas', () => {
    expect(readExpression('f(a, n: 2, count() where s == "x",)')).toMatchObject({
      arguments: [
        { name: null },
        { name: { text: 'n' } },
        { value: { kind: 'Filtered', call: { kind: 'Call' }, condition: { kind: 'Binary' } } },
      ],
    });
    expect(readExpression('(count() where a) / count()')).toMatchObject({
      left: { kind: 'Parenthesized', expression: { kind: 'Filtered' } },
    });
  });

  it('does not take a bracket on the next line as a call', () => {
    expect(readExpression('x => {\n let y = a\n (b)\n}')).toMatchObject({
      body: { kind: 'Block', statements: [{}, { kind: 'ExpressionStatement' }] },
    });
  });

  it('takes a lambda with a block, a map or an expression as its body', () => {
    expect(readExpression('f(x => { let y = 1; y + x })')).toMatchObject({
      arguments: [{ value: { body: { kind: 'Block', statements: [{ kind: 'BindingDeclaration' }, { kind: 'ExpressionStatement' }] } } }],
    });
    expect(readExpression('f(x => {\n  var y = 1\n  y := y + x\n  y\n})')).toMatchObject({
      arguments: [{ value: { body: { statements: [{}, { kind: 'AssignmentStatement' }, {}] } } }],
    });
    expect(readExpression('x => { x }')).toMatchObject({ body: { kind: 'Block' } });
    expect(readExpression('x => { a: x }')).toMatchObject({ body: { kind: 'MapLiteral' } });
    expect(readExpression('x => {}')).toMatchObject({ body: { kind: 'MapLiteral' } });
    expect(readExpression('x => { {a: 1} }')).toMatchObject({
      body: { kind: 'Block', statements: [{ expression: { kind: 'MapLiteral' } }] },
    });
  });
});

describe('spans', () => {
  const text = 'let x = a.b(1) + "é"[0:2]  # c';

  it('cover the text of a node and nothing around it', () => {
    const { value, span, name } = readAs('BindingDeclaration', text);
    const at = ({ start, end }: { start: number; end: number }): string => text.slice(start, end);
    expect(at(span)).toBe('let x = a.b(1) + "é"[0:2]');
    expect(at(name.span)).toBe('x');
    expect(at(value.span)).toBe('a.b(1) + "é"[0:2]');
    expect(value).toMatchObject({ kind: 'Binary' });
    if (value.kind !== 'Binary') return;
    expect(at(value.left.span)).toBe('a.b(1)');
    expect(at(value.right.span)).toBe('"é"[0:2]');
  });

  it('count from the start of the file, through comments', () => {
    const source = '/* é\n */ let a = 1 // x\nlet b = (/* y */ 2)';
    const [, second] = read(source).statements;
    expect(source.slice(second?.span.start, second?.span.end)).toBe('let b = (/* y */ 2)');
  });
});
