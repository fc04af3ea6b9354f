import { describe, expect, test } from 'vitest';
import type { OperatorPlan, StreamPlan } from '../../../../../shared/language/plan/plan.ts';
import { checkText } from '../checking.ts';

const events = 'event A:\n    k: int\n    v: float\nevent B:\n    k: int\n    v: float\n';

function streamOf(text: string): StreamPlan {
  const stream = checkText(`${events}${text}`).plan?.streams.at(-1);
  if (!stream) throw new Error(`no plan: ${text}`);
  return stream;
}

function identities(text: string): readonly string[] {
  const { source, operators } = streamOf(text);
  const own = source.kind === 'pattern' ? [source.pattern.fingerprint] : source.kind === 'join' ? [source.fingerprint] : [];
  return [...own, ...operators.map((operator: OperatorPlan) => operator.fingerprint)];
}

describe('the identity of an operator', () => {
  test.each([
    ['A.where(v > 1 and k == 2)', 'A\n    .filter(x => x.v > 1.0\n        and (k == 2))'],
    ['A.window(1m).aggregate(n: count(), s: sum(v))', 'A as a\n    .window(60s)\n    .aggregate(n: count(), s: sum(a.v))'],
    ['A.first()', 'A.limit(1)'],
    ['A as a -> B where k == a.k as b within 1m', 'A as a -> B[b.k == a.k] as b .within(60s)'],
    ['join(A, B).on(A.k == B.k).window(1m)', 'join(A, B)\n    .window(60s)\n    .on(A.k == B.k)'],
    ['A.partition_by(k).limit(3)', 'A.limit(3).partition_by(k)'],
  ])('is that of its meaning: %s', (one, other) => {
    expect(identities(`stream S = ${one}`)).not.toEqual([]);
    expect(identities(`stream S = ${other}`)).toEqual(identities(`stream S = ${one}`));
  });

  test.each([
    ['A.where(v > 1)', 'A.where(v > 2)'],
    ['A.window(1m).aggregate(n: count())', 'A.window(1m).aggregate(m: count())'],
    ['A.window(1m)', 'A.window(1m, sliding: 30s)'],
    ['A.limit(3)', 'A.limit(4)'],
    ['A as a -> B within 1m', 'A as a -> B within 2m'],
    ['A as a -> B within 1m', 'A as a -> B+ within 1m'],
    ['A as a -> B .within(1m)', 'A as a -> B .within(1m).strict()'],
    ['A as a -> B .within(1m)', 'A as a -> B .within(1m).not(A where k == a.k)'],
    ['join(A, B).on(A.k == B.k).window(1m)', 'join(A, B).on(A.k == B.k and A.v > B.v).window(1m)'],
  ])('differs where the meaning does: %s and %s', (one, other) => {
    expect(identities(`stream S = ${other}`)).not.toEqual(identities(`stream S = ${one}`));
  });

  test('of a named pattern is that of the pattern', () => {
    expect(identities('pattern P = A as a -> B as b within 1m\nstream S = P')).toEqual(identities('stream S = A as a -> B as b within 1m'));
  });
});

describe('the text of an operator', () => {
  test('is a call, however it was written', () => {
    const texts = (text: string): readonly string[] => streamOf(text).operators.map((operator) => operator.text);
    expect(texts('stream S = A where v > 1 as a\n    .emit as B (k,\n        v)')).toEqual(['where(v > 1)', 'emit as B (k, v)']);
    expect(texts('pattern P = A where v > 1\nstream S = P.window(1m)\n    .aggregate(n: count())')).toEqual([
      'where(v > 1)',
      'window(1m).aggregate(n: count())',
    ]);
  });
});

describe('the key of a stream', () => {
  test('has each part once, under a name of its own', () => {
    const names = (text: string): readonly string[] => streamOf(text).partition.keys.map(({ name }) => name);
    expect(names('stream S = A as a -> B as b within 1m partition by k, k')).toEqual(['k']);
    expect(names('stream S = join(A, B).on(A.k == B.k).window(1m).partition_by(A.v, B.v, A.v).limit(1)')).toEqual(['v', 'B.v']);
    expect(names('stream S = A.partition_by(k, half: v / 2, v * 2)')).toEqual(['k', 'half', 'v * 2']);
  });
});

describe('an operator without state', () => {
  /** In a program with variables all is made at once. */
  const written = (stream: string, before = ''): readonly (readonly string[])[] =>
    streamOf(`${before}stream S = ${stream}`).operators.map(({ text, fingerprint }) => [text, fingerprint]);

  test.each([
    'A.where(v > 1.5 and k == 2).emit(k: k, half: v / 2)',
    'A\n    .filter(x => x.v > 1.0\n        and (k == 2))\n    .select(k, v)\n    .map(x => {k: x.k})\n    .emit()',
    'A.where (k == 1).emit as Other (k: k)',
    'A as a where k > 1',
  ])('has the text and the identity that it would have had from the start when it is asked: %s', (stream) => {
    expect(written(stream)).toEqual(written(stream, 'let unread = 1\n'));
    expect(written(stream)).not.toEqual([]);
  });
});

describe('sequences in parentheses', () => {
  test('are part of the sequence around them', () => {
    const root = (text: string): unknown => {
      const { source } = streamOf(text);
      return source.kind === 'pattern' && source.pattern.root.kind === 'sequence' && source.pattern.root.items.map((item) => item.kind);
    };
    expect(root('stream S = (A -> B) -> SEQ(A, NOT B) within 1m')).toEqual(['step', 'step', 'step', 'step']);
    expect(root('stream S = (A -> B within 5s) -> A within 1m')).toEqual(['group', 'step']);
  });
});
