import { closeSync, openSync, readSync } from 'node:fs';
import { LineCursor } from './line-cursor.ts';
import type { Names } from './names.ts';

/**
 * Takes an output of the bound. `checked` is the number among its fields that a checksum is made of, which the engine's outputs
 * are held to.
 */
export type TakeOutput = (stream: string, time: number, fields: object, checked: number) => void;

/** One scenario by hand: reads the line at the cursor, from its type on, and gives what follows from it. */
export interface Bound {
  event(time: number): void;
  /** The input has ended: what is open closes. */
  end?(): void;
}

export interface BoundParts {
  readonly line: LineCursor;
  readonly names: Names;
  readonly output: TakeOutput;
}

export type MakeBound = (parts: BoundParts) => Bound;

const CHUNK_BYTES = 1 << 18;
const LINE_BYTES_MAX = 1 << 12;
const LINE_FEED = 0x0a;

/** Runs a bound over an event file. Returns the number of events. */
export function runBound(make: MakeBound, path: string, output: TakeOutput): number {
  const line = new LineCursor();
  const bound = make({ line, names: line.names, output });
  let events = 0;
  eachChunk(path, (bytes) => {
    line.load(bytes);
    for (; line.hasMore(); events++) bound.event(line.time());
  });
  bound.end?.();
  return events;
}

/** Whole lines in pieces, valid during the call. */
function eachChunk(path: string, take: (bytes: Buffer) => void): void {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES + LINE_BYTES_MAX);
  const file = openSync(path, 'r');
  let kept = 0;
  for (let read = readSync(file, buffer, kept, CHUNK_BYTES, null); read > 0; read = readSync(file, buffer, kept, CHUNK_BYTES, null)) {
    const filled = kept + read;
    const end = buffer.lastIndexOf(LINE_FEED, filled - 1) + 1;
    take(buffer.subarray(0, end));
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
  closeSync(file);
}
