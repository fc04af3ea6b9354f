import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './builds.ts';
import type { Scenario } from './scenarios.ts';

const PIECE_CHARACTERS = 1 << 20;
const SAMPLED = 1_000;

/** The path of a scenario's event file, which is written when there is none of this generator yet. */
export function eventFile(scenario: Scenario, count: number): string {
  const path = join(cacheFolder('events'), `${scenario.name}-${count}-${sampleOf(scenario, count)}.${scenario.format ?? 'evt'}`);
  if (!existsSync(path)) writeEvents(scenario, count, path);
  return path;
}

/** Reads a file to its end, so that what reads it next finds it in memory. */
export function readAhead(path: string): void {
  const chunk = Buffer.allocUnsafe(PIECE_CHARACTERS);
  const file = openSync(path, 'r');
  while (readSync(file, chunk) > 0);
  closeSync(file);
}

/** One event per millisecond. */
export function writeEvents({ line, format }: Pick<Scenario, 'line' | 'format'>, count: number, path: string): void {
  const file = openSync(`${path}.part`, 'w');
  let piece = '';
  for (let i = 0; i < count; i++) {
    piece += format === 'jsonl' ? `${line(i, count)}\n` : `@${i} ${line(i, count)}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    writeSync(file, piece);
    piece = '';
  }
  writeSync(file, piece);
  closeSync(file);
  renameSync(`${path}.part`, path);
}

/** Changes when the generator does. */
function sampleOf({ line }: Scenario, count: number): string {
  const hash = createHash('sha256');
  for (let i = 0; i < Math.min(SAMPLED, count); i++) hash.update(line(i, count));
  return hash.digest('hex').slice(0, 8);
}
