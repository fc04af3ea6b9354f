import { closeSync, openSync, truncateSync, writeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FileBytes } from '../../../cli/event-files/event-bytes.ts';
import { WorkFolder } from './work-folder.ts';

const LARGEST_AHEAD = 2 ** 26;

/** What is read first of a file of so many zeros, of which the first changes once the file is open. */
function firstByte(path: string, length: number): number | undefined {
  closeSync(openSync(path, 'w'));
  truncateSync(path, length);
  const bytes = new FileBytes(path, { preload: true });
  try {
    const file = openSync(path, 'r+');
    writeSync(file, '@', 0);
    closeSync(file);
    return bytes.read()?.[0];
  } finally {
    bytes.close();
  }
}

it('a file is read ahead up to 64 MiB, and a larger one as it is used', () => {
  const folder = new WorkFolder();
  expect(firstByte(folder.file('small.evt'), 1_000)).toBe(0);
  expect(firstByte(folder.file('large.evt'), LARGEST_AHEAD + 1)).toBe('@'.charCodeAt(0));
});
