import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../../shared/language/plan/plan.ts';
import { fuse } from '../../../../../worker/engine/fusion/fuse.ts';
import { Tape } from '../../../../fuzz/tape.ts';
import { expectAlike, type Watch } from '../../../../reference/seen.ts';
import { joinEvents, joinProgram } from './join-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 50);
const tapes = fc.tuple(
  fc.uint16Array({ minLength: 20, maxLength: 60, size: 'max' }),
  fc.uint16Array({ minLength: 200, maxLength: 900, size: 'max' }),
);

const kinds: readonly (readonly [name: string, windows: readonly [string, ...string[]]])[] = [
  ['within a time', ['.window(20ms)', '.window(100ms)']],
  ['of the newest of each key', ['.window(20ms, policy: latest)', '.window(100ms, policy: latest)', '.window(1)']],
  ['of the newest few of each key', ['.window(2)', '.window(3)', '.window(17)']],
];

test.each(kinds)(
  'random joins %s give the same as generated code, and from any snapshot of one in the other',
  { timeout: 3_600_000 },
  (_, windows) => {
    const told = { programs: 0, fused: 0, outputs: 0 };
    const property = fc.property(tapes, fc.nat(50), ([programTape, eventTape], cut) => {
      const text = joinProgram(new Tape(programTape), windows);
      const { plan } = check(new SourceText('random.vpl', text));
      if (plan === null) return;
      told.programs++;
      if (isFused(plan)) told.fused++;
      const input = joinEvents(new Tape(eventTape), 60);
      told.outputs += expectAlike(plan, input, { cuts: [cut], watch, text }).length;
    });
    fc.assert(property, { numRuns: programs });
    expect(told.programs, 'many are programs').toBeGreaterThan(programs * 0.3);
    expect(told.fused, 'whose joins become generated code').toBeGreaterThan(told.programs * 0.35);
    expect(told.outputs, 'and join').toBeGreaterThan(programs * 5);
  },
);

function isFused(plan: Plan): boolean {
  const program = fuse(plan);
  return plan.streams.some(({ source }) => source.kind === 'join' && program?.kernelOf(source) !== undefined);
}

/** Ticks between the events, and the counters at the end. */
const watch: Watch = {
  before: (engine, at, event) => {
    if (at % 17 === 16) engine.advance(event.fallbackTime + 3);
  },
  atEnd: (engine) =>
    Array.from(
      engine.counters().streams,
      ([name, { eventsIn, eventsOut, late, failures, runsDropped }]) =>
        `${name} ${eventsIn} ${eventsOut} ${late} ${failures} ${[...runsDropped].join()}`,
    ),
};
