/** Measures one contender of a case in memory: `<case> <mode> [share of its events]`. Prints its figures as JSON, or null. */
import { Histogram } from '../histogram.ts';
import { type Block, Blocks } from '../micro/block.ts';
import type { MicroCase } from '../micro/case.ts';
import { microCases } from '../micro/cases.ts';
import { type Contender, contender, MODES } from '../micro/contenders.ts';
import { requireSum } from '../outputs.ts';
import type { MicroFigures, Singles } from './micro-figures.ts';
import { OutputTotals } from './output-totals.ts';
import { Stopwatch } from './stopwatch.ts';

const BLOCKS = 8;
/** The code is warm by then, where a block takes no longer than usual. */
const WARM_BLOCKS = 3;
/** No more is measured of an engine that takes longer. */
const ENOUGH_MS = 3_000;
const STEP = 1_000;

const [name, modeName, scale = '1'] = process.argv.slice(2);
const found = microCases.find((one) => one.name === name);
const mode = MODES.find((one) => one === modeName);
if (found === undefined || mode === undefined) throw new Error(`no case '${name}' '${modeName}'`);

const totals = new OutputTotals();
const made = contender(mode, found, totals);
process.stdout.write(JSON.stringify(made === null ? null : figuresOf(found, made, Number(scale))));

function figuresOf(micro: MicroCase, measured: Contender, share: number): MicroFigures {
  const blocks = new Blocks(micro);
  const size = Math.ceil(micro.block * share);
  let events = feedWhole(measured, blocks.next(Math.ceil(micro.before * share)));
  const whole = new Stopwatch();
  const elapsed: number[] = [];
  const cpu: number[] = [];
  for (let block = 0; block < BLOCKS && whole.elapsedMs < ENOUGH_MS; block++) {
    const { watch, fed } = feedTimed(measured, blocks.next(size));
    events += fed;
    elapsed.push((watch.elapsedMs * 1e6) / fed);
    cpu.push((watch.cpuMs * 1e6) / fed);
    if (fed < size) break;
  }
  const isCut = elapsed.length < BLOCKS;
  const pushes = new Histogram();
  if (!isCut) events += feedSingly(measured, blocks.next(size), pushes);
  requireSameAsBound(micro, events, isCut);
  return {
    nsPerEvent: median(elapsed.slice(isCut ? 0 : WARM_BLOCKS)),
    cpuNsPerEvent: median(cpu.slice(isCut ? 0 : WARM_BLOCKS)),
    singles: isCut ? null : singlesOf(pushes),
    events,
    outputs: totals.outputs,
  };
}

function singlesOf(pushes: Histogram): Singles {
  return { p50: pushes.percentile(0.5), p99: pushes.percentile(0.99), p999: pushes.percentile(0.999), max: pushes.max };
}

function feedWhole({ prepare, feed }: Contender, block: Block): number {
  prepare(block);
  feed(block, 0, block.times.length);
  return block.times.length;
}

/** In steps, so that it ends in time. */
function feedTimed({ prepare, feed }: Contender, block: Block): { watch: { elapsedMs: number; cpuMs: number }; fed: number } {
  prepare(block);
  const size = block.times.length;
  const watch = new Stopwatch();
  let fed = 0;
  while (fed < size && watch.elapsedMs < ENOUGH_MS) {
    const to = Math.min(size, fed + STEP);
    feed(block, fed, to);
    fed = to;
  }
  const { elapsedMs, cpuMs } = watch;
  return { watch: { elapsedMs, cpuMs }, fed };
}

/** Each event on its own, without what the clock itself costs. */
function feedSingly({ prepare, feed }: Contender, block: Block, histogram: Histogram): number {
  prepare(block);
  const clockNs = clockCost();
  for (let i = 0; i < block.times.length; i++) {
    const startedAt = performance.now();
    feed(block, i, i + 1);
    histogram.add((performance.now() - startedAt) * 1e6 - clockNs);
  }
  return block.times.length;
}

function clockCost(): number {
  const costs = new Histogram();
  for (let i = 0; i < 100_000; i++) costs.add((performance.now() - performance.now()) * -1e6);
  return costs.percentile(0.5);
}

/** What was given is what the work by hand gives for the same events. @throws WrongOutputs */
function requireSameAsBound(micro: MicroCase, events: number, isCut: boolean): void {
  if (mode === 'bound') return;
  const expected = new OutputTotals();
  const bound = contender('bound', micro, expected) as Contender;
  const blocks = new Blocks(micro);
  for (let left = events; left > 0; left -= STEP) feedWhole(bound, blocks.next(Math.min(left, STEP)));
  requireSum(`${micro.name} by ${mode}${isCut ? ', cut short' : ''}`, totals, expected);
}

function median(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[figures.length >> 1] as number;
}
