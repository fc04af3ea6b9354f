/** Runs a bound: `<scenario> <events> [times] [output file]`. Prints times and totals of the outputs as JSON. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { runBound, type TakeOutput } from '../bounds/bound.ts';
import { scenarios } from '../scenarios.ts';
import type { OutputTotals } from './output-totals.ts';
import { runRepeatedly } from './repeated-runs.ts';

const PIECE_CHARACTERS = 1 << 16;

const [name, events = '', times = '1', outputPath] = process.argv.slice(2);
const scenario = scenarios.find((one) => one.name === name);
if (scenario === undefined) throw new Error(`no scenario '${name}'`);
const { bound } = scenario;

const figures = await runRepeatedly(Number(times), async (totals) => {
  if (outputPath !== undefined) return writeTo(outputPath, totals, (output) => runBound(bound, events, output));
  return runBound(bound, events, (_stream, _time, fields, checked) => totals.take(fields, checked));
});
process.stdout.write(JSON.stringify(figures));

/** Output events as the lines that the command line writes. */
function writeTo(path: string, totals: OutputTotals, run: (output: TakeOutput) => number): number {
  const file = openSync(path, 'w');
  let piece = '';
  const events = run((stream, time, fields, checked) => {
    totals.take(fields, checked);
    piece += `{"type":"output","stream":"${stream}","event_type":"${stream}","timestamp":${time},"data":${JSON.stringify(fields)}}\n`;
    if (piece.length < PIECE_CHARACTERS) return;
    writeSync(file, piece);
    piece = '';
  });
  writeSync(file, piece);
  closeSync(file);
  return events;
}
