import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

/** Writes a file anew; its bytes are on disk when this resolves. That its name is, too, takes `syncFolder`. @param mode Of a file that is made. */
export function writeSynced(path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
  return closing(open(path, 'w', mode), async (file) => {
    await file.writeFile(content);
    await file.sync();
  });
}

/** A reader finds the file as it was or as it will be, with this mode. When it fails the file is as it was, and there is none beside it. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const unfinished = `${path}.new-${randomBytes(4).toString('hex')}`;
  const opening = open(unfinished, 'wx', 0o600);
  try {
    await closing(opening, async (file) => {
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** What was made, renamed or removed in a folder is so after a power cut, too. */
export function syncFolder(path: string): Promise<void> {
  return closing(open(path, 'r'), (folder) => folder.sync());
}

/** Does something with a file, which is closed whatever comes of that. */
export async function closing<T>(opening: Promise<FileHandle>, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await opening;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** Does what belongs to opening a file; when that fails, it is closed. */
export async function closingOnFailure<T>(opening: Promise<FileHandle>, begin: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await opening;
  try {
    return await begin(file);
  } catch (error) {
    await file.close();
    throw error;
  }
}
