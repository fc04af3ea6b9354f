import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { closing } from '../../../shared/files/durable-files.ts';
import type { DeadLetter } from './dead-letters.ts';
import type { LetterFile, LetterIndex, LetterPlace } from './letter-index.ts';

const COPY_BYTES = 1_048_576;

/** The first bytes of a file, always whole lines: how many, and their CRC-32. */
export interface Extent {
  readonly bytes: number;
  readonly crc: number;
}

export const nothing: Extent = { bytes: 0, crc: 0 };

/** Of a write that has ended before its end. */
export function noRoom(): Error {
  return Object.assign(new Error('the dead-letter file has no room'), { code: 'ENOSPC' });
}

/** With these bytes behind. */
export function extended({ bytes, crc }: Extent, more: Buffer): Extent {
  return { bytes: bytes + more.length, crc: crc32(more, crc) };
}

/** In the order of the places. */
export async function textsOf(places: readonly LetterPlace[]): Promise<string[]> {
  const handles = new Map<LetterFile, FileHandle>();
  try {
    const texts: string[] = [];
    for (const { file, offset, length } of places) {
      const handle = handles.get(file) ?? (await open(file.path, 'r'));
      handles.set(file, handle);
      texts.push((await handle.read(Buffer.allocUnsafe(length), 0, length, offset)).buffer.toString('utf8'));
    }
    return texts;
  } finally {
    for (const handle of handles.values()) await handle.close();
  }
}

/** Writes the lines at these places to another file, synced, as `changed` makes them. Gives their new offsets and lengths, and what the file holds. */
export async function copyPlaces(
  from: string,
  to: string,
  places: readonly LetterPlace[],
  changed: (place: LetterPlace, line: Buffer) => Buffer,
): Promise<{ readonly lines: readonly { readonly offset: number; readonly length: number }[]; readonly extent: Extent }> {
  return closing(open(from, 'r'), (source) =>
    closing(open(to, 'w', 0o600), async (target) => {
      const written: { readonly offset: number; readonly length: number }[] = [];
      let lines: Buffer[] = [];
      let waiting = 0;
      let extent = nothing;
      const flush = async (): Promise<void> => {
        const { bytesWritten } = await target.writev(lines);
        if (bytesWritten < waiting) throw noRoom();
        lines = [];
        waiting = 0;
      };
      for (const place of places) {
        const before = Buffer.allocUnsafe(place.length + 1);
        await source.read(before, 0, before.length, place.offset);
        const line = changed(place, before);
        written.push({ offset: extent.bytes, length: line.length - 1 });
        extent = extended(extent, line);
        waiting += line.length;
        lines.push(line);
        if (waiting > COPY_BYTES) await flush();
      }
      if (lines.length > 0) await flush();
      await target.datasync();
      return { lines: written, extent };
    }),
  );
}

/** Lines that are no letters are passed over. */
export async function readInto(index: LetterIndex, file: LetterFile): Promise<void> {
  let offset = 0;
  for await (const line of linesOf(file.path)) {
    const letter = letterOf(line);
    if (letter !== undefined) index.add(letter, file, offset, line.length);
    offset += line.length + 1;
  }
}

/** The bytes of each line of a file, without its end. What stands behind the last end is no line. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      yield rest.length === 0 ? piece : Buffer.concat([...rest, piece]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}

function letterOf(line: Buffer): DeadLetter | undefined {
  try {
    const letter: unknown = line.length === 0 ? null : JSON.parse(line.toString('utf8'));
    return isLetter(letter) ? letter : undefined;
  } catch {
    return undefined; // Damaged, which was said when the file was examined.
  }
}

function isLetter(value: unknown): value is DeadLetter {
  if (typeof value !== 'object' || value === null) return false;
  const { pipeline_id: pipelineId, connector, id, event } = value as Partial<DeadLetter>;
  return [pipelineId, connector, id].every((text) => typeof text === 'string') && typeof event === 'object' && event !== null;
}

/** What a file holds in whole lines, and the sum of the bytes of `listed`, where it has as many. */
export async function measure(path: string, listed: Extent = nothing): Promise<{ readonly extent: Extent; readonly listedCrc: number }> {
  let extent = nothing;
  let first = nothing;
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    first = extended(first, chunk.subarray(0, Math.max(0, listed.bytes - first.bytes)));
    const end = chunk.lastIndexOf(10) + 1;
    if (end > 0) {
      for (const piece of [...rest, chunk.subarray(0, end)]) extent = extended(extent, piece);
      rest = [];
    }
    rest.push(chunk.subarray(end));
  }
  return { extent, listedCrc: first.crc };
}

/** How many lines from a place on are no letters. */
export async function countUnreadable(path: string, from: number): Promise<number> {
  let [count, offset] = [0, 0];
  for await (const line of linesOf(path)) {
    if (offset >= from && line.length > 0 && letterOf(line) === undefined) count++;
    offset += line.length + 1;
  }
  return count;
}
