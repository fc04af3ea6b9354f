import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputEvent } from '../../../../shared/events/event.ts';
import { fieldsToJson, toJson } from '../../../../shared/events/text.ts';
import { check } from '../../../../shared/language/checker/check.ts';
import { SourceText } from '../../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../../../worker/engine/compile/compiled-backend.ts';
import { createEngine, type EngineOptions } from '../../../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../../../worker/engine/engine.ts';
import { fuse } from '../../../../worker/engine/fusion/fuse.ts';
import { enterOrPush } from '../../../fuzz/entering.ts';
import { Tape } from '../../../fuzz/tape.ts';
import { type PatternKinds, patternEvents, patternProgram } from './pattern-programs.ts';

const programs = Number(process.env['FUZZ_PROGRAMS'] ?? 40);
const seed = process.env['FUZZ_SEED'] === undefined ? {} : { seed: Number(process.env['FUZZ_SEED']) };
const tapes = fc.tuple(fc.uint16Array({ maxLength: 80, size: 'max' }), fc.uint16Array({ minLength: 60, maxLength: 500, size: 'max' }));
const fused: EngineOptions = { backend: compiledBackend, fuse };

const single: readonly [string] = [''];
const closures: readonly [string, ...string[]] = ['', '+', '*', '?', '{2}', '{1,2}', '{2,}'];
const steps = { quantifiers: single, policies: single, negated: 0, timed: 0, failing: 0 };

const kinds: { readonly [name: string]: PatternKinds & { readonly fusedShare: number } } = {
  'sequences of single steps': { ...steps, fusedShare: 0.9 },
  'closures and optional steps': { ...steps, quantifiers: closures, policies: ['.longest()'], fusedShare: 0.8 },
  'closures with a match for each event': {
    ...steps,
    quantifiers: ['', '', '', '+', '*', '{1,2}'],
    policies: ['', '.each()'],
    fusedShare: 0.3,
  },
  'sequences with absences': { ...steps, quantifiers: ['', '', '', '+', '?'], negated: 30, timed: 20, fusedShare: 0.3 },
  'sequences with conditions that fail': { ...steps, quantifiers: ['', '', '', '?', '+'], failing: 40, fusedShare: 0.5 },
  'sequences with gaps': { ...steps, quantifiers: ['', '', '+', '*'], policies: ['.longest()', ''], timed: 50, fusedShare: 0.5 },
};

test.each(Object.entries(kinds))(
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
      const reference = run(plan, input);
      told.matches += reference.filter((line) => line.startsWith('M ')).length;
      expect(run(plan, input, { options: fused }), `fused\n${text}`).toEqual(reference);
      for (const at of [cut, Math.floor(cut / 2)]) {
        const moved = (how: string) => `${how} before event ${at}\n${text}`;
        expect(run(plan, input, { options: fused, cut: at, successorOptions: {} }), moved('fused, then generic')).toEqual(reference);
        expect(run(plan, input, { cut: at, successorOptions: fused }), moved('generic, then fused')).toEqual(reference);
        expect(run(plan, input, { options: fused, cut: at }), moved('fused, then fused')).toEqual(reference);
      }
    });
    fc.assert(property, { numRuns: programs, ...seed });
    expect(told.programs, 'most are programs').toBeGreaterThan(programs * 0.5);
    expect(told.fused, 'which become generated code').toBeGreaterThan(told.programs * fusedShare);
    expect(told.matches, 'and match').toBeGreaterThan(programs);
  },
);

function isFused(plan: Plan): boolean {
  const program = fuse(plan);
  return plan.streams.some(({ source }) => source.kind === 'pattern' && program?.kernelOf(source) !== undefined);
}

interface RunOptions {
  readonly options?: EngineOptions;
  readonly successorOptions?: EngineOptions;
  readonly cut?: number;
}

/** Everything a host sees of a run, with the open runs now and then and what was dropped at the end. */
function run(plan: Plan, input: readonly InputEvent[], { options = {}, successorOptions = options, cut = -1 }: RunOptions = {}): string[] {
  const seen: string[] = [];
  const host: EngineHost = {
    output: (event) => seen.push(`${event.stream} ${event.type} ${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => seen.push(`${entry.stream} ${entry.kind} ${entry.message} ${toJson(entry.data)}`),
  };
  let engine = createEngine(plan, host, options);
  for (const [at, event] of input.entries()) {
    if (at === cut) engine = successor(engine, plan, host, successorOptions);
    seen.push(enterOrPush(engine, event));
    if (at % 7 === 0) seen.push(told(engine));
  }
  engine.end();
  seen.push(told(engine));
  return seen;
}

function told(engine: Engine): string {
  const { streams, outputs } = engine.counters();
  return (
    [...streams].map(([name, one]) => `${name} ${one.eventsIn} ${one.eventsOut} ${one.runsActive} ${[...one.runsDropped]}`).join(';') +
    outputs
  );
}

function successor(engine: Engine, plan: Plan, host: EngineHost, options: EngineOptions): Engine {
  const next = createEngine(plan, host, options);
  next.restore(JSON.parse(JSON.stringify(engine.snapshot())));
  return next;
}
