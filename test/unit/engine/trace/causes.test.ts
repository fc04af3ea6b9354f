import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fieldsToJson } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import { limits } from '../../../../shared/limits.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type { Causes, EngineSnapshot } from '../../../../worker/engine/engine.ts';
import { Tape } from '../../../fuzz/tape.ts';
import { planOf } from '../../../scenarios/run-program.ts';
import { patternEvents, patternKinds, patternProgram } from '../fusion/pattern-programs.ts';
import { inputEvent, outputText } from '../support/engine-run.ts';

type Event = readonly [type: string, time: number, fields?: Readonly<Record<string, Value>>];

/** Kind and count of each output's causes, and each event as `step Type@time {fields}`. */
function causesOf(program: string, events: readonly Event[], options: EngineOptions & { readonly from?: EngineSnapshot } = {}): string[] {
  const told: string[] = [];
  const { from, ...engineOptions } = options;
  const engine = createEngine(
    planOf(program),
    { output: (_, causes) => told.push(textOf(causes as Causes)) },
    { causes: true, ...engineOptions },
  );
  if (from !== undefined) engine.restore(from);
  for (const event of events) engine.push(inputEvent(...event));
  engine.end();
  return told;
}

function textOf({ kind, count, events }: Causes): string {
  const shown = events.map(({ step, type, time, fields }) => `${step === null ? '' : `${step} `}${type}@${time} ${fieldsToJson(fields)}`);
  return `${kind} ${count}: ${shown.join(', ')}`;
}

describe('the events behind an output', () => {
  test('are those of its steps, whole, in order of arrival', () => {
    const program = 'stream S = A as a -> B where k == a.k as b -> all C where k == a.k as c -> D as d .within(1m) .emit(k: a.k)\n';
    expect(
      causesOf(program, [
        ['A', 0, { k: 1, other: 'x' }],
        ['B', 1, { k: 2 }],
        ['B', 2, { k: 1, unread: true }],
        ['C', 3, { k: 1 }],
        ['C', 4, { k: 1 }],
        ['D', 5],
      ]).at(0),
    ).toBe('match 5: a A@0 {"k":1,"other":"x"}, b B@2 {"k":1,"unread":true}, c C@3 {"k":1}, c C@4 {"k":1}, d D@5 {}');
  });

  test('are one for each side of a join', () => {
    const program = 'stream J = join(A, B).on(A.k == B.k).window(10s).emit(x: A.v, y: B.v)\n';
    expect(
      causesOf(program, [
        ['A', 0, { k: 1, v: 7, w: 1 }],
        ['B', 10, { k: 1, v: 8 }],
      ]),
    ).toEqual(['join 2: A A@0 {"k":1,"v":7,"w":1}, B B@10 {"k":1,"v":8}']);
  });

  test('are the one that passed a filter', () => {
    expect(
      causesOf('stream F = A.where(v > 1).emit(v: v)\n', [
        ['A', 0, { v: 1 }],
        ['A', 1, { v: 2, w: 3 }],
      ]),
    ).toEqual(['events 1: A@1 {"v":2,"w":3}']);
  });

  test('are those of the key and the window, without what a condition kept from it', () => {
    const program = 'stream W = A.partition_by(k).where(v > 0).window(10ms).aggregate(n: count(), s: sum(v)).emit(k: k, n: n, s: s)\n';
    expect(
      causesOf(program, [
        ['A', 0, { k: 1, v: 1 }],
        ['A', 1, { k: 2, v: 1 }],
        ['A', 2, { k: 1, v: -5 }],
        ['A', 3, { k: 1, v: 2 }],
        ['A', 12, { k: 1, v: 4 }],
      ]),
    ).toEqual(['window 2: A@0 {"k":1,"v":1}, A@3 {"k":1,"v":2}', 'window 1: A@1 {"k":2,"v":1}', 'window 1: A@12 {"k":1,"v":4}']);
  });

  test('are those of the window also where another stream makes the output', () => {
    const program = 'stream W = A.window(2).aggregate(s: sum(v))\nstream F = W.where(s > 2).emit(s: s)\n';
    expect(
      causesOf(program, [
        ['A', 0, { v: 1 }],
        ['A', 1, { v: 2 }],
      ]),
    ).toEqual(['window 2: A@0 {"v":1}, A@1 {"v":2}']);
  });

  test('are the results that came to the window of a window, whenever they came', () => {
    const program =
      'stream W = A.partition_by(k).window(1m).aggregate(n: count()).emit(k: k, n: n)\nstream V = W.window(5m).aggregate(t: sum(n)).emit(t: t)\n';
    expect(
      causesOf(program, [
        ['A', 0, { k: 'a' }],
        ['A', 5_000, { k: 'a' }],
        ['A', 70_000, { k: 'b' }],
        ['A', 80_000, { k: 'a' }],
        ['A', 1_200_000, { k: 'a' }],
      ]).filter((told) => told.includes('W@')),
    ).toEqual([
      'window 3: W@59999 {"k":"a","n":2}, W@119999 {"k":"b","n":1}, W@119999 {"k":"a","n":1}',
      'window 1: W@1259999 {"k":"a","n":1}',
    ]);
  });

  test('are the absences that came to a window, each made by time', () => {
    const program =
      'stream N = A as a -> NOT B where k == a.k within 1m .emit(k: a.k)\nstream V = N.window(10m).aggregate(n: count()).emit(n: n)\nstream C = N.window(2).aggregate(n: count(), k: last(k)).emit(k: k)\n';
    const events: Event[] = [0, 1_000, 2_000, 300_000].map((time, k) => ['A', time, { k }]);
    const told = causesOf(program, [...events, ['A', 5_000_000, { k: 4 }]]).filter((text) => text.includes('N@'));
    const absences = ['N@60000 {"k":0}', 'N@61000 {"k":1}', 'N@62000 {"k":2}', 'N@360000 {"k":3}'];
    expect(told).toContain(`window 4: ${absences.join(', ')}`);
    expect(told).toContain(`window 2: ${absences.slice(0, 2).join(', ')}`);
    expect(told).toContain(`window 2: ${absences.slice(2).join(', ')}`);
  });

  test('are the external ones where another stream makes the output of a match', () => {
    const program = 'stream M = A as a -> B as b\nstream F = M.where(a_v > 0).emit(v: a_v)\n';
    expect(
      causesOf(program, [
        ['A', 0, { v: 1 }],
        ['B', 1],
      ]),
    ).toEqual(['events 2: A@0 {"v":1}, B@1 {}']);
  });

  test('are the results that a pattern over windows took', () => {
    const program = 'stream W = A.window(2).aggregate(s: sum(v))\nstream M = W as one -> W where s > one.s as two .emit(s: two.s)\n';
    const events = [1, 2, 3, 4].map((v, at): Event => ['A', at, { v }]);
    expect(causesOf(program, events)).toEqual(['match 2: one A@1 {"s":3}, two A@3 {"s":7}']);
  });

  test('are the first and the last of too many, and their number is told', () => {
    const many = limits.alertCausesMax + 10;
    const events = Array.from({ length: many }, (_, at): Event => ['A', at, { v: at }]);
    const [told] = causesOf(`stream W = A.window(${many}).aggregate(n: count()).emit(n: n)\n`, events);
    expect(told).toContain(`window ${many}: A@0 `);
    expect(told).toContain(`A@${many - 1} `);
    expect(told?.match(/A@/g)).toHaveLength(limits.alertCausesMax);
  });

  test('are of no known number once the first is forgotten', () => {
    const events = Array.from({ length: limits.watchedEventsMax + 100 }, (_, at): Event => ['A', at, { v: at }]);
    const told = causesOf(`stream W = A.window(${events.length}).aggregate(n: count()).emit(n: n)\n`, events);
    expect(told[0]).toMatch(/^window null: A@\d+ /);
    expect(told[0]).toContain(`A@${events.length - 1} `);
  });

  test('are known of runs that an engine began which remembered nothing', () => {
    const program = 'stream S = A as a -> B where k == a.k as b .emit(k: a.k)\n';
    const before = createEngine(planOf(program), { output: () => undefined });
    before.push(inputEvent('A', 0, { k: 1, unread: 5 }));
    expect(causesOf(program, [['B', 1, { k: 1 }]], { from: before.snapshot() })[0]).toMatch(/^match 2: a A@0 .*, b B@1 \{"k":1\}$/);
  });
});

const tapes = fc.tuple(fc.uint16Array({ maxLength: 80, size: 'max' }), fc.uint16Array({ minLength: 60, maxLength: 300, size: 'max' }));

test.each(Object.entries(patternKinds))('outputs of %s are the same, to the byte, where causes are remembered', (_, kind) => {
  const property = fc.property(tapes, ([programTape, eventTape]) => {
    const { plan } = check(new SourceText('random.vpl', patternProgram(new Tape(programTape), kind)));
    if (plan === null) return;
    const input = patternEvents(new Tape(eventTape), 30);
    const outputs = (options: EngineOptions): readonly string[] => {
      const seen: string[] = [];
      const engine = createEngine(plan, { output: (event) => seen.push(outputText(event)) }, options);
      for (const event of input) engine.push(event);
      engine.end();
      return seen;
    };
    expect(outputs({ causes: true })).toEqual(outputs({}));
  });
  fc.assert(property, { numRuns: 8 });
});
