import { randomUUID } from 'node:crypto';
import { chmod, lstat, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import { fileReason, isMissing } from '../../../shared/files/file-reason.ts';
import { makeFolder } from '../../../shared/files/make-folder.ts';

/** How long a file system may take to make a directory and to write a file of a few bytes, ms. */
const PREPARED_MS_MAX = 10_000;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** What a file system keeps in the root of a disk. */
const NOT_OURS = 'lost+found';
const PROBE = 'probe';
const LEFT_PROBE = /^probe-[0-9a-f-]{36}$/;
/** What a group of records may take before a look can see that they do not fit. */
const PROBE_BYTES = 65_536;

/**
 * Makes the state directory, or finds the one that there is, which somebody may be using. @throws CepError `io_error` when it cannot be one,
 * within seconds
 */
export async function findStateDirectory(path: string): Promise<void> {
  await inSeconds(path, async () => {
    await makeFolder(path, FOLDER_MODE);
    // Whether it takes anything is known once its mode is right; that it answers must be known before its store is opened.
    await probe(path, 1, `${PROBE}-${randomUUID()}`).catch(() => undefined);
  });
}

/**
 * The owner of the state directory alone may read what is in it, whatever the mode it had, and it can be written. To be called by who has
 * opened its store, or has found that nobody has. @throws CepError `io_error` when that is not so, within seconds
 */
export async function prepareStateDirectory(path: string): Promise<void> {
  await inSeconds(path, async () => {
    await keepPrivate(path);
    for (const name of await readdir(path)) if (LEFT_PROBE.test(name)) await rm(join(path, name), { force: true });
    await probe(path);
  });
}

async function inSeconds(path: string, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(unusable(path, `its file system does not answer within ${PREPARED_MS_MAX / 1000} s`)), PREPARED_MS_MAX);
  });
  try {
    await Promise.race([work(), late]);
  } catch (cause) {
    throw cause instanceof CepError ? cause : unusable(path, fileReason(cause), cause);
  } finally {
    clearTimeout(timer);
  }
}

/** Why something was not written: as of a file system, or as a database words it. */
export function reasonOf(cause: unknown): string {
  for (let error = cause; error instanceof Error; error = error.cause) {
    if ('code' in error && /^E[A-Z]+$/.test(String(error.code))) return fileReason(error);
    if (/no space left/i.test(error.message)) return fileReason({ code: 'ENOSPC' });
  }
  return cause instanceof Error ? cause.message : String(cause);
}

function unusable(path: string, reason: string, cause?: unknown): CepError {
  return new CepError('io_error', `the state directory '${path}' cannot be used: ${reason}`, {
    hint: /no space|quota/.test(reason)
      ? 'make room on its disk, and start again: what it holds is not lost'
      : 'name a directory on a disk that this user can write',
    cause,
  });
}

/** The folder and all that is in it. Links are followed at the top alone, where they lead to another disk. */
export async function keepPrivate(folder: string): Promise<void> {
  await setMode(folder, FOLDER_MODE);
  for (const name of await readdir(folder)) {
    if (name === NOT_OURS) continue;
    const path = join(folder, name);
    const found = await lstat(path).catch(goneSince);
    if (found === undefined) continue;
    const target = found.isSymbolicLink() ? await stat(path) : found;
    if (target.isDirectory()) await keepPrivate(path);
    else if (target.isFile()) await setMode(path, FILE_MODE);
    else throw unusable(folder, `'${name}' in it is neither a file nor a directory`);
  }
}

/** Of another that is starting, and finds that this one has it open. */
function goneSince(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

async function setMode(path: string, mode: number): Promise<void> {
  const found = await stat(path).catch(goneSince);
  if (found === undefined || (found.mode & 0o777) === mode) return;
  try {
    await chmod(path, mode);
  } catch (cause) {
    const seen = (found.mode & 0o777).toString(8);
    throw unusable(path, `others can read it (mode ${seen}), and its mode cannot be changed: ${fileReason(cause)}`, cause);
  }
}

/** Writes a little, or so many bytes, and removes it again. @throws what the file system says */
export async function probe(folder: string, bytes = PROBE_BYTES, name = PROBE): Promise<void> {
  const path = join(folder, name);
  await rm(path, { force: true });
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(Buffer.alloc(bytes, 1));
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}
