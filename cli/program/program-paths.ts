import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { namesOfPattern } from '../../shared/language/import-pattern.ts';

const EXTENSION = '.vpl';

/** Every program that is named: a folder stands for the programs in it and below it, in order of their paths. @throws CepError `file_not_found` */
export function programPaths(named: readonly string[]): readonly string[] {
  return named.flatMap((path) => (isFolder(path) ? programsIn(path) : [path]));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function programsIn(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(EXTENSION));
  if (names.length > 0) return names.sort().map((name) => join(folder, name));
  throw new CepError('file_not_found', `folder '${folder}' holds no program`, { hint: `programs are files that end with ${EXTENSION}` });
}

/** The files that a pattern names, in order of their names. */
export function filesOfPattern(pattern: string): readonly string[] {
  const folder = dirname(pattern);
  if (!isFolder(folder)) return [];
  return namesOfPattern(basename(pattern), readdirSync(folder)).map((name) => join(folder, name));
}
