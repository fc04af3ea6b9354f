import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** What programs of a tenant may read of the file system. It is plain data, so that it can be sent to where programs are checked. */
export interface ProgramFolder {
  /** The only folder in which they may name files; null: they may name none. */
  readonly path: string | null;
  /** Files of the operator, and folders with everything in them, that no program reads, wherever they lie: keys, credentials, state. */
  readonly refused: readonly string[];
}

/** Where a program stands that has no folder. Nothing is ever read there. */
const NO_FOLDER = '/program';

/** Where a program stands in its folder that does not say it. */
export const MAIN_PATH = 'program.vpl';

/** The name of a program that came in a request: it stands in its folder, so that its imports are relative to that. */
export function mainName(folder: ProgramFolder, path: string = MAIN_PATH): string {
  return `${rootOf(folder)}/${path}`;
}

/** The folder that the names of a program's files begin with. */
export function rootOf({ path }: ProgramFolder): string {
  return path ?? NO_FOLDER;
}

/**
 * The path without links, if it is one of the folder's and none of what is refused. Undefined also for what does not exist or may not
 * be looked at: to the program there is no such file.
 */
export function pathInFolder(path: string, folder: ProgramFolder): string | undefined {
  if (folder.path === null) return undefined;
  try {
    const real = realpathSync(path);
    if (!isWithin(real, realpathSync(folder.path))) return undefined;
    const found = statSync(real);
    return folder.refused.some((refused) => isRefused(real, found, refused)) ? undefined : real;
  } catch {
    return undefined;
  }
}

/** The same for a file that need not be there: its folder must. A path that is not absolute stands in the folder. */
export function newPathInFolder(path: string, folder: ProgramFolder): string | undefined {
  if (folder.path === null || path.includes('\0')) return undefined;
  const full = resolve(folder.path, path);
  if (isThere(full)) return pathInFolder(full, folder);
  const place = realPathOf(dirname(full));
  const root = realPathOf(folder.path);
  if (place === undefined || root === undefined || !(place === root || isWithin(place, root))) return undefined;
  const real = join(place, basename(full));
  return folder.refused.some((refused) => real === refused || isWithin(real, realPathOf(refused) ?? refused)) ? undefined : real;
}

/** A link that leads to nothing is there too: whoever opened it to write would make what it leads to. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** By path, and by what the path leads to: another hard link, or a name in other letters, is the same file. */
function isRefused(real: string, found: Stats, refused: string): boolean {
  const path = realPathOf(refused);
  if (path === undefined) return false;
  if (real === path || isWithin(real, path)) return true;
  const { ino, dev } = statSync(path);
  return ino === found.ino && dev === found.dev;
}

/** Undefined for what is not there yet, as a state directory before the first start. */
function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
