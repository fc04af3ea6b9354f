import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CepError } from '../../../shared/errors/error.ts';
import type { Backup } from '../service.ts';
import { reasonOf } from './state-directory.ts';

/** In the state directory. */
const FOLDER = 'backups';
/** What the names are like that we give: in the order of time. */
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/;
const UNFINISHED = '.unfinished';

export interface BackupPlan {
  readonly stateDir: string;
  readonly at: Date;
  /** How many stay; those that somebody gave another name do not count, and stay. */
  readonly keep: number;
  /** Copies the state directory to a folder that is there. */
  readonly copyTo: (folder: string) => Promise<void>;
}

/** Makes a copy, and then removes those that are too many: older ones stay until it is complete. @throws CepError `storage_unavailable`; nothing of the copy is left then */
export async function makeBackup({ stateDir, at, keep, copyTo }: BackupPlan): Promise<Backup> {
  const folder = join(stateDir, FOLDER);
  const path = join(folder, at.toISOString().replaceAll(':', '-'));
  const unfinished = `${path}${UNFINISHED}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await mkdir(unfinished, { mode: 0o700 });
    await copyTo(unfinished);
    const bytes = await bytesIn(unfinished);
    await rename(unfinished, path);
    return { path, bytes, removed: await removeOldest(folder, (name) => NAME.test(name), keep) };
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    throw new CepError('storage_unavailable', `the state directory cannot be copied: ${reasonOf(cause)}`, {
      hint: 'a copy needs as much room as the directory itself',
      retryAfterSeconds: 5,
      cause,
    });
  }
}

/** What a process has left that ended in the middle of a copy. */
export async function removeUnfinishedBackups(stateDir: string): Promise<void> {
  await removeOldest(join(stateDir, FOLDER), (name) => name.endsWith(UNFINISHED), 0);
}

/** Gives which. */
async function removeOldest(folder: string, fits: (name: string) => boolean, keep: number): Promise<readonly string[]> {
  const names = (await readdir(folder).catch(() => [])).filter(fits).sort();
  const paths = names.slice(0, Math.max(0, names.length - keep)).map((name) => join(folder, name));
  for (const path of paths) await rm(path, { recursive: true, force: true });
  return paths;
}

async function bytesIn(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
