/** Runs a bound: `<scenario> <events> [times] [output file]`. Prints times and the sum of the outputs as JSON. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { runBound, type TakeOutput } from '../bounds/bound.ts';
import { scenarios } from '../scenarios.ts';
import { OutputTotals } from './output-totals.ts';
import { cpuTime, type RunFigures } from './run-figures.ts';

const PIECE_CHARACTERS = 1 << 16;

const [name, events = '', times = '1', outputPath] = process.argv.slice(2);
const scenario = scenarios.find((one) => one.name === name);
if (scenario === undefined) throw new Error(`no scenario '${name}'`);

let totals = new OutputTotals();
const timesMs: number[] = [];
const cpuMs: number[] = [];
for (let time = 0; time < Number(times); time++) {
  totals = new OutputTotals();
  const started = performance.now();
  const cpuBefore = cpuTime();
  if (outputPath === undefined) runBound(scenario.bound, events, (_stream, _time, fields, sum) => totals.take(fields, sum));
  else writeTo(outputPath, (output) => runBound(scenario.bound, events, output));
  timesMs.push(performance.now() - started);
  cpuMs.push(cpuTime() - cpuBefore);
}
const figures: RunFigures = { timesMs, cpuMs, outputs: totals.outputs, sum: totals.sum };
process.stdout.write(JSON.stringify(figures));

/** Output events as the lines that the command line writes. */
function writeTo(path: string, run: (output: TakeOutput) => void): void {
  const file = openSync(path, 'w');
  let piece = '';
  run((stream, time, fields, sum) => {
    totals.take(fields, sum);
    piece += `{"type":"output","stream":"${stream}","event_type":"${stream}","timestamp":${time},"data":${JSON.stringify(fields)}}\n`;
    if (piece.length < PIECE_CHARACTERS) return;
    writeSync(file, piece);
    piece = '';
  });
  writeSync(file, piece);
  closeSync(file);
}
