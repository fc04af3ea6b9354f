import { expect, it } from 'vitest';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { planOf } from '../../scenarios/run-program.ts';
import { inputEvent, outputText } from './support/engine-run.ts';

function traceOf(program: string, events: readonly Parameters<typeof inputEvent>[]): string[] {
  const lines: string[] = [];
  const engine = createEngine(planOf(program), {
    output: () => undefined,
    trace: {
      matched: (stream, type) => lines.push(`${stream} <- ${type}`),
      decided: ({ stream, key, operator, verdict, why }) => lines.push(`${stream}${key} ${verdict} ${operator} [${why.join(', ')}]`),
      pattern: (stream, runs, completed) => lines.push(`${stream} runs=${runs} completed=${completed}`),
      emitted: (_stream, event) => lines.push(`emitted ${outputText(event)}`),
    },
  });
  for (const event of events) engine.push(inputEvent(...event));
  return lines;
}

it('says of each event which streams it matched, what each operator decided by which values, and what came out', () => {
  const program = 'stream S = E as e .where(e.v > 10 and k == "a").limit(1).emit(v: v)\nstream Next = S.where(v > 1).emit()\n';
  const lines = traceOf(program, [
    ['E', 1, { v: 5, k: 'a' }],
    ['E', 2, { v: 50, k: 'a' }],
    ['E', 3, { v: 60, k: 'a' }],
  ]);
  expect(lines).toMatchInlineSnapshot(`
    [
      "S <- E",
      "S BLOCK where(e.v > 10 and k == "a") [v (5) > 10]",
      "S <- E",
      "S PASS where(e.v > 10 and k == "a") [v=50, k=a]",
      "S PASS limit(1) []",
      "S PASS emit(v: v) []",
      "emitted S@2 {"v":50}",
      "Next <- S",
      "Next PASS where(v > 1) [v=50]",
      "Next PASS emit() []",
      "emitted Next@2 {"v":50}",
      "S <- E",
      "S PASS where(e.v > 10 and k == "a") [v=60, k=a]",
      "S BLOCK limit(1) [it has passed 1 already]",
    ]
  `);
});

it('shows the state of patterns and the aliases that decided', () => {
  const program = 'stream P = A as a -> B where v > a.v as b .where(b.v < 10).emit(v: b.v)\n';
  const lines = traceOf(program, [
    ['A', 1, { v: 1 }],
    ['B', 2, { v: 20 }],
    ['A', 3, { v: 1 }],
    ['B', 4, { v: 5 }],
  ]);
  expect(lines).toMatchInlineSnapshot(`
    [
      "P <- A",
      "P runs=1 completed=0",
      "P <- B",
      "P BLOCK where(b.v < 10) [b.v (20) < 10]",
      "P runs=0 completed=1",
      "P <- A",
      "P runs=1 completed=0",
      "P <- B",
      "P PASS where(b.v < 10) [b.v=5]",
      "P PASS emit(v: b.v) []",
      "emitted P@4 {"v":5}",
      "P runs=0 completed=1",
    ]
  `);
});

it('says why a step refuses an event, for each step by the run that is nearest', () => {
  const program = 'stream P = A as a -> B where v > 5 and k == a.k as b .within(10s).emit(v: b.v)\n';
  const lines = traceOf(program, [
    ['A', 1_000, { v: 1, k: 'x' }],
    ['A', 1_000, { v: 1, k: 'y' }],
    ['B', 2_000, { v: 3, k: 'x' }],
    ['B', 3_000, { v: 9, k: 'z' }],
    ['B', 4_000, { v: 9, k: 'x' }],
  ]);
  expect(lines.filter((line) => /BLOCK|PASS/.test(line))).toEqual([
    'P BLOCK B where v > 5 and k == a.k as b [v (3) > 5]',
    'P BLOCK B where v > 5 and k == a.k as b [k ("z") == a.k ("x")]',
    'P PASS emit(v: b.v) []',
  ]);
});

it('says why no run begins, and what comes too late or lies too far back', () => {
  const program = 'stream P = A where v > 1 as a -> B as b .within(10s).emit(v: b.v)\n';
  const lines = traceOf(program, [
    ['A', 1_000, { v: 1 }],
    ['A', 100_000, { v: 2 }],
    ['B', 80_000, { v: 2 }],
    ['B', 105_000, { v: 2 }],
  ]);
  expect(lines.filter((line) => /BLOCK|LATE/.test(line))).toEqual([
    'P BLOCK A where v > 1 as a [v (1) > 1]',
    'P BLOCK B as b [10s further back than `within` allows]',
    'P LATE pattern [time stands at 1970-01-01T00:01:40Z]',
  ]);
});

it('says that a window drops an event as late, and of which key what it gives is held back', () => {
  const program = 'stream W = A.partition_by(k).window(10s).aggregate(n: count()).where(n > 1).emit(n: n)\n';
  const lines = traceOf(program, [
    ['A', 1_000, { k: 'x' }],
    ['A', 12_000, { k: 'y' }],
    ['A', 2_000, { k: 'x' }],
  ]);
  expect(lines).toEqual([
    'W <- A',
    'Wx PASS window(10s).aggregate(n: count()) []',
    'Wx BLOCK where(n > 1) [n (1) > 1]',
    'W <- A',
    'Wy PASS window(10s).aggregate(n: count()) []',
    'W <- A',
    'Wx LATE window(10s).aggregate(n: count()) [time stands at 1970-01-01T00:00:12Z]',
  ]);
});

it('says that an event waits until time has come to it', () => {
  const program = 'stream S = A as a -> B as b .within(1m).partition_by(k).watermark(out_of_order: 10s).emit(k: a.k)\n';
  const lines = traceOf(program, [
    ['A', 1_000, { k: 'x' }],
    ['B', 2_000, { k: 'x' }],
    ['B', 12_000, { k: 'x' }],
  ]);
  expect(lines).toEqual([
    'S <- A',
    'Sx HELD out_of_order [until time reaches 1970-01-01T00:00:01Z]',
    'S <- B',
    'Sx HELD out_of_order [until time reaches 1970-01-01T00:00:02Z]',
    'S runs=1 completed=0',
    'Sx PASS emit(k: a.k) []',
    'emitted S@2000 {"k":"x"}',
    'S runs=0 completed=1',
    'S <- B',
    'Sx HELD out_of_order [until time reaches 1970-01-01T00:00:12Z]',
  ]);
});

it('says that a window does not look as it must, when it ends by an event or by time', () => {
  const program = (window: string): string => `stream W = A.window(${window}).pattern(rise: events => len(events) > 5).emit()\n`;
  const events: readonly Parameters<typeof inputEvent>[] = [
    ['A', 1_000, { v: 1 }],
    ['A', 2_000, { v: 2 }],
    ['A', 12_000, { v: 3 }],
  ];
  const verdicts = (window: string): unknown =>
    traceOf(program(window), events).map((line) => /<- A|PASS|BLOCK.*/.exec(line)?.[0].replace(/ window.*\) \[/, ' ['));
  expect(verdicts('2')).toEqual(['<- A', 'PASS', '<- A', 'BLOCK [len(events) (2) > 5]', '<- A', 'PASS']);
  expect(verdicts('10s')).toEqual(['<- A', 'PASS', '<- A', 'PASS', 'BLOCK [len(events) (2) > 5]', '<- A', 'PASS']);
});

it('shows a function that a condition hands on as it is written', () => {
  const why = (stream: string): unknown => {
    const lines = traceOf(`stream W = A${stream}.emit()\n`, [['A', 1, { v: 1, all_of: [3, 1] }]]);
    return lines.flatMap((line) => (line.includes('BLOCK') ? [line.replace(/.* \[/, '[')] : []));
  };
  expect(why('.window(1).pattern(p: events => all(events, e => e.v > 2))')).toEqual(['[all(events, e => e.v > 2)]']);
  expect(why('.where(all(all_of, one => one > v + 1))')).toEqual(['[all(all_of ([3, 1]), one => one > v + 1)]']);
});

it('says which runs an event or time has ended without a match, and why', () => {
  const ends = (pattern: string, ...events: readonly Parameters<typeof inputEvent>[]): string[] =>
    traceOf(`stream P = ${pattern}.emit(n: a.n)\n`, events).flatMap((line) => (line.includes('ENDED') ? [line.replace(/.*\[/, '[')] : []));
  const two: readonly Parameters<typeof inputEvent>[] = [
    ['A', 0, { n: 1 }],
    ['A', 1, { n: 2 }],
  ];
  expect(ends('A as a -> NOT X -> B as b', ...two, ['X', 2])).toEqual(Array(2).fill('[a run of 1 of 2 steps: NOT X forbids the event]'));
  expect(ends('A as a -> B as b .not(X)', two[0] as never, ['X', 2])).toEqual(['[a run of 1 of 2 steps: .not(X) cancels it]']);
  expect(ends('A as a -> B as b .within(10ms)', two[0] as never, ['B', 20])).toEqual(['[a run of 1 of 2 steps: its deadline passed]']);
  expect(ends('A as a -> B as b .max_runs(1)', ...two)).toEqual(['[a run of 1 of 2 steps: the state budget was used up]']);
  expect(ends('A as a -> B as b .within(1m).after_match(skip_past_last)', ...two, ['B', 2])).toEqual([
    '[a run of 2 of 2 steps: .after_match(skip_past_last) drops it behind a match]',
  ]);
});

it('says of no run that has given a match that it ended without one, whatever ends it', () => {
  const told = (pattern: string, ...events: readonly Parameters<typeof inputEvent>[]): unknown => {
    const lines = traceOf(`stream P = ${pattern}.emit(n: a.n)\n`, events);
    return [lines.filter((line) => line.startsWith('emitted')).length, lines.filter((line) => line.includes('ENDED')).length];
  };
  const run: readonly Parameters<typeof inputEvent>[] = [
    ['A', 0, { n: 1 }],
    ['B', 1, { n: 1 }],
  ];
  expect(told('A as a -> B+ as b .strict().within(10s)', ...run, ['C', 2], ...run, ['A', 3, { n: 1 }])).toEqual([2, 0]);
  expect(told('A as a -> (NOT C -> B as b)+ .strict().within(10s).longest()', ...run, ['C', 2])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(10s).not(C)', ...run, ['C', 2])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(10s).max_runs(1)', ...run, ['A', 2, { n: 1 }])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(10s).max_closure(1)', ...run, ['B', 2, { n: 1 }])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(1m).partition_by(n, expire: 3s)', ...run, ['A', 9_000, { n: 1 }])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(1m).partition_by(n, expire: 3s)', ...run, ['A', 9_000, { n: 2 }])).toEqual([1, 0]);
  expect(told('A as a -> B+ as b .within(10s).subsets().not(C)', ...run, ['C', 2])).toEqual([1, 0]);
  // Those have given none: their match would have come at the end, or with the event that made them too long.
  expect(told('A as a -> B+ as b .within(10s).longest().not(C)', ...run, ['C', 2])).toEqual([0, 1]);
  expect(told('A as a -> B{2,} as b .within(10s).max_closure(1)', ...run, ['B', 2, { n: 1 }])).toEqual([0, 1]);
  expect(told('A as a -> B{2,} as b .within(10s).stam().max_closure(1)', ...run, ['B', 2, { n: 1 }])).toEqual([0, 1]);
  expect(told('A as a -> B* as b .within(10s).subsets().not(C)', run[0] as never, ['C', 2])).toEqual([0, 1]);
});

it('shows what an aggregate of a match came to', () => {
  const lines = traceOf('stream P = F{1,} as f -> G as g .within(1m).where(count(f) >= 3).emit(n: count(f))\n', [
    ['F', 0],
    ['G', 1],
  ]);
  expect(lines.filter((line) => line.includes('BLOCK where'))).toEqual(['P BLOCK where(count(f) >= 3) [count(f) (1) >= 3]']);
});
