import { expect, test } from 'vitest';
import { Duration, Timestamp } from '../../../../shared/events/value.ts';
import { fingerprint } from '../../../../shared/language/plan/fingerprint.ts';
import { checkText } from './checking.ts';

const operators = (text: string): string[] => {
  const { plan, diagnostics } = checkText(text);
  if (!plan) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return plan.streams.flatMap((stream) => stream.operators.map((operator) => operator.fingerprint));
};

test('equal values have equal fingerprints of 26 hex digits, different ones have not', () => {
  const values = [
    null,
    0,
    -0,
    1,
    '1',
    '',
    [],
    [1],
    [[1]],
    {},
    { a: 1 },
    { a: [1] },
    new Map([['a', 1]]),
    new Map([['b', 1]]),
    true,
    Number.POSITIVE_INFINITY,
    new Duration(1),
    new Timestamp(1),
  ];
  const seen = values.map((value) => fingerprint(value));
  expect(new Set(seen).size).toBe(values.length);
  for (const text of seen) expect(text).toMatch(/^[0-9a-f]{26}$/);
  expect(fingerprint({ a: 1, b: [2] })).toBe(fingerprint({ b: [2], a: 1 }));
});

test('where an operator stands and how it is written do not count', () => {
  const event = 'event A: x: int\n';
  expect(operators(`${event}stream S = A.where(x > 60).emit()`)).toEqual(
    operators(`# a comment\n${event}const LIMIT = 6 * 10\n\nstream S = A\n    .filter((x > LIMIT))\n    .emit()`),
  );
  expect(operators(`${event}stream S = A.where(x > 60).emit()`)).not.toEqual(operators(`${event}stream S = A.where(x > 61).emit()`));
});

test('a function counts with its body and not with its place among the others', () => {
  const program = (functions: string) => `event A: x: int\n${functions}stream S = A.where(f(x) > 1).emit()`;
  const one = operators(program('fn f(n: int): n + 1\n'));
  expect(operators(program('fn unrelated(n: int): n\nfn f(n: int): n + 1\n'))).toEqual(one);
  expect(operators(program('fn f(n: int): n + 2\n'))).not.toEqual(one);
  const nested = operators(program('fn f(n: int): g(n)\nfn g(n: int): n + 1\n'));
  expect(operators(program('fn f(n: int): g(n)\nfn g(n: int): n + 2\n'))).not.toEqual(nested);
  expect(operators(program('fn f(n: int):\n    if n < 1:\n        return 1\n    f(n - 1)\n'))).toHaveLength(2);
});

test('a global counts with its name and its value', () => {
  const program = (globals: string) => `event A: x: int\nfn f(): 5\n${globals}stream S = A.where(x > limit).emit()`;
  const one = operators(program('let limit = f()\n'));
  expect(operators(program('let other = f() + 1\nlet limit = f()\n'))).toEqual(one);
  expect(operators(program('let limit = f() + 1\n'))).not.toEqual(one);
});
