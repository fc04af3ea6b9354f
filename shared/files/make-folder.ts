import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isMissing } from './file-reason.ts';

/**
 * Makes a folder and those it is in, unless it is there. A file system that takes no directories, as `/proc`, is asked twice: Node's own
 * `recursive` asks it again and again without an end.
 * @param mode Of what is made; that of the process where none is given.
 * @throws as the file system does, for `fileReason`: `EEXIST` when it is no folder, `ENOTSUP` when there can be none
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (isThere(error) && (await stat(path)).isDirectory()) return;
    if (!isMissing(error) || dirname(path) === path) throw error;
    await makeFolder(dirname(path), mode);
    await mkdir(path, mode).catch(again);
  }
}

/** As `makeFolder`. */
export function makeFolderSync(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (isThere(error) && statSync(path).isDirectory()) return;
    if (!isMissing(error) || dirname(path) === path) throw error;
    makeFolderSync(dirname(path), mode);
    try {
      mkdirSync(path, mode);
    } catch (second) {
      again(second);
    }
  }
}

function isThere(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST';
}

/** What the second attempt says, now that what it is in is there. Another process may have made it meanwhile. */
function again(error: unknown): void {
  if (isThere(error)) return;
  throw isMissing(error) ? Object.assign(new Error('its file system takes no directories'), { code: 'ENOTSUP' }) : error;
}
