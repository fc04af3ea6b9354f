import { OutputTotals } from './output-totals.ts';
import type { RunFigures } from './run-figures.ts';
import { Stopwatch } from './stopwatch.ts';

/** No further run begins in a process that has run for this long: where a run takes many seconds, warm code is not what it waits for. */
const ENOUGH_MS = 8_000;

/**
 * Runs the same work several times in this process. `run` gives its outputs to `totals`, calls `begins` when what comes before
 * the work is done (else its own beginning counts), and returns the number of events.
 */
export async function runRepeatedly(
  times: number,
  run: (totals: OutputTotals, begins: () => void) => Promise<number>,
): Promise<RunFigures> {
  const whole = new Stopwatch();
  const timesMs: number[] = [];
  const cpuMs: number[] = [];
  let load = { loadMs: 0, loadCpuMs: 0 };
  let totals = new OutputTotals();
  let events = 0;
  while (timesMs.length < times && (timesMs.length === 0 || whole.elapsedMs < ENOUGH_MS)) {
    totals = new OutputTotals();
    let watch = new Stopwatch();
    events = await run(totals, () => {
      if (timesMs.length === 0) load = { loadMs: watch.elapsedMs, loadCpuMs: watch.cpuMs };
      watch = new Stopwatch();
    });
    timesMs.push(watch.elapsedMs);
    cpuMs.push(watch.cpuMs);
  }
  return { timesMs, cpuMs, ...load, events, outputs: totals.outputs, sum: totals.sum };
}
