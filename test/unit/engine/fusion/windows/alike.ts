import { expect } from 'vitest';
import { fieldsToJson, toJson } from '../../../../../shared/events/text.ts';
import type { Plan } from '../../../../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../../../../worker/engine/compile/compiled-backend.ts';
import { createEngine, type EngineOptions } from '../../../../../worker/engine/create-engine.ts';
import type { Engine, EngineHost } from '../../../../../worker/engine/engine.ts';
import { fuse } from '../../../../../worker/engine/fusion/fuse.ts';
import { ProgramFusion } from '../../../../../worker/engine/fusion/program-fusion.ts';
import { enterOrPush } from '../../../../fuzz/entering.ts';
import { planOf } from '../../../../scenarios/run-program.ts';
import { inputEvent } from '../../support/engine-run.ts';
import { ms, type TestEvent } from '../../windows/timeline.ts';

const fused: EngineOptions = { backend: compiledBackend, fuse };
const whole: EngineOptions = { backend: compiledBackend };

/** How many operators of a program run as kernels. */
export function kernelsOf(program: string): number {
  return new ProgramFusion(planOf(program)).kernels.size;
}

/** Runs a program over events fused and operator by operator, and with either taking over from the other, and compares all that is seen. */
export function expectAlike(program: string, events: readonly TestEvent[], cut = events.length): readonly string[] {
  const plan = planOf(program);
  const expected = seen(plan, events, whole);
  expect(seen(plan, events, fused), `fused\n${program}`).toEqual(expected);
  expect(seen(plan, events, fused, { at: cut, options: whole }), `handed over by the fused one before event ${cut}\n${program}`).toEqual(
    expected,
  );
  expect(seen(plan, events, whole, { at: cut, options: fused }), `taken over by the fused one before event ${cut}\n${program}`).toEqual(
    expected,
  );
  expect(seen(plan, events, fused, { at: cut, options: fused }), `fused twice, from event ${cut} on anew\n${program}`).toEqual(expected);
  return expected;
}

interface Successor {
  readonly at: number;
  readonly options: EngineOptions;
}

/** Outputs, logs and counters. */
function seen(plan: Plan, events: readonly TestEvent[], options: EngineOptions, successor?: Successor): readonly string[] {
  const effects: string[] = [];
  const host: EngineHost = {
    output: (event) => effects.push(`${event.stream} ${event.type}@${event.time} ${fieldsToJson(event.fields)}`),
    log: (entry) => effects.push(`${entry.stream} ${entry.message} ${toJson(entry.data)}`),
  };
  let engine = createEngine(plan, host, options);
  const restart = (): void => {
    if (successor !== undefined) engine = taken(engine, createEngine(plan, host, successor.options));
  };
  for (const { index, type, k, v, us } of events) {
    if (index === successor?.at) restart();
    enterOrPush(engine, inputEvent(type, ms(us), { i: index, k, v }));
  }
  if (successor !== undefined && successor.at >= events.length) restart();
  engine.end();
  for (const [name, { eventsIn, eventsOut, late, failures }] of engine.counters().streams)
    effects.push(`${name}: ${eventsIn} in, ${eventsOut} out, ${late} late, ${failures} failed`);
  return effects;
}

function taken(from: Engine, to: Engine): Engine {
  const snapshot = from.snapshot();
  to.restore(JSON.parse(JSON.stringify(snapshot)));
  return to;
}

/** The snapshot that a fused program takes before event `at`, read before event `readAt`, as text. */
export function snapshotAfter(program: string, events: readonly TestEvent[], at: number, readAt: number): string {
  const engine = createEngine(planOf(program), { output: () => undefined }, fused);
  const push = ({ index, type, k, v, us }: TestEvent): unknown => enterOrPush(engine, inputEvent(type, ms(us), { i: index, k, v }));
  events.slice(0, at).forEach(push);
  const snapshot = engine.snapshot();
  events.slice(at, readAt).forEach(push);
  return JSON.stringify(snapshot);
}
