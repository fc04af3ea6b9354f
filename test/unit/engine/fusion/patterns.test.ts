import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import type { Engine } from '../../../../worker/engine/engine.ts';
import { fuse } from '../../../../worker/engine/fusion/fuse.ts';
import { Tape } from '../../../fuzz/tape.ts';
import { expectAlike, type Watch } from '../../../reference/seen.ts';
import { patternEvents, patternKinds, patternProgram } from './pattern-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 20);
const tapes = fc.tuple(fc.uint16Array({ maxLength: 80, size: 'max' }), fc.uint16Array({ minLength: 60, maxLength: 500, size: 'max' }));

test.each(Object.entries(patternKinds))(
  'random %s give the same as generated code, and from any snapshot of one in the other',
  { timeout: 3_600_000 },
  (_, { fusedShare, ...kind }) => {
    const told = { programs: 0, fused: 0, matches: 0 };
    const property = fc.property(tapes, fc.nat(60), ([programTape, eventTape], cut) => {
      const text = patternProgram(new Tape(programTape), kind);
      const { plan } = check(new SourceText('random.vpl', text));
      if (plan === null) return;
      told.programs++;
      if (isFused(plan)) told.fused++;
      const input = patternEvents(new Tape(eventTape), 60);
      const seen = expectAlike(plan, input, { cuts: [cut, Math.floor(cut / 2)], watch, text });
      told.matches += seen.filter((line) => line.startsWith('M ')).length;
    });
    // To find the least of what fails takes a quarter of an hour: seed and path are told, and FUZZ_PROGRAMS has it found.
    fc.assert(property, { numRuns: programs, endOnFailure: process.env['FUZZ_PROGRAMS'] === undefined });
    expect(told.programs, 'many are programs').toBeGreaterThan(programs * 0.3);
    expect(told.fused, 'which become generated code').toBeGreaterThan(told.programs * fusedShare);
    expect(told.matches, 'and match').toBeGreaterThan(programs);
  },
);

test('one event ends two closures: the match of the first spares a run that began behind its last event', () => {
  const declared = 'event A:\n    k: int\n    v: int\n\nevent B:\n    k: int\n    v: int\n';
  const pattern = 'A as a -> B+ where k >= a.k as b\n    .within(9s)\n    .increasing(v)\n    .after_match(skip_past_last)';
  const { plan } = check(new SourceText('two.vpl', `${declared}\nstream M = ${pattern}\n    .emit(a: a.k, b: b.v)\n`));
  if (plan === null) throw new Error('no program');
  const event = (type: string, k: number, v: number): InputEvent => ({
    type,
    fields: new Map([
      ['k', k],
      ['v', v],
    ]),
    fallbackTime: 1,
  });
  const input = [event('A', 2, 0), event('B', 2, 1), event('A', 1, 0), event('B', 1, 3), event('B', 2, 0)];
  expect(isFused(plan)).toBe(true);
  expect(expectAlike(plan, input, { watch }).filter((line) => line.startsWith('M M'))).toHaveLength(2);
});

test.each([
  ['events that were held back', 'A', '    .watermark(out_of_order: 2s)\n'],
  ['rows that come together', 'Pairs', ''],
])('a match has its own id, whatever its closure takes before the next stream reads it: %s', (_, origin, time) => {
  const text = `event A:
    k: int

stream Pairs = A
    .partition_by(k)
    .window(2s)
    .aggregate(k: first(k))

stream M = ${origin} as first
    -> ${origin}+ as more
    .within(1h)
${time}    .emit(n: count(more))

stream N = M
    .emit(n: n, id: match_id)

stream Others = Pairs
    .where(k > 1)
    .emit(k: k)
`;
  const { plan } = check(new SourceText('ids.vpl', text));
  if (plan === null) throw new Error('no program');
  const input = Array.from(
    { length: 24 },
    (_, at): InputEvent => ({ type: 'A', fields: new Map([['k', at % 4]]), fallbackTime: at * 500 }),
  );
  expect(isFused(plan)).toBe(true);
  expect(expectAlike(plan, input, { watch }).filter((line) => line.startsWith('N N')).length).toBeGreaterThan(10);
});

test('two absences behind each other match at the later of their deadlines', () => {
  const text = `event A:
    k: int

stream M = A as one
    -> A as two -> NOT A where k == one.k within 1s -> NOT A where k == 9
    .within(2s)
    .emit(k: one.k, took: match_duration_ms)
`;
  const { plan } = check(new SourceText('absences.vpl', text));
  if (plan === null) throw new Error('no program');
  const at = (time: number, k: number): InputEvent => ({ type: 'A', fields: new Map([['k', k]]), fallbackTime: time });
  const seen = expectAlike(plan, [at(0, 1), at(1_500, 2), at(4_000, 9)], { watch });
  expect(isFused(plan)).toBe(true);
  // The first absence ends half a second after the pattern's time, with which the second ends.
  expect(seen.filter((line) => line.startsWith('M M'))).toEqual(['M M 2500 {"k":1,"took":2500}']);
});

function isFused(plan: Plan): boolean {
  const program = fuse(plan);
  return plan.streams.some(({ source }) => source.kind === 'pattern' && program?.kernelOf(source) !== undefined);
}

/** The counters, now and then. */
const watch: Watch = {
  after: (engine, at) => (at % 7 === 0 ? [counted(engine)] : []),
  atEnd: (engine) => [counted(engine)],
};

/** The open runs, and what was dropped. */
function counted(engine: Engine): string {
  const { streams, outputs } = engine.counters();
  return (
    [...streams]
      .map(([name, one]) => `${name} ${one.eventsIn} ${one.eventsOut} ${one.late} ${one.runsActive} ${[...one.runsDropped]}`)
      .join(';') + outputs
  );
}
