import { closeSync, openSync, readSync } from 'node:fs';
import { type LineShape, lineReader, type ReadLines } from './line-reader.ts';
import { Names } from './names.ts';

/**
 * Takes an output of the bound. `checked` is the number among its fields that a checksum is made of, which the engine's outputs
 * are held to.
 */
export type TakeOutput = (stream: string, time: number, fields: object, checked: number) => void;

/** One scenario by hand: takes the values of each line as they are read, and gives what follows from them. */
export interface Bound {
  readonly lines: readonly LineShape[];
  /** Takes each line as a text instead. */
  takeLine?(line: string): void;
  /** The input has ended: what is open closes. */
  end?(): void;
}

export interface BoundParts {
  readonly names: Names;
  readonly output: TakeOutput;
}

export type MakeBound = (parts: BoundParts) => Bound;

const CHUNK_BYTES = 1 << 18;
const LINE_BYTES_MAX = 1 << 12;
const LINE_FEED = 0x0a;

/** Runs a bound over an event file. Returns the number of events. */
export function runBound(make: MakeBound, path: string, output: TakeOutput): number {
  const names = new Names();
  const bound = make({ names, output });
  const takeLine = bound.takeLine?.bind(bound);
  const events = readFile(path, takeLine === undefined ? lineReader(bound.lines, names) : textReader(takeLine));
  bound.end?.();
  return events;
}

/** Of a file in ASCII. */
function textReader(take: (line: string) => void): ReadLines {
  return (buffer, end) => {
    const lines = buffer.toString('latin1', 0, end).split('\n');
    lines.pop();
    for (const line of lines) take(line);
    return lines.length;
  };
}

/** Whole lines in pieces of one buffer. */
function readFile(path: string, read: ReadLines): number {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + LINE_BYTES_MAX);
  const file = openSync(path, 'r');
  let kept = 0;
  let lines = 0;
  for (let got = readSync(file, buffer, kept, CHUNK_BYTES, null); got > 0; got = readSync(file, buffer, kept, CHUNK_BYTES, null)) {
    const filled = kept + got;
    const end = buffer.lastIndexOf(LINE_FEED, filled - 1) + 1;
    lines += read(buffer, end);
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
  closeSync(file);
  return lines;
}
