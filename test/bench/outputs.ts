import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';

/** What a run over events gave. */
export interface Totals {
  readonly outputs: number;
  /** Of one number of each output. */
  readonly sum: number;
}

/** What a scenario must give. */
export interface Expected extends Totals {
  /** SHA-256 of the lines of the output events. */
  readonly sha256: string;
}

export interface Written {
  readonly outputs: number;
  readonly sha256: string;
}

/** A run gave something else than expected: its time means nothing. */
export class WrongOutputs extends Error {}

const CHUNK_BYTES = 1 << 18;
const LINE_FEED = 0x0a;
/** Sums of rounded numbers: bound and engine may round on the way in different places. */
const SUM_TOLERANCE = 1e-9;

/** Number and digest of the lines of a file but its last, the summary. */
export function readOutputs(path: string): Written {
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let held = Buffer.alloc(0);
  let lines = 0;
  for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
    const bytes = Buffer.concat([held, chunk.subarray(0, read)]);
    const end = startOfLastLine(bytes);
    lines += countLines(bytes.subarray(0, end));
    hash.update(bytes.subarray(0, end));
    held = bytes.subarray(end);
  }
  closeSync(file);
  return { outputs: lines, sha256: hash.digest('hex') };
}

/** Where the last line begins, whole or not. */
function startOfLastLine(bytes: Buffer): number {
  return bytes.length < 2 ? 0 : bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}

/** @throws WrongOutputs */
export function requireWritten(who: string, { outputs, sha256 }: Written, expected: Expected): void {
  requireCount(who, outputs, expected);
  if (sha256 !== expected.sha256) throw new WrongOutputs(`${who}: other bytes than expected (${sha256} for ${expected.sha256})`);
}

/** @throws WrongOutputs */
export function requireSum(who: string, { outputs, sum }: Totals, expected: Totals): void {
  requireCount(who, outputs, expected);
  if (!(Math.abs(sum - expected.sum) <= SUM_TOLERANCE * Math.abs(expected.sum))) {
    throw new WrongOutputs(`${who}: other values than expected (their sum is ${sum} for ${expected.sum})`);
  }
}

function requireCount(who: string, outputs: number, expected: Pick<Totals, 'outputs'>): void {
  if (outputs !== expected.outputs) throw new WrongOutputs(`${who}: ${outputs} outputs for ${expected.outputs}`);
}
