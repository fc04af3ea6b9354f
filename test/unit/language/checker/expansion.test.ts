import { describe, expect, test } from 'vitest';
import { checkText, problems } from './checking.ts';

const streamsOf = (text: string): string[] => checkText(text).program.streams.map(({ name }) => name);

const EVENT = 'event Reading: zone: int, name: str\n';

describe('compile-time for', () => {
  test('repeats its body with the value in names, strings and expressions', () => {
    const { plan } = checkText(`${EVENT}const ZONES = 2
for i in 0..ZONES:
    stream Zone{i} = Reading.where(zone == {i} and name == "z{i}" and name != f"z{i}{{i}}").emit()`);
    expect(plan?.streams.map(({ name }) => name)).toEqual(['Zone0', 'Zone1']);
    expect(JSON.stringify(plan?.streams[1]?.operators[0])).toContain('"value":"z1{i}"');
    expect(JSON.stringify(plan?.streams[1]?.operators[0])).toContain('"value":"z1"');
  });

  test('takes ranges with both ends, counts, lists, and nests', () => {
    const body = '    stream S{i} = Reading.emit()';
    expect(streamsOf(`${EVENT}for i in 1..=3:\n${body}`)).toEqual(['S1', 'S2', 'S3']);
    expect(streamsOf(`${EVENT}for i in 2:\n${body}`)).toEqual(['S0', 'S1']);
    expect(streamsOf(`${EVENT}for i in [5, 7]:\n${body}`)).toEqual(['S5', 'S7']);
    expect(streamsOf(`${EVENT}for i in 3..3:\n${body}`)).toEqual([]);
    expect(streamsOf(`${EVENT}for i in 0..2:\n    for j in {i}..2:\n        stream S{i}{j} = Reading.emit()`)).toEqual([
      'S00',
      'S01',
      'S11',
    ]);
  });

  test('may make every kind of declaration', () => {
    const { plan } = checkText(`for i in 0..2:
    event E{i}: f{i}: int
    const C{i} = {i} * 10
    fn f{i}(x: int): x + C{i}
    stream S{i} = E{i}.where(f{i} > C{i}).emit(v: f{i}(f{i}))`);
    expect(plan?.events.map(({ name, fields }) => `${name} ${fields[0]?.name}`)).toEqual(['E0 f0', 'E1 f1']);
    expect(plan?.functions.map(({ name }) => name)).toEqual(['f0', 'f1']);
  });

  test('one mistake in its body is told once', () => {
    expect(problems(`${EVENT}for i in 0..5:\n    stream S{i} = Reading.where(zon == {i}).emit()`)).toBe(
      '3:33 E034 unknown name `zon`: event `Reading` has no such field (did you mean `zone`?)',
    );
  });

  test('bounds that are unknown, no ints or too far apart are refused', () => {
    const body = '    stream S{i} = Reading.emit()';
    expect(problems(`${EVENT}for i in 0..N:\n${body}`)).toBe('2:13 E034 unknown name `N`');
    expect(problems(`${EVENT}let n = f()\nfn f(): 3\nfor i in 0..n:\n${body}`)).toBe(
      '4:13 E062 this must be known before the program runs (write a literal or a const)',
    );
    expect(problems(`${EVENT}fn f(): 3\nfor i in 0..f():\n${body}`)).toBe(
      '3:13 E062 this must be known before the program runs (write a literal or a const)',
    );
    expect(problems(`${EVENT}for i in 0..1.5:\n${body}`)).toBe('2:10 E062 the bounds of a compile-time `for` are ints');
    expect(problems(`${EVENT}for i in ["a"]:\n${body}`)).toBe('2:10 E062 a compile-time `for` goes over ints: `0..4`, `[1, 3, 5]`');
    expect(problems(`${EVENT}for i in 0..10001:\n${body}`)).toBe(
      '2:10 E095 a compile-time `for` goes over at most 10000 values, not 10001',
    );
  });

  test('too many statements in all are refused', () => {
    const nested = `${EVENT}for i in 0..1000:\n    for j in 0..1000:\n        const C{i}x{j} = 1`;
    expect(problems(nested)).toBe('4:9 E095 the program has more than 100000 statements after expansion');
  });
});

describe('compile-time if', () => {
  const program = (condition: string): string =>
    `${EVENT}const LIMIT = 10\nif ${condition}:\n    stream A = Reading.emit()\nelif LIMIT > 20:\n    stream B = Reading.emit()\nelse:\n    stream C = Reading.emit()`;

  test('takes the first branch whose condition is true', () => {
    expect(streamsOf(program('LIMIT > 5'))).toEqual(['A']);
    expect(streamsOf(program('LIMIT > 15'))).toEqual(['C']);
    expect(streamsOf(program('LIMIT > 15').replace('LIMIT = 10', 'LIMIT = 12 * 2').replace('LIMIT > 15', 'LIMIT == 1'))).toEqual(['B']);
  });

  test('a condition that is no bool or not constant is refused', () => {
    expect(problems(program('LIMIT'))).toBe('3:4 E060 the condition of a compile-time `if` is a bool');
    expect(problems(program('x > 1'))).toBe('3:4 E034 unknown name `x`');
  });

  test('works with the variable of a loop around it', () => {
    expect(streamsOf(`${EVENT}for i in 0..4:\n    if {i} % 2 == 0:\n        stream Even{i} = Reading.emit()`)).toEqual(['Even0', 'Even2']);
  });
});
