/** Runs a program over an event file: `<program> <events> <times> <compiled | reference>`. Prints times and the sum of the outputs as JSON. */

import { checkProgram } from '../../../cli/program/checked-program.ts';
import { EventLines } from '../../../cli/simulation/event-lines.ts';
import { Simulation } from '../../../cli/simulation/simulation.ts';
import type { SimulationView } from '../../../cli/simulation/view.ts';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { OutputTotals } from './output-totals.ts';
import { cpuTime, type RunFigures } from './run-figures.ts';

const [program = '', events = '', times = '1', backend] = process.argv.slice(2);
const { plan } = checkProgram(program);
if (plan === null) throw new Error(`${program} has errors`);

let totals = new OutputTotals();
const timesMs: number[] = [];
const cpuMs: number[] = [];
for (let time = 0; time < Number(times); time++) {
  totals = new OutputTotals();
  const started = performance.now();
  const cpuBefore = cpuTime();
  if (backend === 'reference') runReference(plan, events);
  else await Simulation.run({ plan, eventsPath: events, preload: false, timed: false, strict: false, flush: true }, countingView());
  timesMs.push(performance.now() - started);
  cpuMs.push(cpuTime() - cpuBefore);
}
const figures: RunFigures = { timesMs, cpuMs, outputs: totals.outputs, sum: totals.sum };
process.stdout.write(JSON.stringify(figures));

function take(event: OutputEvent): void {
  let sum = 0;
  for (const value of event.fields.values()) if (typeof value === 'number') sum += value;
  totals.take(event, sum);
}

/** The reference evaluator, fed by the readers of the command line. */
function runReference(program: Plan, path: string): void {
  const engine = createEngine(program, { output: take, deliver: refuse, log: refuse });
  const lines = EventLines.open(path, { schemas: new EventSchemas(program.events), preload: false, canResume: false });
  for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
    for (const result of piece.results) {
      if (result.kind !== 'event') throw new Error(`line of the event file: ${result.kind}`);
      engine.push(result.event);
    }
  }
  lines.close();
  engine.end();
}

/** Takes outputs, shows nothing; a scenario that has anything else to say is broken. */
function countingView(): SimulationView {
  const nothing = (): void => undefined;
  const done = (): Promise<void> => Promise.resolve();
  return {
    output: take,
    console: refuse,
    log: refuse,
    note: refuse,
    summary: nothing,
    progress: nothing,
    flush: nothing,
    ready: done,
    written: done,
  };
}

function refuse(unexpected: unknown): void {
  throw new Error(`unexpected: ${String(unexpected)}`);
}
