import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../../../../shared/events/event.ts';
import { fieldsToJson, toJson } from '../../../../../shared/events/text.ts';
import { check } from '../../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../../../../worker/engine/compile/compiled-backend.ts';
import { createEngine, type EngineOptions } from '../../../../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../../../../worker/engine/engine.ts';
import { fuse } from '../../../../../worker/engine/fusion/fuse.ts';
import { enterOrPush } from '../../../../fuzz/entering.ts';
import { Tape } from '../../../../fuzz/tape.ts';
import { joinEvents, joinProgram } from './join-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 120);
const seed = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };
const tapes = fc.tuple(
  fc.uint16Array({ minLength: 20, maxLength: 60, size: 'max' }),
  fc.uint16Array({ minLength: 200, maxLength: 900, size: 'max' }),
);
const fused: EngineOptions = { backend: compiledBackend, fuse };

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
      const reference = run(plan, input);
      told.outputs += reference.length;
      expect(run(plan, input, { options: fused }), `fused\n${text}`).toEqual(reference);
      const moved = (how: string) => `${how} before event ${cut}\n${text}`;
      expect(run(plan, input, { options: fused, cut, successorOptions: {} }), moved('fused, then generic')).toEqual(reference);
      expect(run(plan, input, { cut, successorOptions: fused }), moved('generic, then fused')).toEqual(reference);
      expect(run(plan, input, { options: fused, cut }), moved('fused, then fused')).toEqual(reference);
    });
    fc.assert(property, { numRuns: programs, ...seed });
    expect(told.programs, 'most are programs').toBeGreaterThan(programs * 0.5);
    expect(told.fused, 'whose joins become generated code').toBeGreaterThan(told.programs * 0.7);
    expect(told.outputs, 'and join').toBeGreaterThan(programs * 5);
  },
);

function isFused(plan: Plan): boolean {
  const program = fuse(plan);
  return plan.streams.some(({ source }) => source.kind === 'join' && program?.kernelOf(source) !== undefined);
}

interface RunOptions {
  readonly options?: EngineOptions;
  /** Of the engine that takes over. */
  readonly successorOptions?: EngineOptions;
  /** Before this event the engine is given up and a new one takes over. */
  readonly cut?: number;
}

/** Everything a host sees of a run, as text; with ticks between the events. */
function run(plan: Plan, input: readonly InputEvent[], { options = {}, successorOptions = options, cut = -1 }: RunOptions = {}): string[] {
  const seen: string[] = [];
  const host: EngineHost = {
    output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => seen.push(`${entry.stream} ${entry.kind} ${entry.message} ${toJson(entry.data)}`),
  };
  let engine = createEngine(plan, host, options);
  input.forEach((event, at) => {
    if (at === cut) engine = successor(engine, plan, host, successorOptions);
    if (at % 17 === 16) engine.advance(event.fallbackTime + 3);
    if (enterOrPush(engine, event) === 'invalid') seen.push(`${at} invalid`);
  });
  engine.end();
  for (const [name, { eventsIn, eventsOut, late, failures, runsDropped }] of engine.counters().streams) {
    seen.push(`${name} ${eventsIn} ${eventsOut} ${late} ${failures} ${[...runsDropped].join()}`);
  }
  return seen;
}

function successor(engine: Engine, plan: Plan, host: EngineHost, options: EngineOptions): Engine {
  const next = createEngine(plan, host, options);
  next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
  return next;
}
