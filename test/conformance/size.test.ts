import { expect, it } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';

/** No program can stop the process: long chains of declarations, and many mistakes. */
const lines = (count: number, line: (index: number) => string): string =>
  `${Array.from({ length: count }, (_, index) => line(index)).join('\n')}\n`;

const right: readonly (readonly [says: string, program: string])[] = [
  [
    'values that each read the one before',
    `${lines(5000, (i) => `let a${i} = ${i === 0 ? '1' : `a${i - 1} + 1`}`)}stream S = A.emit(v: a4999)`,
  ],
  [
    'values that each read the one behind',
    `${lines(5000, (i) => `let a${i} = ${i === 4999 ? '1' : `a${i + 1} + 1`}`)}stream S = A.emit(v: a0)`,
  ],
  [
    'values of a var that each read the one before',
    `var a0 = 1\n${lines(5000, (i) => `let a${i + 1} = a${i} + 1`)}stream S = A.window(5s).aggregate(n: sum(a5000)).emit()`,
  ],
  [
    'values that each read the one before twice',
    `var a0 = 1\n${lines(60, (i) => `let a${i + 1} = a${i} + a${i}`)}stream S = A.window(5s).aggregate(n: sum(a60)).emit()`,
  ],
  [
    'functions that each call the one before',
    `${lines(5000, (i) => `fn f${i}(x): ${i === 0 ? 'x' : `f${i - 1}(x)`}`)}stream S = A.window(5s).aggregate(n: sum(f4999(1))).emit()`,
  ],
  [
    'functions in a ring',
    `${lines(3000, (i) => `fn f${i}(x): f${(i + 1) % 3000}(x)`)}stream S = A.window(5s).aggregate(n: sum(f0(1))).emit()`,
  ],
  ['streams of streams', `${lines(5000, (i) => `stream S${i} = ${i === 0 ? 'A' : `S${i - 1}`}.where(x > 1)`)}`],
  ['an array of 200,000 items in an aggregate', `stream S = A.window(5s).aggregate(n: sum(len([${'1, '.repeat(200_000)}1]))).emit()`],
];

it.each(right)('%s are right', (_, program) => {
  const { diagnostics } = check(new SourceText('p.vpl', program));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('a long ring of values is a cycle', () => {
  const { diagnostics } = check(
    new SourceText(
      'p.vpl',
      lines(3000, (i) => `let a${i} = a${(i + 1) % 3000}`),
    ),
  );
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual(['E008']);
});

it('a value is in no cycle because of a parameter of its name', () => {
  const { diagnostics } = check(
    new SourceText('p.vpl', 'let a = map([1], b => b)\nlet b = a\nfn f(c): c\nlet c = f(b)\nstream S = A.emit(v: c)\n'),
  );
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('3,000 unknown names each come with the nearest one', () => {
  const { diagnostics } = check(
    new SourceText(
      'p.vpl',
      lines(3000, (i) => `let value${i} = valeu${i}`),
    ),
  );
  expect(diagnostics.filter(({ code, hint }) => code === 'E034' && hint?.includes('value') === true)).toHaveLength(3000);
});
