import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import { closing, syncFolder } from '../../../shared/files/durable-files.ts';
import type { Backup } from '../service.ts';
import { reasonOf } from './state-directory.ts';

/** In the state directory. */
const FOLDER = 'backups';
/** What the names are like that we give: in the order of time. */
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;
/** Of the last year that such a name can have. */
const LAST_MS = Date.UTC(9_999, 11, 31);
const UNFINISHED = '.unfinished';

export interface BackupPlan {
  readonly stateDir: string;
  readonly at: Date;
  /** How many stay; those that somebody gave another name do not count, and stay. */
  readonly keep: number;
  /** Copies the state directory to a folder that is there. */
  readonly copyTo: (folder: string) => Promise<void>;
}

/** Makes a copy, and then removes those that are too many: older ones stay until it is complete and on disk. @throws CepError `storage_unavailable`; nothing of the copy is left then */
export async function makeBackup({ stateDir, at, keep, copyTo }: BackupPlan): Promise<Backup> {
  const folder = join(stateDir, FOLDER);
  const path = join(folder, nameAfter(await ours(folder), at.getTime()));
  const unfinished = `${path}${UNFINISHED}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(unfinished, { mode: 0o700 });
    await copyTo(unfinished);
    const bytes = await bytesIn(unfinished);
    await syncAll(unfinished);
    await rename(unfinished, path);
    for (const each of [folder, stateDir]) await syncFolder(each);
    return { path, bytes, removed: await removeOldest(folder, basename(path), keep) };
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => undefined);
    const reason = reasonOf(cause);
    throw new CepError('storage_unavailable', `the state directory cannot be copied: ${placeOf(cause, stateDir)}${reason}`, {
      hint: /no space|quota/.test(reason)
        ? 'a copy needs as much room as the directory itself'
        : 'docs/operations/damaged-storage.md says what to do where a file cannot be read',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

/** What it was about, where the file system says that. */
function placeOf(cause: unknown, stateDir: string): string {
  const path = cause instanceof Error && 'path' in cause ? cause.path : undefined;
  return typeof path === 'string' ? `${relative(stateDir, path)}: ` : '';
}

/** What a process has left that ended in the middle of a copy. */
export async function removeUnfinishedBackups(stateDir: string): Promise<void> {
  const folder = join(stateDir, FOLDER);
  const unfinished = (await namesIn(folder)).filter((name) => name.endsWith(UNFINISHED));
  for (const name of unfinished) await rm(join(folder, name), { recursive: true, force: true });
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

/** In the order in which they were made. */
async function ours(folder: string): Promise<readonly string[]> {
  return (await namesIn(folder)).filter((name) => NAME.test(name));
}

/** The time, or where the clock was ahead once, the next behind the newest: the order of the names is that in which the backups are made. */
function nameAfter(names: readonly string[], nowMs: number): string {
  const times = names.map((name) => Date.parse(name.replace(/T(..)-(..)-/, 'T$1:$2:'))).filter((time) => time < LAST_MS);
  return new Date(Math.max(nowMs, ...times.map((time) => time + 1))).toISOString().replaceAll(':', '-');
}

/** Never the one that was made just now. Gives which. */
async function removeOldest(folder: string, made: string, keep: number): Promise<readonly string[]> {
  const older = (await ours(folder)).filter((name) => name !== made);
  const paths = older.slice(0, Math.max(0, older.length + 1 - keep)).map((name) => join(folder, name));
  for (const path of paths) await rm(path, { recursive: true, force: true });
  return paths;
}

/** Everything in a folder is on disk, and the folder itself. */
async function syncAll(folder: string): Promise<void> {
  for (const file of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, file.name);
    if (file.isDirectory()) await syncAll(path);
    else await closing(open(path, 'r'), (handle) => handle.sync());
  }
  await syncFolder(folder);
}

async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
