import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import { MAIN_PATH } from './program-folder.ts';

/** A program as a request brings it. */
export interface SentProgram {
  readonly source: string;
  /** What it may import, by path relative to one folder. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Where the program itself lies there. @default `program.vpl` */
  readonly path?: string | undefined;
}

/**
 * The same with its paths in the one form that imports are looked up by. @throws CepError `payload_too_large` when all files together
 * are more than one program may be, `validation_error` for a path that leaves the folder, is no program or is there twice
 */
export function normalProgram({ source, files = {}, path }: SentProgram): SentProgram {
  const entries = Object.entries(files);
  requireSize([source, ...Object.values(files)]);
  const main = path === undefined ? undefined : normalPath(path, 'path');
  const known = new Map<string, string>();
  for (const [written, text] of entries) {
    const normal = normalPath(written, 'files');
    if (!normal.endsWith('.vpl')) throw refused('files', written, 'what a program imports ends in `.vpl`');
    if (known.has(normal)) throw refused('files', written, `'${normal}' is there twice`);
    if (normal === (main ?? MAIN_PATH)) throw refused('files', written, 'it is the path of the program itself: name that with `path`');
    known.set(normal, text);
  }
  return { source, files: Object.fromEntries(known), ...(main === undefined ? {} : { path: main }) };
}

function requireSize(texts: readonly string[]): void {
  if (texts.length > limits.programFilesMax)
    throw new CepError('payload_too_large', `the program has ${texts.length} files, expected at most ${limits.programFilesMax}`);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes <= limits.programBytesMax) return;
  const what = texts.length === 1 ? 'the program is' : `the ${texts.length} files of the program together are`;
  throw new CepError('payload_too_large', `${what} larger than ${limits.programBytesMax} bytes`);
}

function normalPath(path: string, member: string): string {
  if (path.length > limits.programPathCharactersMax)
    throw refused(member, `${path.slice(0, 40)}..`, `a path has at most ${limits.programPathCharactersMax} characters`);
  if (path === '' || path.startsWith('/') || path.includes('\\') || /^[A-Za-z]:/.test(path))
    throw refused(member, path, 'expected a path relative to the folder of the files, with `/` between its parts');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..')) throw refused(member, path, 'no file lies outside the folder of the files');
  if (/[*\p{Cc}]/u.test(path)) throw refused(member, path, 'a path holds no `*` and no control characters');
  return parts.join('/');
}

function refused(member: string, path: string, reason: string): CepError {
  return new CepError('validation_error', `${member}: '${path}' is not taken: ${reason}`, { details: [] });
}
