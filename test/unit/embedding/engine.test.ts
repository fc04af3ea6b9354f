import { describe, expect, it } from 'vitest';
import {
  type Answer,
  CepError,
  compile,
  fieldsToObject,
  type Input,
  type Output,
  ProgramError,
  type StartedProgram,
} from '../../../worker/engine/index.ts';

const BREACH = `event LoginFailed:
    user: str
event LoginOk:
    user: str
stream Breach = LoginFailed as first -> LoginFailed{2,} as more where user == first.user -> LoginOk as ok where user == first.user
    .within(10m)
    .emit(user: first.user, failures: count(more) + 1)
stream Rate = LoginFailed.window(1m).aggregate(n: count(), users: collect(user)).emit(n: n, users: users)
`;

describe('a compiled program', () => {
  it('gives the alerts that its events cause, as plain objects', () => {
    const engine = compile(BREACH).start();
    for (const second of [1, 2, 3]) engine.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp: second * 1000 });
    expect(engine.take()).toEqual([]);
    engine.push({ type: 'LoginOk', fields: { user: 'ann' }, timestamp: 4000 });
    expect(engine.take()).toEqual([{ stream: 'Breach', type: 'Breach', timestamp: 4000, fields: { user: 'ann', failures: 3 } }]);
    engine.advance(60_000);
    expect(engine.take()).toEqual([{ stream: 'Rate', type: 'Rate', timestamp: 59_999, fields: { n: 3, users: ['ann', 'ann', 'ann'] } }]);
  });

  it('hands alerts out as they come when it is told to', () => {
    const outputs: Output[] = [];
    const engine = compile('stream S = A.where(v > 1).emit(v: v, m: {a: [v]})').start({ onOutput: (output) => outputs.push(output) });
    engine.push({ type: 'A', fields: { v: 1 } });
    engine.push({ type: 'A', fields: { v: 2 } });
    expect(outputs.map(({ fields }) => fields)).toEqual([{ v: 2, m: { a: [2] } }]);
    expect(engine.take()).toEqual([]);
  });

  it('goes on from a snapshot, also in a changed program', () => {
    const first = compile(BREACH).start();
    for (const second of [1, 2, 3]) first.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp: second * 1000 });
    const second = compile(`${BREACH}stream All = LoginOk.emit(user: user)\n`).start();
    expect(second.restore(JSON.parse(JSON.stringify(first.snapshot())))).toMatchObject({ preserved: ['Breach', 'Rate'], added: ['All'] });
    second.push({ type: 'LoginOk', fields: { user: 'ann' }, timestamp: 4000 });
    expect(second.take().map(({ stream }) => stream)).toEqual(['Breach', 'All']);
  });

  type Step = { readonly push?: Input; readonly advance?: number };
  const steps: readonly (readonly [string, string, readonly Step[]])[] = [
    [
      'a window',
      'stream W = A.window(10s).aggregate(n: count(), t: max(timestamp)).emit(n: n)',
      [
        { push: { type: 'A', timestamp: 100_000 } },
        { push: { type: 'A' } },
        { push: { type: 'A', timestamp: 99_000 } },
        { push: { type: 'A' } },
      ],
    ],
    [
      'an absence',
      'stream Silence = Ping as p -> NOT Pong within 30s\n    .emit(host: p.host)',
      [
        { push: { type: 'Ping', fields: { host: 'a' } } },
        { advance: 20_000 },
        { push: { type: 'Ping', fields: { host: 'b' } } },
        { advance: 60_000 },
        { push: { type: 'Ping', fields: { host: 'c' } } },
      ],
    ],
  ];

  it.each(steps)('straight through equals snapshot and restore at every step: %s', (_, program, all) => {
    const run = (isRestored: boolean): readonly Output[] => {
      let engine = compile(program).start();
      const outputs: Output[] = [];
      for (const { push, advance } of all) {
        if (push !== undefined) expect(engine.push(push)).toMatchObject({ accepted: true });
        if (advance !== undefined) engine.advance(advance);
        outputs.push(...engine.take());
        if (!isRestored) continue;
        const saved = JSON.parse(JSON.stringify(engine.snapshot()));
        engine = compile(program).start();
        engine.restore(saved);
      }
      engine.end();
      return [...outputs, ...engine.take()];
    };
    expect(run(false).length).toBeGreaterThan(0);
    expect(run(true)).toEqual(run(false));
  });

  it('goes on at the time of a snapshot of a version that did not name it', () => {
    const first = compile(BREACH).start();
    first.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp: 5_000 });
    first.advance(7_000);
    const { state, version } = first.snapshot();
    const second = compile('stream S = A.emit(v: v)').start();
    second.restore(JSON.parse(JSON.stringify({ state, version })));
    second.push({ type: 'A' });
    expect(second.take()).toMatchObject([{ timestamp: 7_000 }]);
  });

  it.each([null, undefined, 'state', [], {}, { version: 1, state: 5 }, { version: 1, state: null, time: 'x' }])(
    'does not go on from %o, which is no snapshot',
    (snapshot) => {
      expect(() =>
        compile(BREACH)
          .start()
          .restore(snapshot as never),
      ).toThrow(expect.objectContaining({ code: 'checkpoint_corrupt' }));
    },
  );

  const before: readonly (readonly [string, (engine: StartedProgram) => void])[] = [
    ['an event', (engine) => engine.push({ type: 'LoginOk', fields: { user: 'ann' }, timestamp: 3_000 })],
    ['a time', (engine) => engine.advance(3_000)],
    ['the end', (engine) => engine.end()],
    ['another state', (engine) => engine.restore(compile(BREACH).start().snapshot())],
  ];

  it.each(before)('does not go on from a snapshot behind %s', (_, act) => {
    const [first, second] = [compile(BREACH).start(), compile(BREACH).start()];
    first.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp: 1_000 });
    act(second);
    const held = second.snapshot();
    expect(() => second.restore(first.snapshot())).toThrow(expect.objectContaining({ code: 'validation_error' }));
    expect(second.snapshot()).toEqual(held);
  });

  it('says why nothing came', () => {
    const engine = compile(BREACH).start();
    engine.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp: 1000 });
    expect(engine.explain('Breach').pattern?.furthest?.stepsTaken).toBe(1);
  });

  it('gives no event that a run holds the time of another one', () => {
    const engine = compile(BREACH).start();
    for (const timestamp of [1000, 2000]) engine.push({ type: 'LoginFailed', fields: { user: 'ann' }, timestamp });
    const held = engine.explain('Breach').pattern?.furthest?.held;
    expect(held?.map(({ name, event }) => [name, event.time])).toEqual([
      ['first', 1000],
      ['more', null],
    ]);
  });

  it('says what kept events back when it is told to remember them', () => {
    const program = compile('stream Big = Trade.where(price > 100).emit(price: price)');
    const [engine, unwatched] = [program.start({ explain: true }), program.start()];
    for (const one of [engine, unwatched]) one.push({ type: 'Trade', fields: { price: 90 }, timestamp: 1000 });
    const [attempt] = engine.explain('Big').attempts;
    expect(attempt?.decisions.map(({ operator, verdict }) => [operator, verdict])).toEqual([['where(price > 100)', 'BLOCK']]);
    expect(fieldsToObject(attempt?.event.fields ?? new Map())).toEqual({ price: 90 });
    expect(unwatched.explain('Big').attempts).toEqual([]);
    expect(engine.snapshot()).toEqual(unwatched.snapshot());
  });

  it('refuses an event that does not fit, and changes nothing', () => {
    const engine = compile('event A:\n    v: int\nstream S = A.emit(v: v)').start();
    expect(engine.push({ type: 'A', fields: { v: 'x' } })).toEqual({
      accepted: false,
      field: 'v',
      message: expect.stringContaining('expected int'),
    });
    expect(engine.push({ type: 'A' })).toEqual({ accepted: true, incomplete: ['v'] });
    const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`);
    expect(engine.push({ type: 'B', fields: { deep } })).toMatchObject({ accepted: false });
    expect(engine.counters().eventsProcessed).toBe(1);
  });

  const wrong: readonly (readonly [string, unknown])[] = [
    ['', null],
    ['', 'A'],
    ['type', {}],
    ['type', { type: 5 }],
    ['fields', { type: 'A', fields: null }],
    ['fields', { type: 'A', fields: [1] }],
    ['fields', { type: 'A', fields: new Map([['v', 1]]) }],
    ...[Number.NaN, Number.POSITIVE_INFINITY, 1e300, null, '2026-01-31T10:00:00Z', new Date(0)].map(
      (timestamp) => ['timestamp', { type: 'A', timestamp }] as const,
    ),
    ...[new Date(0), 1n, () => 1, Symbol('v'), Number.NaN, new Map(), { deep: [Number.POSITIVE_INFINITY] }].map(
      (v) => ['v', { type: 'A', fields: { v } }] as const,
    ),
  ];

  it.each(wrong)('refuses what no compiler has checked: a wrong %s in %o', (field, input) => {
    const engine = compile('stream S = A.emit(v: v)').start();
    engine.push({ type: 'A', timestamp: 7 });
    expect(engine.push(input as Input)).toEqual({ accepted: false, field, message: expect.stringContaining('expected') });
    expect(engine.counters()).toMatchObject({ eventsProcessed: 1, time: 7 });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1e300, '5' as unknown as number])('is not told that it is %s', (time) => {
    const engine = compile('stream S = A.emit(v: v)').start();
    expect(() => engine.advance(time)).toThrow(CepError);
    engine.push({ type: 'A' });
    expect(engine.take()).toMatchObject([{ timestamp: 0 }]);
  });

  it('takes objects of any class, and members that are undefined as null', () => {
    const engine = compile('stream S = A.emit(v: v, w: w)').start();
    class Point {
      x = 1;
    }
    const fields = Object.assign(Object.create(null), { v: new Point(), w: undefined });
    expect(engine.push({ type: 'A', fields })).toMatchObject({ accepted: true });
    expect(engine.take()).toMatchObject([{ fields: { v: { x: 1 }, w: null } }]);
  });

  it('an event without a time has that of the one before, and one of its fields when they say it', () => {
    const engine = compile('stream S = A.emit(t: timestamp)').start();
    engine.push({ type: 'A', timestamp: 5 });
    engine.push({ type: 'A' });
    engine.push({ type: 'A', fields: { timestamp: '1970-01-01T00:00:09Z' } });
    expect(engine.take().map(({ timestamp }) => timestamp)).toEqual([5, 5, 9000]);
  });

  const TWO = 'stream Big = A.where(v > 1).emit(v: v)\nstream Sum = A.window(2).aggregate(n: count(), s: sum(v)).emit(n: n, s: s)';

  it('takes nothing behind the end', () => {
    const engine = compile(TWO).start();
    engine.push({ type: 'A', fields: { v: 1 }, timestamp: 1 });
    engine.end();
    expect(() => engine.push({ type: 'A', fields: { v: 5 } })).toThrow(expect.objectContaining({ code: 'validation_error' }));
    expect(() => engine.advance(9)).toThrow(expect.objectContaining({ code: 'validation_error' }));
    engine.end();
    expect(engine.take().map(({ fields }) => fields)).toEqual([{ n: 1, s: 1 }]);
    expect(engine.counters().eventsProcessed).toBe(1);
    const next = compile(TWO).start();
    next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
    expect(() => next.push({ type: 'A', fields: { v: 5 } })).toThrow(expect.objectContaining({ code: 'validation_error' }));
  });

  it.each<[string, (engine: StartedProgram) => void]>([
    ['push', (engine) => engine.push({ type: 'A', fields: { v: 7 } })],
    ['advance', (engine) => engine.advance(50)],
    ['end', (engine) => engine.end()],
    ['snapshot', (engine) => engine.snapshot()],
    ['answer', (engine) => engine.answer({ id: 0, result: { status: 'timeout' }, latencyMs: null })],
  ])('does not let a callback break in with %s, and goes on as if it had not been tried', (_, breakIn) => {
    const outputs: Output['fields'][] = [];
    const engine = compile(TWO).start({
      onOutput: ({ stream, fields }) => {
        outputs.push(fields);
        if (stream === 'Big' && fields['v'] === 2) breakIn(engine);
      },
    });
    engine.push({ type: 'A', fields: { v: 1 } });
    expect(() => engine.push({ type: 'A', fields: { v: 2 } })).toThrow(expect.objectContaining({ code: 'validation_error' }));
    for (const v of [3, 4]) engine.push({ type: 'A', fields: { v } });
    expect(outputs).toEqual([{ v: 2 }, { n: 2, s: 3 }, { v: 3 }, { v: 4 }, { n: 2, s: 7 }]);
  });

  it('does an event to its end when a callback fails, and then throws what that has thrown', () => {
    const outputs: Output['fields'][] = [];
    const engine = compile(TWO).start({
      onOutput: ({ stream, fields }) => {
        if (stream === 'Big' && fields['v'] === 2) throw new Error('the disk is full');
        outputs.push(fields);
      },
    });
    engine.push({ type: 'A', fields: { v: 1 } });
    expect(() => engine.push({ type: 'A', fields: { v: 2 } })).toThrow('the disk is full');
    engine.push({ type: 'A', fields: { v: 3 } });
    expect(outputs).toEqual([{ n: 2, s: 3 }, { v: 3 }]);
    expect(engine.counters().eventsProcessed).toBe(3);
  });

  it('takes a look-up that throws for one that has failed', () => {
    const messages: string[] = [];
    const text = 'connector C = http (url: "http://example.com")\nstream S = A.enrich(C, key: v, fields: [w]).emit(v: v, w: w)';
    const engine = compile(text).start({
      onLog: ({ message }) => messages.push(message),
      lookup: () => {
        throw new Error('no route');
      },
    });
    expect(() => engine.push({ type: 'A', fields: { v: 1 } })).toThrow('no route');
    expect(engine.counters().questionsOpen).toBe(0);
    expect(messages).toEqual([expect.stringContaining('no route')]);
  });

  it('takes the answer of a look-up while it is asked, but not those of others', () => {
    const text = 'connector C = http (url: "http://example.com")\nstream S = A.enrich(C, key: v, fields: [w]).emit(v: v, w: w)';
    const told: unknown[] = [];
    const ok = (w: number): Answer['result'] => ({ status: 'ok', value: new Map([['w', w]]) });
    const engine = compile(text).start({
      lookup: ({ id }) => {
        if (id > 0) expect(() => engine.answer({ id: id - 1, result: ok(0), latencyMs: null })).toThrow('at work');
        for (const w of [7, 8]) told.push(engine.answer({ id, result: ok(w), latencyMs: null }));
        return undefined;
      },
    });
    for (const v of [1, 2]) engine.push({ type: 'A', fields: { v } });
    expect(told).toEqual([true, false, true, false]);
    expect(engine.take().map(({ fields }) => fields)).toEqual([
      { v: 1, w: 7 },
      { v: 2, w: 7 },
    ]);
    expect(engine.counters().questionsOpen).toBe(0);
  });

  it('imports what the caller gives it', () => {
    const program = compile('import "limits.vpl"\nstream S = A.where(v > LIMIT).emit(v: v)', {
      resolveImport: (path) => (path === 'limits.vpl' ? 'const LIMIT = 3\n' : undefined),
    });
    const engine = program.start();
    for (const v of [3, 4]) engine.push({ type: 'A', fields: { v } });
    expect(engine.take().map(({ fields }) => fields)).toEqual([{ v: 4 }]);
  });

  it('tells apart a program and a file that has its name', () => {
    const wrong = () =>
      compile('import "program.vpl" as other\nevent A: v: int\nstream S = A.emit(v: v)', {
        resolveImport: () => 'event A: v: int\nstream S = A.emit(v: v)',
      });
    expect(wrong).toThrow(/the event or type `A` is declared twice.*the stream `S` is declared twice/s);
  });

  it('tells every error of a text with its place', () => {
    const wrong = () => compile('stream S = A.wher(v > 1)\nstream T = B.where(nothing(1)).emit()');
    expect(wrong).toThrow(ProgramError);
    try {
      wrong();
    } catch (error) {
      const { diagnostics, message } = error as ProgramError;
      expect(diagnostics.map(({ code, line }) => `${code} ${line}`)).toEqual(['E091 1', 'E050 2']);
      expect(message).toContain('did you mean');
    }
  });
});
