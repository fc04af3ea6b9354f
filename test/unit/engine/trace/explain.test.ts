import { describe, expect, it } from 'vitest';
import type { Value } from '../../../../shared/events/value.ts';
import type { EngineOptions } from '../../../../worker/engine/create-engine.ts';
import { plain, rowByRow } from '../../../reference/ways.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { type EngineRun, start } from '../support/engine-run.ts';

type Event = readonly [type: string, time: number, fields?: Readonly<Record<string, Value>>];

function run(program: string, events: readonly Event[], options: EngineOptions = { explain: true }): EngineRun {
  const engine = start(planOf(program), options);
  for (const event of events) engine.push(...event);
  return engine;
}

/** Steps waited for, with what was against each event that came for them. */
function waits({ engine }: EngineRun, stream: string, key?: string): unknown {
  const { pattern } = engine.explain(stream, key);
  return (pattern?.furthest?.waitsFor ?? pattern?.begins ?? []).map(({ step, deadline, candidates }) => [
    step,
    deadline,
    candidates.map(({ problem }) => problem),
  ]);
}

function ended({ engine }: EngineRun, stream = 'S'): unknown {
  const last = engine.explain(stream).pattern?.ended;
  return last && [last.end, last.time, last.reason];
}

it('of events for a step that came as near, one that came in time goes before a later one', () => {
  const { engine } = run('stream S = (A as a -> B where k == a.k as b).within(10s)\n', [
    ['A', 0, { k: 'ann' }],
    ['B', 5_000, { k: 'ANN' }],
    ['B', 60_000, { k: 'bob' }],
  ]);
  expect(engine.explain('S').pattern?.furthest ?? null).toBeNull();
  expect(engine.explain('S').pattern?.ended?.waitsFor[0]?.candidates.map(({ problem }) => problem)).toEqual([
    'k ("ANN") == a.k ("ann")',
    'k ("bob") == a.k ("ann")',
  ]);
});

describe('a condition that failed', () => {
  const problemOf = (where: string, fields: Readonly<Record<string, Value>>, lines = ''): unknown => {
    const program = `${lines}stream S = A as a -> B where ${where} as b\n`;
    const { engine } = run(program, [
      ['A', 0, { v: 50, k: 'x' }],
      ['B', 1, fields],
    ]);
    return engine.explain('S').pattern?.furthest?.waitsFor[0]?.candidates[0]?.problem;
  };

  it('is the first part of an and that is not true, with both sides', () => {
    expect(problemOf('price > 10 and price > a.v and price > 100', { price: 40 })).toBe('price (40) > a.v (50)');
    expect(problemOf('price > 10 and price > a.v', {})).toBe('price (null) > 10');
    expect(problemOf('price * 2 + 1 > a.v', { price: 1 })).toBe('price * 2 + 1 (3) > a.v (50)');
  });

  it('names every alternative of an or, and what a not denies', () => {
    expect(problemOf('k == "y" or (n > 1 and n < 3)', { k: 'z', n: 5 })).toBe('k ("z") == "y" or (n (5) > 1 and n (5) < 3)');
    expect(problemOf('not (k == a.k)', { k: 'x' })).toBe('not (k ("x") == a.k ("x"))');
    expect(problemOf('k is null', { k: 'x' })).toBe('k ("x") is null');
  });

  it('shows the values that a call reads', () => {
    expect(problemOf('contains(name, "ell") and starts_with(name, "x")', { name: 'hello' })).toBe('starts_with(name ("hello"), "x")');
    expect(problemOf('flag', { flag: false })).toBe('flag (false)');
  });

  it('says why it could not be evaluated', () => {
    expect(problemOf('upper(n) == "A"', { n: 5 })).toMatch(/^upper\(n\) == "A" fails: /);
  });

  it('reads the variables of the program as they are, and changes none of them', () => {
    const lines = 'var seen = 7\nfn next() -> int:\n    seen := seen + 1\n    return seen\n';
    const program = `${lines}stream S = A as a -> B where next() < v as b\nstream T = C.emit(seen: seen)\n`;
    const engine = run(program, [
      ['A', 0, { v: 1 }],
      ['B', 1, { v: 1 }],
    ]);
    expect(waits(engine, 'S')).toEqual([['B where next() < v as b', null, ['next() (9) < v (1)']]]);
    engine.push('C', 2);
    expect(engine.outputs.at(-1)).toBe('T@2 {"seen":8}');
  });

  it('is cut where a value is long', () => {
    expect(problemOf('k == "y"', { k: 'x'.repeat(100_000) })).toHaveLength(71);
  });
});

describe('the furthest run', () => {
  const five = 'stream S = P{5,} as p -> Q as q .within(1m).emit(n: count(p))\n';
  const four: readonly Event[] = [
    ['P', 1_000],
    ['P', 2_000],
    ['P', 3_000],
    ['P', 4_000],
  ];

  it('has most steps, then most events, then is the oldest, and says how far a closure has come', () => {
    const { pattern } = run(five, four).engine.explain('S');
    expect(pattern?.openRuns).toBe(4);
    expect(pattern?.furthest?.held.map(({ name, count }) => [name, count])).toEqual([['p', 4]]);
    expect(pattern?.furthest?.waitsFor.map(({ closure }) => closure)).toEqual([{ taken: 4, least: 5 }]);
    const oldest = run('stream S = A as a -> B as b .within(1m).emit(v: a.v)\n', [
      ['A', 1_000, { v: 1 }],
      ['A', 2_000, { v: 2 }],
    ]).engine.explain('S').pattern?.furthest;
    expect(oldest?.held.map(({ event }) => event.time)).toEqual([1_000]);
  });

  it('is also told when it has ended with others that were open at the same time', () => {
    const { pattern } = run(five, [...four, ['X', 200_000]]).engine.explain('S');
    expect([pattern?.openRuns, pattern?.ended?.end, pattern?.ended?.held[0]?.count]).toEqual([0, 'deadline', 4]);
    expect([pattern?.endedLast?.time, pattern?.endedLast?.held[0]?.count]).toEqual([64_000, 1]);
    const later = run(five, [...four, ['P', 200_000], ['X', 400_000]]).engine.explain('S').pattern;
    expect([later?.ended?.time, later?.ended?.held[0]?.count, later?.endedLast]).toEqual([260_000, 1, null]);
  });

  it('reads a closure: its last event, its length, the event before', () => {
    const program = 'stream S = A as a -> B+ where v > b.v as b -> C where count(b) > 2 and n > sum(b.v) as c\n';
    const engine = run(program, [
      ['A', 0],
      ['B', 1, { v: 1 }],
      ['B', 2, { v: 5 }],
      ['B', 3, { v: 4 }],
      ['C', 4, { n: 1 }],
    ]);
    expect(waits(engine, 'S')).toEqual([
      ['C where count(b) > 2 and n > sum(b.v) as c', null, ['count(b) (2) > 2']],
      ['B+ where v > b.v as b', null, ['v (4) > b.v (5)']],
    ]);
    expect(engine.engine.explain('S').pattern?.furthest?.held.map(({ name, count }) => [name, count])).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
  });

  it('waits for every branch of an AND, and for a NOT in force', () => {
    const program = 'stream S = A as a -> AND(B as b, C where v > 1 as c) -> NOT D -> E within 1m\n';
    const events: readonly Event[] = [
      ['A', 0],
      ['C', 1, { v: 1 }],
    ];
    expect(waits(run(program, events), 'S')).toEqual([
      ['B as b', 60_000, []],
      ['C where v > 1 as c', 60_000, ['v (1) > 1']],
    ]);
    expect(waits(run(program, [...events, ['B', 2], ['C', 3, { v: 2 }]]), 'S')).toEqual([
      ['E', 60_000, []],
      ['NOT D', null, []],
    ]);
  });

  it('is told of one key, of events behind its last one', () => {
    const program = 'stream S = A as a -> B where v > 1 as b .partition_by(k, r)\n';
    const engine = run(program, [
      ['B', 0, { k: 'x', r: 1, v: 0 }],
      ['A', 1, { k: 'x', r: 1 }],
      ['B', 2, { k: 'x', r: 2, v: -5 }],
      ['B', 3, { k: 'x', r: 1, v: 1 }],
    ]);
    expect(waits(engine, 'S', 'x, 1')).toEqual([['B where v > 1 as b', null, ['v (1) > 1']]]);
    expect(engine.engine.explain('S', 'x, 2').pattern?.openRuns).toBe(0);
  });
});

describe('the run that ended last', () => {
  it('is told of an event that has another key, unless a run of that key took it', () => {
    const program = 'stream S = A as a -> B where v > a.v as b .partition_by(k)\n';
    const problems = (...events: readonly Event[]): unknown => waits(run(program, events), 'S', 'x');
    const first: Event = ['A', 0, { k: 'x', v: 1 }];
    const waiting = (...against: readonly string[]): unknown => [['B where v > a.v as b', null, against]];
    expect(problems(first, ['B', 1, { k: 'X', v: 2 }])).toEqual(waiting('its key is "X", not "x"'));
    expect(problems(first, ['B', 1, { k: 'X', v: 0 }])).toEqual(waiting());
    expect(problems(['B', 0, { k: 'X', v: 2 }], ['A', 1, { k: 'x', v: 1 }])).toEqual(waiting());
    expect(problems(first, ['B', 1, { k: 'X', v: 2 }], ['B', 2, { k: 'x', v: 0 }])).toEqual(waiting('v (0) > a.v (1)'));
    expect(problems(first, ['A', 1, { k: 'y', v: 1 }], ['B', 2, { k: 'y', v: 2 }])).toEqual(waiting());
  });

  it('is the last of those that had come as far', () => {
    const strict = run('stream S = A as a -> B as b .strict().within(1m)\n', [
      ['A', 0],
      ['A', 5_000],
      ['A', 8_000],
    ]);
    expect(ended(strict)).toEqual(['broken', 8_000, 'under .strict() the next event must be the next step']);
    const expiring = run('stream S = A as a -> B as b .within(20s)\n', [
      ['A', 0],
      ['A', 5_000],
      ['A', 8_000],
    ]);
    expiring.engine.advance(40_000);
    expect(ended(expiring)).toEqual(['deadline', 28_000, 'its deadline passed']);
    expect(expiring.engine.explain('S').pattern?.endedLast).toBeNull();
  });

  it('says which event of a NOT ended it', () => {
    expect(
      ended(
        run('stream S = A as a -> NOT B where v > 1 -> C\n', [
          ['A', 0],
          ['B', 1, { v: 1 }],
          ['B', 2, { v: 2 }],
        ]),
      ),
    ).toEqual(['forbidden', 2, 'NOT B where v > 1 forbids the event']);
  });

  it('says of a run of which a NOT leaves a part what it waits for, and that its deadline ended it', () => {
    const told = run('stream S = X as x -> OR(B? -> NOT N -> C, D) -> E .within(10ms)\n', [
      ['X', 0],
      ['N', 1],
      ['C', 2],
    ]);
    expect([ended(told), waits(told, 'S')]).toEqual([
      null,
      [
        ['B?', 10, []],
        ['D', 10, []],
      ],
    ]);
    told.engine.advance(20);
    expect(ended(told)).toEqual(['deadline', 10, 'its deadline passed']);
  });

  it('says that NOT forbids the event where it begins a group that must come', () => {
    const events: readonly Event[] = [
      ['X', 0],
      ['N', 1],
    ];
    expect(ended(run('stream S = X as x -> (NOT N -> C within 5m) -> E\n', events))).toEqual(['forbidden', 1, 'NOT N forbids the event']);
  });

  it('says that the next event was not the next step', () => {
    expect(
      ended(
        run('stream S = A as a -> B as b -> C .strict()\n', [
          ['A', 0],
          ['C', 1],
        ]),
      )?.toString(),
    ).toMatch(/^broken,1,under \.strict/);
  });

  it('says that another match counted, that the budget was used up, and that its key expired', () => {
    const twice: readonly Event[] = [
      ['A', 0],
      ['A', 1],
      ['B', 2],
      ['B', 3],
    ];
    expect(ended(run('stream S = A as a -> B as b .max_runs(1)\n', twice.slice(0, 2)))).toEqual([
      'dropped',
      1,
      'the state budget was used up',
    ]);
    const expiring = 'stream S = A as a -> B as b .partition_by(k, expire: 10ms)\n';
    expect(
      ended(
        run(expiring, [
          ['A', 0, { k: 1 }],
          ['A', 100, { k: 2 }],
        ]),
      ),
    ).toEqual(null);
    expect(
      run(expiring, [
        ['A', 0, { k: 1 }],
        ['A', 100, { k: 2 }],
      ]).engine.explain('S', '1').pattern?.ended?.end,
    ).toBe('expired');
  });

  it.each([
    ['the kernel', { explain: true }],
    ['row by row', { explain: true, isFused: false }],
  ])('did not match where a match before it ended it, by an event and by time, with %s', (_, options) => {
    const skipping = (pattern: string, events: readonly Event[], watermark = 0): unknown => {
      const engine = run(`stream S = ${pattern}.emit(n: a.n)\n`, events, options);
      engine.engine.advance(watermark);
      return [engine.outputs, (ended(engine) as readonly unknown[]).slice(0, 2)];
    };
    const two: readonly Event[] = [
      ['A', 0, { n: 1 }],
      ['A', 1, { n: 2 }],
    ];
    const past = '.within(1m).after_match(skip_past_last)';
    expect(skipping(`A as a -> B as b ${past}`, [...two, ['B', 2]])).toEqual([['S@2 {"n":1}'], ['skipped', 2]]);
    expect(skipping(`A as a -> B as b -> C ${past}`, [...two, ['B', 2], ['C', 3]])).toEqual([['S@3 {"n":1}'], ['skipped', 3]]);
    expect(skipping(`A as a -> B+ as b ${past}.longest()`, [...two, ['B', 2], ['X', 61_000]], 61_000)).toEqual([
      ['S@2 {"n":1}'],
      ['skipped', 2],
    ]);
    expect(skipping(`A as a -> NOT B within 10ms ${past}`, [...two, ['A', 8, { n: 3 }]], 11)).toEqual([['S@10 {"n":1}'], ['matched', 10]]);
    expect(skipping(`A as a -> B as b -> NOT C within 10ms ${past}`, [...two, ['B', 2]], 13)).toEqual([['S@12 {"n":1}'], ['skipped', 12]]);
    expect(skipping('A as a -> B+ as b .within(1m).after_match(skip_to_next)', [two[0] as Event, ['B', 2]])).toEqual([
      ['S@2 {"n":1}'],
      ['matched', 2],
    ]);
  });

  it('has the time of its absence when time alone completed it', () => {
    const engine = run('stream S = A as a -> NOT B within 5ms .emit()\n', [
      ['A', 0],
      ['C', 100],
    ]);
    engine.engine.advance(100);
    expect(ended(engine)).toEqual(['matched', 5, 'it matched']);
  });
});

describe('how far an event came', () => {
  const verdicts = ({ engine }: EngineRun, key?: string): unknown =>
    engine
      .explain('S', key)
      .attempts.map(({ kind, decisions }) => [kind, ...decisions.map(({ verdict, why }) => `${verdict} ${why}`.trim())]);

  it('says which key was seen before, and that a rate was used up', () => {
    const program = 'stream S = A.throttle(2, per: 1m).distinct(k).emit()\n';
    expect(
      verdicts(
        run(program, [
          ['A', 0, { k: 1 }],
          ['A', 1, { k: 1 }],
        ]),
      ),
    ).toEqual([['event', 'PASS', 'BLOCK k (1) has passed before']]);
    expect(
      verdicts(
        run(program, [
          ['A', 0],
          ['A', 1],
          ['A', 2],
        ]),
      ),
    ).toEqual([['event', 'BLOCK it has passed 2 in that time']]);
  });

  it('says that an operator failed, and that an event came too late', () => {
    expect(verdicts(run('stream S = A.where(upper(v) == "A").emit()\n', [['A', 0, { v: 5 }]]))?.toString()).toMatch(/^event,FAIL /);
    const windows = 'stream S = A.window(10ms).aggregate(n: count())\n';
    expect(
      verdicts(
        run(windows, [
          ['A', 0],
          ['A', 50],
          ['A', 1],
        ]),
      ),
    ).toEqual([['event', 'LATE']]);
  });

  it('tells of the last event of a key whichever came since', () => {
    const engine = run('stream S = A.partition_by(k).where(v > 1).limit(1).emit()\n', [
      ['A', 0, { k: 'x', v: 0 }],
      ['A', 1, { k: 'y', v: 2 }],
    ]);
    expect(verdicts(engine, 'x')).toEqual([['event', 'BLOCK v (0) > 1']]);
    expect(verdicts(engine, 'y')).toEqual([['event', 'PASS', 'PASS', 'PASS']]);
  });
});

describe('a join', () => {
  const problems = (program: string, events: readonly Event[], key?: string): unknown =>
    run(program, events)
      .engine.explain('S', key)
      .join?.problems.map(({ event, problem }) => `${event.type} ${problem}`);

  it('of three sides says what did not hold over all of them', () => {
    const on = 'a.k == b.k and a.k == c.k and b.v >= a.v';
    const program = `stream S = join(A as a, B as b, C as c).on(${on}).window(10s).emit(k: a.k)\n`;
    const events: readonly Event[] = [
      ['A', 0, { k: 'x', v: 10 }],
      ['B', 1_000, { k: 'x', v: 9 }],
      ['C', 2_000, { k: 'x' }],
    ];
    expect(problems(program, events)).toEqual(['C b.v (9) >= a.v (10)']);
    expect(problems(program, events.slice(0, 2))).toEqual([]);
    expect(problems(program, [...events.slice(0, 2), ['C', 20_000, { k: 'x' }]])).toEqual(['C 20s apart, more than 10s']);
  });

  it('judges of all pairs the one that came nearest', () => {
    const program = 'stream S = join(A as a, B as b).on(a.k == b.k and b.v >= a.v).window(10s).emit(k: a.k)\n';
    const events: readonly Event[] = [
      ['A', 0, { k: 'x', v: 10 }],
      ['B', 1_000, { k: 'x', v: 9 }],
      ['B', 12_000, { k: 'x', v: 20 }],
    ];
    expect(problems(program, events)).toEqual(['B b.v (9) >= a.v (10)']);
    expect(problems(program, [...events, ['A', 13_000, { k: 'x', v: 1 }]])).toEqual([]);
  });

  it('says that null joins nothing, and tells it from the text', () => {
    const program = 'stream S = join(A as a, B as b).on(a.k == b.k).window(10s).emit(k: a.k)\n';
    const events: readonly Event[] = [
      ['A', 0, { k: null }],
      ['B', 1_000, { k: 'x' }],
    ];
    expect(problems(program, events)).toEqual(['A its key is null, and null joins nothing']);
    expect(problems(program, [['A', 0, { k: 'null' }], events[1] as Event])).toEqual([]);
  });
});

describe('trends', () => {
  const program = `event P:
    k: str
    v: float
stream S = all P where v > 50 as x .within(1m).partition_by(k).trend_aggregate(n: count_trends()).having(n > 2).emit(k, n)
`;
  const explained = (events: readonly Event[], options: EngineOptions, key?: string) =>
    run(program, events, options).engine.explain('S', key);

  it.each([
    ['the kernel', { explain: true }],
    ['row by row', { explain: true, isFused: false }],
  ])('say why no event begins one, and what their windows hold, with %s', (_, options) => {
    const refused = explained([['P', 0, { k: 'a', v: 5 }]], options);
    expect(refused.pattern?.begins.map(({ candidates }) => candidates.map(({ problem }) => problem))).toEqual([['v (5) > 50']]);
    const begun: readonly Event[] = [
      ['P', 0, { k: 'a', v: 60 }],
      ['P', 1_000, { k: 'b', v: 70 }],
    ];
    expect(explained(begun, options, 'a').windows).toMatchObject([{ key: 'a', count: null, start: 0, end: 60_000, closesAt: 60_000 }]);
    expect(explained(begun, options, 'a').windows[0]?.soFar?.get('n')).toBe(1);
    const closed = explained([...begun, ['P', 70_000, { k: 'a', v: 1 }]], options);
    expect(closed.furthest?.decisions.at(-1)).toMatchObject({ verdict: 'BLOCK', why: 'n (1) > 2' });
  });
});

describe('what waits until time has come to it', () => {
  const program = `stream S = A as a -> B where v > 1 as b .within(1m).partition_by(k).watermark(out_of_order: 10s).emit(k: a.k)
stream J = join(A, B).on(A.k == B.k).window(1m).watermark(out_of_order: 10s).emit(k: A.k)
stream T = A as a -> B as b .partition_by(k).window(1m).trend_aggregate(n: count_trends()).watermark(out_of_order: 10s).emit(n: n)
`;

  it.each([
    ['the kernel', { explain: true }],
    ['row by row', { explain: true, isFused: false }],
  ])('is told of, with %s', (_, options) => {
    const { engine } = run(
      program,
      [
        ['A', 0, { k: 'x' }],
        ['B', 1_000, { k: 'y', v: 1 }],
      ],
      options,
    );
    const held = { count: 2, first: 0, until: 1_000, event: { type: 'B', time: 1_000 } };
    for (const stream of ['S', 'J', 'T']) expect(engine.explain(stream).heldBack, stream).toMatchObject(held);
    expect(engine.explain('S', 'x').heldBack).toMatchObject({ count: 1, first: 0, until: 0, event: { type: 'A' } });
    expect(engine.explain('J', 'x').join?.sides.map(({ heldBack }) => heldBack)).toEqual([1, 0]);
    expect(engine.explain('S', 'z').nothing).toBe('no event with key "z" came; known: "x", "y"');
  });

  it('is told no more when time has come to it', () => {
    const { engine } = run(program, [
      ['A', 0, { k: 'x' }],
      ['B', 20_000, { k: 'x', v: 1 }],
      ['A', 31_000, { k: 'y' }],
    ]);
    engine.advance(60_000);
    expect(engine.explain('S').heldBack).toBeNull();
  });
});

describe('an explanation', () => {
  const program = `var n = 0
stream P = A as a -> B+ where k == a.k and v > b.v as b -> C where k == a.k as c .within(20ms).emit(k: a.k, n: count(b))
stream W = B.partition_by(k).window(5ms).aggregate(n: count(), s: sum(v)).having(n > 1).emit()
stream J = join(A, C).on(A.k == C.k and C.v > 1).window(10ms).emit(k: A.k)
stream N = A as a -> NOT C where k == a.k within 7ms .partition_by(k).emit(k: a.k)
stream F = W.fork(big: .where(s > 3).emit(), small: .where(s <= 3).emit())
`;
  const events = Array.from({ length: 200 }, (_, i): Event => ['ABBC'[(i * 7) % 4] as string, i, { k: (i * 5) % 3, v: (i * 11) % 7 }]);

  it.each([
    ['the plain evaluator', plain],
    ['generated code', rowByRow],
  ])('changes nothing of what a program does with %s: outputs and state are the same', (_, options) => {
    const silent = run(program, [], options);
    const explained = run(program, [], { ...options, explain: true });
    for (const event of events) {
      silent.push(...event);
      explained.push(...event);
      for (const stream of 'PWJNF') explained.engine.explain(stream);
    }
    expect(explained.outputs).toEqual(silent.outputs);
    expect(explained.engine.snapshot()).toEqual(silent.engine.snapshot());
    expect(silent.outputs.length).toBeGreaterThan(50);
  });

  it('tells from the state alone what an engine without it holds', () => {
    const { engine } = run(program, events.slice(0, 50), rowByRow);
    expect(engine.explain('P').pattern?.furthest?.stepsTaken).toBe(2);
    expect(engine.explain('W').windows.length).toBeGreaterThan(0);
    expect(engine.explain('J').join?.sides.some(({ waiting }) => waiting.length > 0)).toBe(true);
    expect(engine.explain('W').attempts).toEqual([]);
  });

  it('does not give an event of which generated code keeps nothing the time of another one', () => {
    const declared = ['A', 'B', 'C'].map((name) => `event ${name}:\n    id: int\n    user: str\n`).join('');
    const steps = 'A as a -> B where id == a.id as b -> C where id == a.id and timestamp > b.timestamp as c';
    const program = `${declared}stream S = ${steps}\n    .emit(id: a.id)\nstream T = ${steps.replace(' and timestamp > b.timestamp', '')}\n    .emit(id: a.id)\n`;
    const { engine } = run(
      program,
      [
        ['A', 10, { id: 1, user: 'ann' }],
        ['B', 20, { id: 1, user: 'ann' }],
      ],
      {},
    );
    const held = (stream: string): unknown => engine.explain(stream).pattern?.furthest?.held.map(({ name, event }) => [name, event.time]);
    expect([held('S'), held('T')]).toEqual([
      [
        ['a', 10],
        ['b', 20],
      ],
      [
        ['a', 10],
        ['b', null],
      ],
    ]);
  });

  it('remembers the last 1,000 keys', () => {
    const many = Array.from({ length: 1_500 }, (_, i): Event => ['A', i, { k: i }]);
    const { engine } = run('stream S = A.partition_by(k).where(k < 0).limit(1)\n', many);
    expect(engine.explain('S', '499').nothing).toMatch(
      /^no event with key "499" is remembered: only the last 1,000 keys are; the nearest: /,
    );
    expect(engine.explain('S', '500').nothing).toBeNull();
  });

  it('does not forget the key that is asked for, where it is known beforehand', () => {
    const many = Array.from({ length: 1_500 }, (_, i): Event => ['A', i, { k: i }]);
    const { engine } = run('stream S = A.partition_by(k).where(k < 0).limit(1)\n', many, { explain: true, explainKey: '7' });
    expect(engine.explain('S', '7').attempts[0]?.decisions).toMatchObject([{ verdict: 'BLOCK', why: 'k (7) < 0' }]);
    expect(engine.explain('S', '8').nothing).toMatch(/^no event with key "8" is remembered/);
  });

  it('keeps of many events for a step those that came nearest, and counts the others', () => {
    const others = Array.from({ length: 100 }, (_, i): Event => ['Pay', 10 + i, { id: `x${i}`, amt: 50 }]);
    const program = 'stream S = Order as o -> Pay where id == o.id and amt > 5 and amt >= o.amt as p within 10m\n';
    const order: Event = ['Order', 0, { id: '1', amt: 60 }];
    const near: Event = ['Pay', 1, { id: '1', amt: 9 }];
    const step = (...events: readonly Event[]): unknown => {
      const [waiting] = run(program, events).engine.explain('S').pattern?.furthest?.waitsFor ?? [];
      return [waiting?.candidates[0]?.problem, (waiting?.candidates.length ?? 0) + (waiting?.forgotten ?? -1), waiting?.forgotten === 0];
    };
    expect(step(order, near, ...others)).toEqual(['amt (9) >= o.amt (60)', 101, false]);
    expect(step(order, near, ...others.slice(0, 20))).toEqual(['amt (9) >= o.amt (60)', 21, true]);
    expect(step(['Order', 0, { id: '0', amt: 1 }], ...others, order, near)).toEqual(['id ("1") == o.id ("0")', 101, false]);
  });

  it('counts no event as forgotten that came before the last one of the run', () => {
    const program = 'stream S = A as a -> B where v > 5 as b -> B where v > 9 as c\n';
    const misses = Array.from({ length: 100 }, (_, i): Event => ['B', 1 + i, { v: 1 }]);
    const { engine } = run(program, [['A', 0], ...misses, ['B', 200, { v: 7 }], ['B', 201, { v: 2 }]]);
    const [step] = engine.explain('S').pattern?.furthest?.waitsFor ?? [];
    expect([step?.candidates.length, step?.forgotten]).toEqual([1, 0]);
  });

  it('names a key that is null, and tells those with a null in them apart', () => {
    const program = 'stream S = A as a -> B where n > a.n as b .partition_by(u, d)\n';
    const { engine } = run(program, [
      ['A', 0, { u: 'ann', d: null, n: 5 }],
      ['B', 1, { u: 'bob', d: null, n: 9 }],
      ['B', 2, { u: 'ann', d: null, n: 3 }],
      ['B', 3, { u: 'ann', d: 'null', n: 2 }],
    ]);
    expect(waits({ engine } as EngineRun, 'S', 'ann, null')).toEqual([['B where n > a.n as b', null, ['n (3) > a.n (5)']]]);
    expect(engine.explain('S', 'ann, "null"').nothing).toBeNull();
    expect(engine.explain('S', 'eve').nothing).toContain('known: "ann, null", "bob, null", "ann, \\"null\\""');
    const single = run('stream S = A.partition_by(k).where(n > 1).window(3).aggregate(c: count())\n', [['A', 0, { k: null, n: 1 }]]);
    expect(single.engine.explain('S', 'null').attempts[0]?.decisions[0]?.verdict).toBe('BLOCK');
  });

  it('takes a key that a later operator makes for unknown until it is made', () => {
    const program = 'stream S = A.where(n > 1).select(k: x, n: n).partition_by(k).window(3).aggregate(c: count())\n';
    const { engine } = run(program, [
      ['A', 0, { x: 'ann', n: 2 }],
      ['A', 1, { x: 'bob', n: 1 }],
    ]);
    expect(engine.explain('S', 'eve').nothing).toContain('known: "ann", ""');
    expect(engine.explain('S', 'ann').attempts).toHaveLength(1);
  });

  it('does not say of a key that nothing came, where it did not record what comes', () => {
    const events: readonly Event[] = [
      ['A', 1, { k: 'ann' }],
      ['B', 2, { k: 'ann' }],
      ['A', 3, { k: 'bob' }],
    ];
    const { engine } = run('stream S = A as a -> B as b .partition_by(k).within(1m).emit(k: a.k)\n', events, {});
    expect(engine.explain('S', 'ann').nothing).toBe('nothing is held of key "ann"; known: "bob"');
    const { engine: empty } = run('stream S = A as a -> B as b .partition_by(k).within(1m).emit(k: a.k)\n', events.slice(0, 2), {});
    expect(empty.explain('S', 'ann').nothing).toBe('nothing is held of key "ann"');
  });

  it('says of a key that it has not seen since when it looks on, where the stream had events before', () => {
    const program = 'stream S = A as a -> B where v > 5 as b .partition_by(k).within(1m)\n';
    const { engine: before } = run(program, [
      ['A', 1, { k: 'x' }],
      ['A', 2, { k: 'y' }],
      ['B', 3, { k: 'x', v: 1 }],
    ]);
    const later = run(program, [], { explain: true });
    later.engine.restore(before.snapshot());
    later.push('B', 4, { k: 'y', v: 2 });
    expect(later.engine.explain('S', 'z').nothing).toBe(
      'no event with key "z" came since the pipeline was watched, reloaded or restarted; known: "x", "y"',
    );
    const forgotten = (engine: EngineRun['engine'], key: string): unknown =>
      engine.explain('S', key).pattern?.furthest?.waitsFor[0]?.forgotten;
    expect([forgotten(before, 'x'), forgotten(later.engine, 'x'), forgotten(later.engine, 'y')]).toEqual([0, null, null]);
    later.push('A', 5, { k: 'z' });
    expect([forgotten(later.engine, 'z'), later.engine.explain('S', 'z').nothing]).toEqual([0, null]);
    const fresh = run(program, [['A', 1, { k: 'x' }]], { explain: true });
    expect(fresh.engine.explain('S', 'z').nothing).toBe('no event with key "z" came; known: "x"');
  });

  it('does not count what came for a run of a key that it has forgotten', () => {
    const others = Array.from({ length: 1_100 }, (_, i): Event => ['B', 10 + i, { k: i, v: 1 }]);
    const program = 'stream S = A as a -> B where v > a.v as b .partition_by(k).within(1h)\n';
    const { engine } = run(program, [['A', 1, { k: 'x', v: 5 }], ['B', 2, { k: 'x', v: 3 }], ...others]);
    expect(engine.explain('S').pattern?.furthest?.waitsFor[0]).toMatchObject({ candidates: [], forgotten: null });
  });

  it('offers no key of a join that none of its events has', () => {
    const program = 'stream J = join(A as a, B as b).on(a.k == b.k).window(1m).emit(k: a.k)\n';
    const empty: readonly Event[] = [
      ['A', 1, { k: '' }],
      ['B', 2, { k: '' }],
    ];
    const { engine } = run(program, [
      ['A', 1, { k: 'x' }],
      ['B', 2, { k: 'x' }],
    ]);
    expect(engine.explain('J', 'z').nothing).toBe('no event with key "z" came; known: "x"');
    expect(run(program, empty).engine.explain('J', '').nothing).toBeNull();
  });

  it('refuses a stream that the program has not', () => {
    expect(() => run('stream Alerts = A\n', []).engine.explain('Alert')).toThrow("the program has no stream 'Alert'");
  });
});
