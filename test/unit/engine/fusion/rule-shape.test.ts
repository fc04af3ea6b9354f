import { describe, expect, test } from 'vitest';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { RuleShapes } from '../../../../worker/engine/fusion/rules/rule-shape.ts';

const EVENT = 'event Login:\n    user: str\n    attempts: int\n\n';

function planOf(streams: readonly string[]): Plan {
  const { plan } = check(new SourceText('rules.vpl', EVENT + streams.map((stream, at) => `stream S${at} = Login${stream}`).join('\n')));
  if (plan === null) throw new Error('the program has errors');
  return plan;
}

/** Streams by the shape that each has: `known` says whether those before it are remembered. */
function shapesOf(streams: readonly string[], known: boolean): readonly (string | undefined)[] {
  const all = new RuleShapes(() => null);
  const shapes = planOf(streams).streams.map((stream) => (known ? all : new RuleShapes(() => null)).of(stream, null));
  return shapes.map((shape) => shape?.key);
}

const different = [
  '.where(user == "a" and attempts > 3).emit(user: user)',
  '.where(user == "a" and attempts >= 3).emit(user: user)',
  '.where(user == "a" and attempts > 3).emit(who: user)',
  '.where(user == "a" and attempts > 3).emit(user: user, n: 1)',
  '.where(user == "a" and true == (attempts > 3)).emit(user: user)',
  '.where(attempts > 3 and user == "a").emit(user: user)',
  '.where(user == "a" or attempts > 3).emit(user: user)',
  '.where(attempts > 3).emit(user: user)',
  '.select(user: user).where(user == "a").emit(user: user)',
  '.where(user == "a" and attempts > 3).emit()',
];

describe('a shape', () => {
  test('is the same for streams that differ in names, texts and numbers, in whose order its constants stand', () => {
    const streams = planOf([
      '.where(user == "a" and attempts > 3).emit(user: user, n: 1)',
      '.where(user == "b" and attempts > 40).emit(user: user, n: 2)',
    ]).streams;
    const shapes = new RuleShapes(() => null);
    const [first, second] = streams.map((stream) => shapes.of(stream, null));
    expect(second?.key).toBe(first?.key);
    expect(first?.constants.map(({ value }) => value)).toEqual(['a', 3, 1]);
    expect(second?.constants.map(({ value }) => value)).toEqual(['b', 40, 2]);
  });

  test('differs for whatever differs otherwise', () => {
    expect(new Set(shapesOf(different, true)).size).toBe(different.length);
  });

  test('is the same whether it is compared with those before it or written down', () => {
    const streams = [...different, ...different, ...[...different].reverse()];
    expect(shapesOf(streams, true)).toEqual(shapesOf(streams, false));
  });
});
