import { expect, test } from 'vitest';
import { Timestamp } from '../../../../shared/events/value.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';
import { fuse, printProgram } from '../../../../worker/engine/fusion/fuse.ts';
import { expectAlike } from '../../../reference/seen.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { inputEvent } from '../support/engine-run.ts';

/** Events of types that are not declared: fields of any kind, some missing. */
const events = Array.from({ length: 60 }, (_, at) => {
  const user = ['ann', 'bob', null, 7, 'k3', 'k11'][at % 6] ?? null;
  const fields = at % 7 === 0 ? { user } : { user, n: at % 5 === 0 ? 'many' : at, more: at % 4 === 0 ? [at % 3] : new Timestamp(at % 3) };
  return inputEvent(at % 4 === 1 ? 'B' : 'A', at * 100, fields);
});

const programs: Readonly<Record<string, string>> = {
  'a chain': 'stream S = A.where(user == "ann" and n > 3).select(user, n: n * 2).emit()',
  'a failure in a condition': 'stream S = A.where(n > 3).emit(n: n)\nstream T = S.where(n + 1 > 9).emit(n: n)',
  'a merge': 'stream S = merge(A.where(n != null), B).emit(user: user, type: event_type, at: timestamp)',
  'all fields': 'stream S = A.where(user == "ann").emit()',
  'an operator behind statements': 'stream S = A.where(user != null).distinct(user).emit(user: user)',
  'a window behind statements':
    'stream S = A.where(n != "many" and n != null).window(1s).aggregate(sum: sum(n), users: count_distinct(user)).emit()',
  'a window by a key of any kind': 'stream S = A.partition_by(user).window(1s).aggregate(n: count(), last: last(n)).emit()',
  'a running aggregate by a key of any kind': 'stream S = A.partition_by(more).aggregate(n: count()).emit()',
  'sessions by keys of any kind': 'stream S = A.partition_by(user, more).window(session: 500ms).aggregate(n: count()).emit()',
  'windows that overlap by a key of any kind':
    'stream S = merge(A, B).partition_by(user).window(2s, sliding: 1s).aggregate(n: count()).emit()',
  'columns that lead to a key of any kind':
    'event B:\n    user: str\nstream S = B.select(k: [user, "x"]).partition_by(k).window(1s).aggregate(n: count()).emit()',
  'a running aggregate': 'stream S = B.where(user == "bob" or user == "ann").aggregate(n: count()).emit()',
  'streams that follow':
    'stream S = A.where(user == "ann")\nstream T = merge(S, B).emit(user: user)\nstream U = S as a -> B as b within 5s .emit(user: a.user)',
  'matches that are handed on whole':
    'event B:\n    user: str\n\nevent C:\n    user: str\n\nstream S = B as a -> B as b within 5s\nstream T = S.where(match_duration_ms > 100).emit(a: a_user, b: b_user, ms: match_duration_ms)',
  'many rules': Array.from({ length: 14 }, (_, i) => `stream R${i} = A.where(user == "k${i}" and n + ${i} > 5).emit(n: n)`).join('\n'),
  'many rules over numbers': Array.from({ length: 14 }, (_, i) => `stream R${i} = A.where(n == ${i} and len(user) > 2).emit(n: n)`).join(
    '\n',
  ),
  'many rules that may fail before they are decided': Array.from(
    { length: 14 },
    (_, i) => `stream R${i} = A.where(n > ${i} and user == "k${i}").emit(n: n)`,
  ).join('\n'),
};

test.each(Object.entries(programs))('whole events give the same by generated code: %s', (_, text) => {
  const plan = planOf(text);
  expect(fuse(plan)).not.toBeNull();
  expect(expectAlike(plan, events, { cuts: [25], text }).length).toBeGreaterThan(0);
});

test('rules over events that are not declared are found by the text that they ask for', () => {
  const { physicalPlan } = printProgram(planOf(programs['many rules'] as string));
  expect(physicalPlan.entries.flatMap(({ readers }) => readers.map(({ index, streams }) => [index, streams.length]))).toEqual([
    [['user'], 14],
  ]);
});

test.each([
  ['an array', '[str]', ['a']],
  ['a map', '{str: int}', new Map([['a', 1]])],
  ['anything', 'any', 'a'],
  ['a record', 'Place', new Map([['city', 'x']])],
] as const)('trends of a type that has %s count a late event as late', (_, type, value) => {
  const declared = `type Place:\n    city: str\nevent B:\n    k: int\nevent C:\n    k: int\n    f: ${type}\n`;
  const alone = 'stream S = C+ as c\n    .window(4s)\n    .trend_aggregate(n: count_trends())\n    .emit(n: n)\n';
  const behind = alone.replace('S = C+ as c\n    .window(4s)', 'T = B as b -> C+ as c\n    .within(4s)');
  for (const text of [alone, behind, alone + behind]) {
    const input = [
      inputEvent('B', 4_400, { k: 1 }),
      inputEvent('C', 4_530, { k: 7, f: value }),
      inputEvent('C', 3_364, { k: 8, f: value }),
      inputEvent('B', 3_364, { k: 9 }),
    ];
    const lateOf = (engine: Engine): string[] => [...engine.counters().streams].map(([name, { late }]) => `${name} late ${late}`);
    const seen = expectAlike(planOf(declared + text), input, { cuts: [2], watch: { atEnd: lateOf }, text });
    expect(seen).toContain(text.includes('T =') ? 'T late 2' : 'S late 1');
  }
});

test.each(['k', 'at', 'took'])(
  'streams of trends with the same windows have the same events where these come whole and `%s` is read',
  (field) => {
    const stream = (name: string, items: string): string =>
      `stream ${name} = C+ as c\n    .window(4s)\n    .trend_aggregate(n: count_trends()${items})\n    .emit(n: n)\n`;
    const declared = 'event C:\n    k: int\n    tags: [int]\n    took: duration\n    at: timestamp\n';
    const text =
      declared + stream('S', `, most: max_trends(c.${field})`) + stream('T', '') + stream('U', `, least: min_trends(c.${field})`);
    const input = [200, 300].map((time) => inputEvent('C', time, { k: time, tags: [1], took: 5, at: new Timestamp(time) }));
    expect(expectAlike(planOf(text), input, { cuts: [2], text })).toHaveLength(3);
  },
);
