import type { InputEvent } from '../../../../../shared/events/event.ts';
import { createEngine } from '../../../../../worker/engine/create-engine.ts';
import { printProgram } from '../../../../../worker/engine/fusion/fuse.ts';
import { enterOrPush } from '../../../../reference/entering.ts';
import { expectAlike as expectPlanAlike, type Watch } from '../../../../reference/seen.ts';
import { planOf } from '../../../../scenarios/run-program.ts';
import { inputEvent } from '../../support/engine-run.ts';
import { ms, type TestEvent } from '../../windows/timeline.ts';

/** How many operators of a program run as kernels. */
export function kernelsOf(program: string): number {
  return printProgram(planOf(program)).kernels.size;
}

/** Runs a program over events in every way, with each taking over from the other at the cut, and compares outputs, logs and counters. */
export function expectAlike(program: string, events: readonly TestEvent[], cut = events.length): readonly string[] {
  return expectPlanAlike(planOf(program), events.map(inputOf), { cuts: [cut], watch, text: program });
}

const watch: Watch = {
  atEnd: (engine) =>
    Array.from(
      engine.counters().streams,
      ([name, { eventsIn, eventsOut, late, failures }]) => `${name}: ${eventsIn} in, ${eventsOut} out, ${late} late, ${failures} failed`,
    ),
};

function inputOf({ index, type, k, v, us }: TestEvent): InputEvent {
  return inputEvent(type, ms(us), { i: index, k, v });
}

/** The snapshot that a fused program takes before event `at`, read before event `readAt`, as text. */
export function snapshotAfter(program: string, events: readonly TestEvent[], at: number, readAt: number): string {
  const engine = createEngine(planOf(program), { output: () => undefined });
  const push = (event: TestEvent): unknown => enterOrPush(engine, inputOf(event));
  events.slice(0, at).forEach(push);
  const snapshot = engine.snapshot();
  events.slice(at, readAt).forEach(push);
  return JSON.stringify(snapshot);
}
