import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from '../../../../shared/language/grammar/generated/parser.js';
import type { Notes } from '../../../../shared/language/grammar/notes.ts';

type Rule = 'ExpressionLine' | 'StreamLine';

const tokens =
  'a b1 f_ true null not and or in is if then else x => ( ) [ ] { } . ?. , : := "t" "a\\"b" \'r\' \'\'\'\' f"x" f"{a}" "open 1 2.5 1h 3e2 @2026-01-31 + - * ** == != < <= >> & | ?? .. ..= ~ ! -> where as asc desc merge stream partition by within `q r` all NOT AND SEQ \n \x01'.split(
    / (?!r`)/,
  );
const samples = [
  'a(b, c: 1 desc).f[1:2] ?? -1.5',
  'x => x + 1h',
  '(a, b) => { let c = a; c * b }',
  'if a then -b else not c ',
  "(a in ['x', \"y\"]) is not null and !f(g(b1), 'r''r')",
  '{a: 1, "b": [2, @2026-01-31]}?.a or `q r` == f"x{a}y"',
  "not f(a: 1.5 + -b1, c.d <= 'r''r',) and (a in b or not b1 == true)",
  'f_(a(b).c(null), 1h30m) - 2 * 3e2 % b1 / 4 != (5) or a.if > "t"',
];
const streams = [
  'A -> NOT B[x > 1] as b -> all C{2,} where y == b.x within 1m',
  'merge(stream a = A.where(b), B)',
  'AND(A, OR(B as b, C)) partition by k',
];

/** A right line, with a token put in, in the place of another one, or taken out. */
const lines = fc.tuple(fc.constantFrom(...samples, ...streams), fc.nat(), fc.constantFrom(...tokens, ''), fc.boolean(), fc.boolean());

test('a line is read alike in the first reading, which tries less, and in the second one', () => {
  let right = 0;
  const property = fc.property(lines, ([line, place, token, replaces, isStream]) => {
    const parts = line.split(/(?<=\W)|(?=\W)/);
    if (place > 0) parts.splice(place % parts.length, replaces ? 1 : 0, token);
    const text = parts.join('');
    const isSource = streams.includes(line);
    const rule = isSource || isStream ? 'StreamLine' : 'ExpressionLine';
    const input = isSource ? `stream S = ${text}` : isStream ? `stream S = A\x01where(${text})` : text;
    const first = readingOf(input, rule, 1);
    if (first !== null) right++;
    expect(first).toEqual(readingOf(input, rule, 0));
  });
  const whole = [...samples, ...streams].flatMap((line): [[string, number, string, boolean, boolean]][] => [
    [[line, 0, '', false, false]],
    [[line, 0, '', false, true]],
  ]);
  fc.assert(property, { numRuns: 2_000, examples: whole });
  expect(right, 'many of the texts are lines').toBeGreaterThan(100);
});

/** What is read, and what was noted; null = it is no such line. */
function readingOf(input: string, startRule: Rule, silentFails: number): unknown {
  const said: unknown[] = [];
  const notes: Notes = {
    report: (...note) => void said.push(note),
    fail: (...note) => {
      throw Object.assign(new Error('refused'), { note });
    },
  };
  try {
    return { tree: parse(input, { startRule, base: 0, holes: null, notes, peg$silentFails: silentFails } as { startRule: Rule }), said };
  } catch (error) {
    const { note } = error as { readonly note?: unknown };
    return note === undefined ? null : { note };
  }
}
