import { type FileHandle, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CepError } from '../errors/error.ts';
import { replaceFile } from './durable-files.ts';
import { fileReason, isMissing } from './file-reason.ts';

/** What a file system says of a disk that takes no more: then a file is not to be cut to be written anew. */
const TAKES_NO_MORE: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'];

/** Of a folder: what is made in it has its group. */
const SET_GROUP = 0o2000;

/**
 * The text of a UTF-8 file; a byte order mark is left out.
 * Fails with `file_not_found` or `io_error`; the message begins with `what`, a noun for the file, such as "program file".
 * `check` sees the open file before it is read, and throws when it is not to be.
 */
export async function readTextFile(path: string, what: string, check?: (file: FileHandle) => Promise<void>): Promise<string> {
  const bytes = await (check ? readChecked(path, check) : readFile(path)).catch((cause: unknown) => {
    throw cause instanceof CepError ? cause : fileError({ path, what, action: 'read', cause });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CepError('io_error', `${what} '${path}' is not UTF-8 text`, { cause });
  }
}

async function readChecked(path: string, check: (file: FileHandle) => Promise<void>): Promise<Buffer> {
  const file = await open(path);
  try {
    await check(file);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/**
 * Puts a text in the place of what a file holds. On a disk that is full the file stays as it was, and none is made. @throws as the file system does
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  if (found === undefined) return await writeNew(path, text);
  // Another file in its place would have another owner or group, and not the other names of this one.
  const isOurs = found.isFile() && found.nlink === 1 && found.uid === process.getuid?.() && (await hasGroupOfNew(path, found.gid));
  // Who may not write a file may still be let to put another one in its place.
  if (isOurs) await (await open(path, 'r+')).close();
  try {
    if (isOurs) return await replaceFile(await realpath(path), text, found.mode);
  } catch (error) {
    if (TAKES_NO_MORE.includes((error as NodeJS.ErrnoException).code)) throw error;
    // Who may write a file need not be let to make another one beside it.
  }
  await writeFile(path, text);
}

/** A file that is made beside it has its group: that of this process, or of a folder that hands its own on. */
async function hasGroupOfNew(path: string, group: number): Promise<boolean> {
  const { mode, gid } = await stat(dirname(await realpath(path)));
  const handsOn = process.platform !== 'linux' || (mode & SET_GROUP) !== 0;
  return group === (handsOn ? gid : process.getegid?.());
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    if (TAKES_NO_MORE.includes((error as NodeJS.ErrnoException).code)) await rm(path, { force: true });
    throw error;
  }
}

/** Writes a UTF-8 file, as `replaceText` does. Fails like `readTextFile`. */
export async function writeTextFile(path: string, text: string, what: string): Promise<void> {
  await replaceText(path, text).catch((cause: unknown) => {
    throw fileError({ path, what, action: 'written', cause });
  });
}

interface FileFailure {
  readonly path: string;
  readonly what: string;
  readonly action: 'read' | 'written';
  readonly cause: unknown;
}

function fileError({ path, what, action, cause }: FileFailure): CepError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT' && action === 'read') return new CepError('file_not_found', `${what} '${path}' not found`, { cause });
  return new CepError('io_error', `${what} '${path}' cannot be ${action}: ${fileReason(cause)}`, { cause });
}
