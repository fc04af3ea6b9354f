import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import type { EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { fuse } from '../../worker/engine/fusion/fuse.ts';
import { expectAlike, seenOf, type Watch } from '../reference/seen.ts';
import { plain, shipped } from '../reference/ways.ts';
import { Tape } from './tape.ts';
import { trendEvents, trendProgram } from './trend-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 12);
const tapes = fc.tuple(fc.uint16Array({ maxLength: 120, size: 'max' }), fc.uint16Array({ minLength: 60, maxLength: 900, size: 'max' }));

/** `rare`: in percent, parts of patterns that generated code has no form for. */
const kinds = [
  { rare: 0, most: 60, fusedShare: 0.6 },
  { rare: 30, most: 60, fusedShare: 0.15 },
  { rare: 0, most: 160, fusedShare: 0.8 },
] as const;

test.each(kinds)(
  'random trends give the same as generated code, and from any snapshot of one in the other: $rare % rare, $most events',
  { timeout: 3_600_000 },
  ({ rare, most, fusedShare }) => {
    const told = { streams: 0, fused: 0, results: 0 };
    const property = fc.property(tapes, fc.nat(most), ([programTape, eventTape], cut) => {
      const text = trendProgram(new Tape(programTape), rare);
      const checked = check(new SourceText('random.vpl', text)).plan;
      if (checked === null) return;
      const plan = withBudget(checked, eventTape);
      const [streams, sharing] = fusedStreams(plan);
      told.streams += streams;
      told.fused += sharing;
      const input = trendEvents(new Tape(eventTape), most);
      const seen = expectAlike(plan, input, { cuts: [cut, Math.floor(cut / 2)], watch, text });
      told.results += seen.filter((line) => line.startsWith('S')).length;
    });
    fc.assert(property, { numRuns: programs });
    expect(told.streams, 'many are programs').toBeGreaterThan(programs * 0.5);
    expect(told.fused, 'which become generated code').toBeGreaterThan(told.streams * fusedShare);
    expect(told.results, 'and count trends').toBeGreaterThan(programs);
  },
);

test('a program that gains or loses streams goes on as row by row', { timeout: 3_600_000 }, () => {
  let results = 0;
  const property = fc.property(tapes, fc.nat(60), fc.boolean(), ([programTape, eventTape], cut, isGaining) => {
    const text = trendProgram(new Tape(programTape), 0);
    const { plan } = check(new SourceText('random.vpl', text));
    const { plan: fewer } = check(
      new SourceText('random.vpl', text.replace(/^stream S0 (?:.+\n)+/m, '').replace(/^stream N (?:.+\n)+/m, '')),
    );
    if (plan === null || fewer === null) return;
    const input = trendEvents(new Tape(eventTape), 60);
    const [before, after] = isGaining ? [fewer, plan] : [plan, fewer];
    const reloaded = (options: EngineOptions): string[] => seenOf(before, input, { options, cut, successor: { plan: after } }, watch);
    const reference = reloaded(plain);
    results += reference.length;
    expect(reloaded(shipped), `before event ${cut}, ${isGaining ? 'gaining' : 'losing'}\n${text}`).toEqual(reference);
  });
  fc.assert(property, { numRuns: programs });
  expect(results).toBeGreaterThan(programs);
});

/** Sometimes with few groups of trends allowed: no program can ask for that. */
function withBudget(plan: Plan, tape: ArrayLike<number>): Plan {
  const choice = (tape[0] ?? 0) % 12;
  if (choice === 0 || choice > 4) return plan;
  const streams = plan.streams.map((stream) => {
    const { source } = stream;
    return source.kind !== 'pattern' ? stream : { ...stream, source: { ...source, pattern: { ...source.pattern, runsMax: choice } } };
  });
  return { ...plan, streams };
}

/** How many streams count trends, and how many of those in generated code. */
function fusedStreams(plan: Plan): readonly [streams: number, fused: number] {
  const program = fuse(plan);
  const trends = plan.streams.filter(({ operators }) => operators[0]?.kind === 'trend_aggregate');
  return [trends.length, trends.filter(({ source }) => program?.kernelOf(source) !== undefined).length];
}

/** The counters, now and then. */
const watch: Watch = {
  after: (engine, at) => (at % 7 === 0 ? [counted(engine)] : []),
  atEnd: (engine) => [counted(engine)],
};

/** The groups of trends, late events, and what was dropped. */
function counted(engine: Engine): string {
  const { streams, outputs } = engine.counters();
  const told = [...streams].map(([name, one]) => [
    name,
    one.eventsIn,
    one.eventsOut,
    one.late,
    one.failures,
    one.runsActive,
    ...one.runsDropped,
  ]);
  return `${told.join(';')} ${outputs}`;
}
