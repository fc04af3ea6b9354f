/**
 * Runs a program over an event file: `<program> <events> <times> <compiled | reference> <checked field>`. Prints times and totals
 * of the outputs as JSON.
 */

import { EventLines } from '../../../cli/event-files/event-lines.ts';
import { checkProgram } from '../../../cli/program/checked-program.ts';
import { Simulation } from '../../../cli/simulation/simulation.ts';
import type { SimulationView } from '../../../cli/simulation/view.ts';
import type { OutputEvent } from '../../../shared/events/event.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import { plain } from '../../reference/ways.ts';
import type { OutputTotals } from './output-totals.ts';
import { runRepeatedly } from './repeated-runs.ts';

const [program = '', events = '', times = '1', backend, field = ''] = process.argv.slice(2);

/** The one copy of the text that names of properties share, as a literal in a program is: letters need not be compared for each output. */
const [checked = ''] = Object.keys({ [field]: null });

const figures = runRepeatedly(Number(times), async (totals, begins) => {
  const { plan } = checkProgram(program);
  if (plan === null) throw new Error(`${program} has errors`);
  return backend === 'reference' ? runReference(plan, totals, begins) : await simulate(plan, totals, begins);
});
void figures.then((run) => process.stdout.write(JSON.stringify(run)));

/** As `cep simulate` does it, with outputs that stay in memory. Returns the number of events. */
async function simulate(plan: Plan, totals: OutputTotals, begins: () => void): Promise<number> {
  let count = 0;
  const view = countingView(totals, (processed) => {
    count = processed;
  });
  const options = { plan, eventsPaths: [events], preload: false, timed: false, strict: false, flush: true };
  await Simulation.run(options, { ...view, begin: begins });
  return count;
}

/** The reference evaluator, fed by the readers of the command line. */
function runReference(plan: Plan, totals: OutputTotals, begins: () => void): number {
  const engine = createEngine(plan, { output: (event) => take(totals, event), deliver: refuse, log: refuse }, plain);
  begins();
  const lines = EventLines.open(events, { schemas: new EventSchemas(plan.events), preload: false, canResume: false });
  for (let piece = lines.next({ stopAtEvent: false }); piece; piece = lines.next({ stopAtEvent: false })) {
    for (const result of piece.results) {
      if (result.kind !== 'event') throw new Error(`line of the event file: ${result.kind}`);
      engine.push(result.event);
    }
  }
  lines.close();
  engine.end();
  return engine.counters().eventsProcessed;
}

function take(totals: OutputTotals, event: OutputEvent): void {
  totals.take(event, event.fields.get(checked) as number);
}

/** Takes outputs, shows nothing; a scenario that has anything else to say is broken. */
function countingView(totals: OutputTotals, ended: (eventsProcessed: number) => void): SimulationView {
  const nothing = (): void => undefined;
  const done = (): Promise<void> => Promise.resolve();
  return {
    output: (event) => take(totals, event),
    console: refuse,
    log: refuse,
    note: refuse,
    summary: ({ eventsProcessed }) => ended(eventsProcessed),
    progress: nothing,
    flush: nothing,
    ready: done,
    written: done,
  };
}

function refuse(unexpected: unknown): void {
  throw new Error(`unexpected: ${String(unexpected)}`);
}
