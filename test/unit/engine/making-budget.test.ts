import { afterAll, describe, expect, test } from 'vitest';
import type { InputEvent } from '../../../shared/events/event.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { limits } from '../../../shared/limits.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { expectAlike } from '../../reference/seen.ts';

/** What is counted does not depend on the limit, so most of it is shown at a small one. */
const shipped = limits.evaluationWordsMax;
const small = shipped / 32;
setLimit(small);
afterAll(() => setLimit(shipped));

function setLimit(words: number): void {
  (limits as { evaluationWordsMax: number }).evaluationWordsMax = words;
}

const EVENT = 'event E:\n    n: int\n';

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('p.vpl', EVENT + text));
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  return plan as Plan;
}

function eventOf(n: number, at: number): InputEvent {
  return { type: 'E', fields: new Map([['n', n]]), fallbackTime: at };
}

/** What every way of running sees of a little, of too much, and of a little again. */
function seenOf(text: string, little: number, much: number): string[] {
  return expectAlike(planOf(text), [little, much, little].map(eventOf), { text });
}

const tooMuch = new RegExp(
  `one evaluation may make at most ${small} words of arrays, maps and texts \\(8 bytes each\\), and this one would make \\d+: `,
);

describe('what one evaluation makes is counted, and too much of it is a failure', () => {
  test.each([
    ['pushed arrays', 'push(a, x)'],
    ['reversed arrays', 'reverse(a)'],
    ['slices', 'a[1:]'],
    ['pairs', 'zip(a, a)'],
    ['split texts', 'split(t, ",")'],
    ['joined texts', '(t + "x")'],
    ['templates', 'f"{t}!"'],
    ['upper-case texts', 'upper(t + "a")'],
  ])('%s in a loop of a function', (_what, made) => {
    const text = `fn f(n: int) -> int:\n    let a = range(10000)\n    let t = join(a, ",")\n    return len(map(range(n), x => len(${made})))\nstream S = E.emit(x: f(n))\n`;
    const [first, second, third] = seenOf(text, 2, 600);
    expect(first).toBe('S S 0 {"x":2}');
    expect(second).toMatch(tooMuch);
    expect(third).toBe('S S 2 {"x":2}');
  });

  test.each([
    ['maps', '{a: {b: y}}'],
    ['arrays', '[[y], [y]]'],
  ])('nested %s of a lambda', (_what, made) => {
    const text = `stream S = E.emit(x: len(map(range(n), x => map(range(1000), y => ${made}))))\n`;
    const [first, second, third] = seenOf(text, 2, 200);
    expect([first, third]).toEqual(['S S 0 {"x":2}', 'S S 2 {"x":2}']);
    expect(second).toMatch(tooMuch);
  });

  test('in one expression without a loop, and for each expression anew', () => {
    const ranges = (count: number): string => `len([${Array.from({ length: count }, () => '(0..n)').join(', ')}])`;
    const text = `stream Many = E.where(${ranges(52)} > 0).emit(n: n)\nstream Few = E.emit(x: ${ranges(26)}, y: ${ranges(26)})\n`;
    const seen = seenOf(text, 1, 31_250);
    expect(seen.filter((line) => line.startsWith('Few'))).toEqual([0, 1, 2].map((time) => `Few Few ${time} {"x":26,"y":26}`));
    expect(seen.filter((line) => tooMuch.test(line))).toHaveLength(1);
  });

  const pushing =
    'fn f(n: int) -> int:\n    var xs = []\n    for i in 0..n:\n        xs := push(xs, i)\n    return len(xs)\nstream S = E.emit(x: f(n))\n';

  test('in a loop that pushes, each copy', () => {
    const [first, second] = seenOf(pushing, 1_700, 1_800);
    expect(first).toBe('S S 0 {"x":1700}');
    expect(second).toMatch(tooMuch);
  });

  test('at the limit as it is shipped, where a loop of ten thousand pushes is not too much', () => {
    setLimit(shipped);
    try {
      const seen: unknown[] = [];
      const engine = createEngine(planOf(pushing), {
        output: ({ fields }) => seen.push(fields.get('x')),
        log: ({ message }) => seen.push(message),
      });
      for (const [at, n] of [10_000, 11_000].entries()) engine.push(eventOf(n, at));
      expect(seen).toEqual([10_000, expect.stringContaining(`at most ${shipped} words`)]);
    } finally {
      setLimit(small);
    }
  });
});
