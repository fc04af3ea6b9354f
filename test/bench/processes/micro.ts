/** Measures one case in memory: `<case> [share of its events]`. Prints its figures as JSON. */

import type { InputEvent } from '../../../shared/events/event.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Plan } from '../../../shared/language/plan/plan.ts';
import { compiledBackend } from '../../../worker/engine/compile/compiled-backend.ts';
import { createEngine } from '../../../worker/engine/create-engine.ts';
import type { Engine } from '../../../worker/engine/engine.ts';
import { reload } from '../../../worker/engine/reload.ts';
import { Histogram } from '../histogram.ts';
import { type MicroCase, microCases } from '../micro/cases.ts';
import type { MicroFigures, PauseFigures } from './micro-figures.ts';
import { OutputTotals } from './output-totals.ts';

const [name = '', scale = '1'] = process.argv.slice(2);
function figuresOf(micro: MicroCase): MicroFigures {
  const plan = planOf(micro.program);
  const make = micro.event();
  const events = Array.from({ length: micro.before + Math.ceil(micro.events * Number(scale)) }, (_, i) => make(i));
  const before = events.slice(0, micro.before);
  const measured = events.slice(micro.before);
  // Twice: the first run is what makes the code warm.
  timeOf(started(plan, 'compiled', before).engine, measured);
  const compiled = started(plan, 'compiled', before);
  const ns = timeOf(compiled.engine, measured);
  const reference = started(plan, 'reference', before);
  const referenceNs = timeOf(reference.engine, measured);
  requireSame(compiled.totals, reference.totals);
  const pushes = pushTimes(started(plan, 'compiled', before).engine, measured);
  return {
    outputs: compiled.totals.outputs,
    nsPerEvent: ns,
    referenceNsPerEvent: referenceNs,
    p50: pushes.percentile(0.5),
    p99: pushes.percentile(0.99),
    p999: pushes.percentile(0.999),
    max: pushes.max,
  };
}

function planOf(text: string): Plan {
  const { plan, diagnostics } = check(new SourceText('case.vpl', text));
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan;
}

function started(plan: Plan, backend: 'compiled' | 'reference', before: readonly InputEvent[]): { engine: Engine; totals: OutputTotals } {
  const totals = new OutputTotals();
  const engine = createEngine(
    plan,
    { output: (event) => totals.take(event, event.time) },
    backend === 'compiled' ? { backend: compiledBackend } : {},
  );
  for (const event of before) engine.push(event);
  return { engine, totals };
}

function requireSame(compiled: OutputTotals, reference: OutputTotals): void {
  if (compiled.outputs === reference.outputs && compiled.sum === reference.sum) return;
  throw new Error(`generated code gives ${compiled.outputs} outputs, the reference ${reference.outputs}`);
}

/** Nanoseconds per event. */
function timeOf(engine: Engine, events: readonly InputEvent[]): number {
  const startedAt = performance.now();
  for (const event of events) engine.push(event);
  return ((performance.now() - startedAt) * 1e6) / events.length;
}

/** Each push on its own, without what the clock itself costs. */
function pushTimes(engine: Engine, events: readonly InputEvent[]): Histogram {
  const histogram = new Histogram();
  const clockNs = clockCost();
  for (const event of events) {
    const startedAt = performance.now();
    engine.push(event);
    histogram.add((performance.now() - startedAt) * 1e6 - clockNs);
  }
  return histogram;
}

function clockCost(): number {
  const costs = new Histogram();
  for (let i = 0; i < 100_000; i++) costs.add((performance.now() - performance.now()) * -1e6);
  return costs.percentile(0.5);
}

/** How long the engine stands still. */
function pauseOf(what: string): PauseFigures {
  if (what === 'snapshot') return { ms: snapshotMs() };
  if (what === 'reload') return { ms: reloadMs() };
  throw new Error(`no case '${what}'`);
}

const SNAPSHOT_CASE = 'tumbling-100000';
const STREAMS = 40;

/** Of a window of each of a hundred thousand keys. */
function snapshotMs(): number {
  const { program, before, event } = microCases.find((one) => one.name === SNAPSHOT_CASE) as MicroCase;
  const make = event();
  const { engine } = started(
    planOf(program),
    'compiled',
    Array.from({ length: before }, (_, i) => make(i)),
  );
  return medianMs(5, () => engine.snapshot());
}

/** From the changed text to the new engine: two hundred operators in forty streams, of which one changes. */
function reloadMs(): number {
  const streams = (limit: number): string =>
    Array.from(
      { length: STREAMS },
      (_, i) =>
        `stream S${i} = T.where(value > ${i === 0 ? limit : 10}.0).partition_by(key).window(${i + 2}).aggregate(total: sum(value)).select(key: key, total: total).where(total > 1.0).emit(total: total)\n`,
    ).join('');
  const text = (limit: number): string => `event T:\n    key: int\n    value: float\n${streams(limit)}`;
  const make = (microCases[0] as MicroCase).event();
  const { engine } = started(
    planOf(text(10)),
    'compiled',
    Array.from({ length: 1_000 }, (_, i) => make(i)),
  );
  return medianMs(9, (i) => reload(engine, planOf(text(20 + i)), { output: () => undefined }, { backend: compiledBackend }));
}

function medianMs(times: number, action: (i: number) => unknown): number {
  const measured = Array.from({ length: times }, (_, i) => {
    const startedAt = performance.now();
    action(i);
    return performance.now() - startedAt;
  });
  return measured.sort((a, b) => a - b)[times >> 1] as number;
}

const found = microCases.find((one) => one.name === name);
process.stdout.write(JSON.stringify(found === undefined ? pauseOf(name) : figuresOf(found)));
