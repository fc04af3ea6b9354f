import { describe, expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { collect } from '../../../../shared/language/functions/aggregates/collect.ts';
import type { AggregatePlan, Plan } from '../../../../shared/language/plan/plan.ts';
import { callsReadInPassing } from '../../../../worker/engine/windows/passing-reads.ts';
import { expectAlike } from '../../../reference/seen.ts';

const EVENT = 'event E:\n    v: int\n    a: any\nvar kept = []\nfn keep(x):\n    kept := x\n    return len(x)\n';

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('p.vpl', EVENT + text));
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  return plan as Plan;
}

function passing(items: string): number[] {
  const operators = planOf(`stream R = E.aggregate(${items}).emit()\n`).streams.flatMap((stream) => stream.operators);
  const found = operators.find(({ kind }) => kind === 'aggregate') as unknown as { readonly aggregate: AggregatePlan };
  return [...callsReadInPassing(found.aggregate)].sort();
}

const input: readonly InputEvent[] = [5, 7, 9, 7, 4].map((v, at) => ({
  type: 'E',
  fields: new Map<string, number>([
    ['v', v],
    ['a', -v],
  ]),
  fallbackTime: at,
}));

describe('a result of which nothing is kept', () => {
  test.each([
    'x: len(collect(v))',
    'x: collect(v)[-1]',
    'x: collect(a)[-1]',
    'x: collect(v)[-2:]',
    'x: first(collect(a))',
    'x: contains(collect(v), 7)',
    'x: 7 in collect(v)',
    'x: collect(v) == [5]',
    'x: f"{collect(v)}"',
    'x: any(collect(v), y => y > 8)',
    'x: if len(collect(v)) > 2 then sum(collect(v)) else last(collect(v))',
  ])('is that of %s', (items) => {
    expect(passing(items)).toEqual([0]);
  });

  test.each([
    'x: collect(v)',
    'x: [collect(v)]',
    'x: collect(v) ?? []',
    'x: if true then collect(v) else []',
    'x: keep(collect(v))',
    'x: len([1].map(y => collect(v)))',
    'x: len(collect(v)), y: collect(v)',
    'x: get([1], 5, collect(v))',
  ])('is not that of %s', (items) => {
    expect(passing(items)).toEqual([]);
  });

  test('is handed out without a copy, and one that is kept does not change', () => {
    const accumulator = collect.create([]);
    accumulator.addOne(1, 0, 0);
    const live = accumulator.resultInPassing?.();
    accumulator.addOne(2, 0, 1);
    expect(accumulator.resultInPassing?.()).toBe(live);
    const kept = accumulator.result({ lengthMs: 0 });
    accumulator.addOne(3, 0, 2);
    expect([kept, accumulator.resultInPassing?.(), accumulator.save()]).toEqual([
      [1, 2],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });
});

describe('rows of a running aggregate stay what they were', () => {
  const cuts = [0, 2, 5];

  test('where one item looks at an array and another keeps it', () => {
    const text =
      'stream R = E.aggregate(n: len(collect(v)), l: collect(v)[-1], xs: collect(v), few: collect(a)[-2:], was: keep(collect(a)))\nstream Out = R as a -> R as b within 1m .emit(a: a.xs, n: a.n, l: b.l, few: a.few, b: b.few, was: b.was)\n';
    const seen = expectAlike(planOf(text), input, { cuts, text });
    expect(seen.slice(0, 2)).toEqual([
      'Out Out 1 {"a":[5],"n":1,"l":7,"few":[-5],"b":[-5,-7],"was":2}',
      'Out Out 2 {"a":[5,7],"n":2,"l":9,"few":[-5,-7],"b":[-7,-9],"was":3}',
    ]);
  });

  test('where nothing is kept, also by key and when restored', () => {
    const text =
      'stream Out = E.partition_by(v).aggregate(n: len(collect(a)), l: last(collect(v)), t: f"{collect(v)}", is: 7 in collect(v)).emit(n: n, l: l, t: t, is: is)\n';
    const seen = expectAlike(planOf(text), input, { cuts, text });
    expect(seen[3]).toBe('Out Out 3 {"n":2,"l":7,"t":"[7, 7]","is":true}');
  });
});
