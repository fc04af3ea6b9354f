import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Why a folder cannot be one: an error of the file system says that with its code, and `cause` is that error where there is one. */
export type FolderRefusal = (path: string, reason: string, cause?: unknown) => Error;

/**
 * Makes a folder and those it is in, unless it is there. From the top down, each once: a file system that takes no directories (`/proc`) says
 * so, and is not asked again and again, as Node's own way of doing it does without an end.
 * @param mode Of what is made; that of the process where none is given.
 * @throws what `refusal` gives, and errors of the file system
 */
export async function makeFolder(
  path: string,
  { mode, refusal }: { readonly mode?: number; readonly refusal: FolderRefusal },
): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found?.isDirectory()) return;
  if (found) throw refusal(path, 'it is no directory');
  if (dirname(path) !== path) await makeFolder(dirname(path), { ...(mode === undefined ? {} : { mode }), refusal });
  await mkdir(path, mode).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw refusal(path, 'its file system takes no directories', error);
    if (error.code !== 'EEXIST') throw error;
  });
}
