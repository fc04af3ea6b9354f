import { readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { fileReason, isMissing } from '../../shared/files/file-reason.ts';
import { namesOfPattern } from '../../shared/language/import-pattern.ts';

const EXTENSION = '.vpl';
/** A name that begins with a dot, of the file or a folder on the way: editors keep their own there. */
const HIDDEN = /(?:^|\/)\./;

/** Every program that is named: a folder stands for the programs in it and below it, in order of their paths. @throws CepError `file_not_found`, `io_error` */
export function programPaths(named: readonly string[]): readonly string[] {
  return named.flatMap((path) => (isFolder(path) ? programsIn(path) : [path]));
}

function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** Of what a link leads to; undefined for one that leads nowhere. What cannot be looked at is reported by whoever reads it. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** @throws CepError `io_error` */
function namesIn(folder: string, options: { readonly recursive?: boolean } = {}): readonly string[] {
  try {
    return readdirSync(folder, { ...options, encoding: 'utf8' });
  } catch (cause) {
    if (isMissing(cause)) throw new CepError('file_not_found', `folder '${folder}' not found`, { cause });
    const path = cause instanceof Error && 'path' in cause ? cause.path : folder;
    throw new CepError('io_error', `folder '${path}' cannot be read: ${fileReason(cause)}`, { cause });
  }
}

/** @throws CepError `file_not_found` when there is none, or no folder; `io_error` */
export function programsIn(folder: string): readonly string[] {
  const names = namesIn(folder, { recursive: true }).filter((name) => name.endsWith(EXTENSION) && !HIDDEN.test(name));
  const paths = names
    .sort()
    .map((name) => join(folder, name))
    .filter(isFile);
  if (paths.length > 0) return paths;
  throw new CepError('file_not_found', `folder '${folder}' holds no program`, { hint: `programs are files that end with ${EXTENSION}` });
}

/** The files that a pattern names, in order of their names. */
export function filesOfPattern(pattern: string): readonly string[] {
  const folder = dirname(pattern);
  if (!isFolder(folder)) return [];
  return namesOfPattern(basename(pattern), namesIn(folder))
    .map((name) => join(folder, name))
    .filter(isFile);
}
