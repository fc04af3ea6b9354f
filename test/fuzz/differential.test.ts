import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../shared/events/event.ts';
import { fieldsToJson, toJson } from '../../shared/events/text.ts';
import { check } from '../../shared/language/checker/check.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../worker/engine/compile/compiled-backend.ts';
import { createEngine, type EngineOptions } from '../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../worker/engine/engine.ts';
import { fuse } from '../../worker/engine/fusion/fuse.ts';
import { enterOrPush } from './entering.ts';
import { events } from './events.ts';
import { program } from './programs.ts';
import { Tape } from './tape.ts';

/** `FUZZ_PROGRAMS=20000 npx vitest run test/fuzz` is the long run; `FUZZ_SEED` repeats one. */
const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 500);
const seed = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };

const tapes = fc.tuple(fc.uint16Array({ maxLength: 260, size: 'max' }), fc.uint16Array({ minLength: 40, maxLength: 400, size: 'max' }));

test('random programs give the same bytes compiled, replayed and restored at any point', { timeout: 3_600_000 }, () => {
  let valid = 0;
  let effects = 0;
  const property = fc.property(tapes, fc.nat(40), ([programTape, eventTape], cut) => {
    const text = program(new Tape(programTape));
    const { plan } = check(new SourceText('random.vpl', text));
    if (plan === null) return;
    valid++;
    const input = events(new Tape(eventTape), 40);
    const reference = run(plan, input);
    effects += reference.length;
    const told = (how: string) => `${how}\n${text}`;
    expect(run(plan, input), told('replayed')).toEqual(reference);
    expect(run(plan, input, { options: { backend: compiledBackend } }), told('compiled')).toEqual(reference);
    expect(run(plan, input, { cut }), told(`restored before event ${cut}`)).toEqual(reference);
    expect(run(plan, input, { options: fused }), told('fused')).toEqual(reference);
    expect(
      run(plan, input, { options: fused, cut, successorOptions: {} }),
      told(`fused, then restored as reference before event ${cut}`),
    ).toEqual(reference);
    expect(run(plan, input, { cut, successorOptions: fused }), told(`reference, then restored as fused before event ${cut}`)).toEqual(
      reference,
    );
  });
  fc.assert(property, { numRuns: programs, ...seed });
  expect(valid, 'most random programs are programs').toBeGreaterThan(programs * 0.6);
  expect(effects, 'and they do something').toBeGreaterThan(programs);
});

const fused: EngineOptions = { backend: compiledBackend, fuse };

interface RunOptions {
  readonly options?: EngineOptions;
  /** Of the engine that takes over. */
  readonly successorOptions?: EngineOptions;
  /** Before this event the engine is given up and a new one takes over. */
  readonly cut?: number;
}

/** Everything a host sees of a run, as text. */
function run(plan: Plan, input: readonly InputEvent[], { options = {}, successorOptions = options, cut = -1 }: RunOptions = {}): string[] {
  const seen: string[] = [];
  const host: EngineHost = {
    output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => seen.push(`${entry.stream} ${entry.kind} ${entry.message} ${toJson(entry.data)}`),
  };
  let engine = createEngine(plan, host, options);
  for (const [at, event] of input.entries()) {
    if (at === cut) engine = successor(engine, plan, host, successorOptions);
    if (enterOrPush(engine, event) === 'invalid') seen.push(`${at} invalid`);
  }
  engine.end();
  return seen;
}

function successor(engine: Engine, plan: Plan, host: EngineHost, options: EngineOptions): Engine {
  const next = createEngine(plan, host, options);
  next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
  return next;
}
