import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type { Tracer } from '../../../../worker/engine/engine.ts';
import { fuse } from '../../../../worker/engine/fusion/fuse.ts';
import { Tape } from '../../../fuzz/tape.ts';
import { patternEvents, patternKinds, patternProgram } from '../fusion/pattern-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 12);
const tapes = fc.tuple(fc.uint16Array({ maxLength: 80, size: 'max' }), fc.uint16Array({ minLength: 60, maxLength: 400, size: 'max' }));

test.each(Object.entries(patternKinds))(
  'random %s are explained and traced in the same words on the kernel and row by row',
  { timeout: 3_600_000 },
  (_, kind) => {
    let kernels = 0;
    const property = fc.property(tapes, ([programTape, eventTape]) => {
      const text = patternProgram(new Tape(programTape), kind);
      const { plan } = check(new SourceText('random.vpl', text));
      if (plan === null || !hasKernel(plan)) return;
      kernels++;
      const input = patternEvents(new Tape(eventTape), 40);
      expect(explained(plan, input, {}), text).toEqual(explained(plan, input, { isFused: false }));
      expect(traced(plan, input, {}), text).toEqual(traced(plan, input, { isFused: false }));
    });
    fc.assert(property, { numRuns: programs, endOnFailure: true });
    expect(kernels).toBeGreaterThan(0);
  },
);

/** The pattern runs on its kernel when it is watched. */
function hasKernel(plan: Plan): boolean {
  const program = fuse(plan, { watched: 'explained' });
  return plan.streams.some(({ source }) => source.kind === 'pattern' && program?.kernelOf(source) !== undefined);
}

/** Explanations now and then, and when the input has ended. */
function explained(plan: Plan, input: readonly InputEvent[], options: EngineOptions): readonly unknown[] {
  const engine = createEngine(plan, { output: () => undefined }, { ...options, explain: true });
  const told: unknown[] = [];
  for (const [at, event] of input.entries()) {
    engine.push(event);
    if (at % 5 === 4) told.push(engine.explain('M'), engine.explain('M', '1'));
  }
  engine.end();
  return [...told, engine.explain('M')];
}

function traced(plan: Plan, input: readonly InputEvent[], options: EngineOptions): readonly unknown[] {
  const told: unknown[] = [];
  const trace: Tracer = {
    matched: (...one) => told.push(['matched', ...one]),
    decided: (...one) => told.push(['decided', ...one]),
    pattern: (...one) => told.push(['pattern', ...one]),
    emitted: (...one) => told.push(['emitted', ...one]),
  };
  const engine = createEngine(plan, { output: () => undefined, trace }, options);
  for (const event of input) engine.push(event);
  engine.end();
  return told;
}
