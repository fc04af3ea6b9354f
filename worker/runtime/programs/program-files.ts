import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { limits } from '../../../shared/limits.ts';
import type { ImportedFile, ProgramText } from '../threads/messages.ts';

/** The name of a program that came in a request: it stands in the work directory, so that its imports are relative to that. */
const MAIN_NAME = 'program.vpl';

export function mainName(workDir: string): string {
  return join(workDir, MAIN_NAME);
}

/** Whether a path, links followed, stays in the work directory. False for what does not exist. */
export function isInWorkDir(path: string, workDir: string): boolean {
  return realPathInside(path, workDir) !== undefined;
}

/** Reads the imports of a program from the work directory, and keeps them, so that the program can be checked again without it. */
export class ImportReader {
  readonly #workDir: string;
  readonly #files: Record<string, ImportedFile> = {};

  constructor(workDir: string) {
    this.#workDir = workDir;
  }

  get files(): Readonly<Record<string, ImportedFile>> {
    return this.#files;
  }

  /** Undefined when there is no such file in the work directory, whatever there is outside. */
  readonly resolveImport = (path: string, from: SourceText): SourceText | undefined => {
    const asked = askedPath(path, from, this.#workDir);
    if (asked === undefined) return undefined;
    const known = this.#files[asked];
    const file = known ?? this.#read(asked);
    if (file === undefined) return undefined;
    this.#files[asked] = file;
    return new SourceText(join(this.#workDir, file.name), file.text);
  };

  #read(asked: string): ImportedFile | undefined {
    const path = realPathInside(join(this.#workDir, asked), this.#workDir);
    const text = path === undefined ? undefined : textOf(path, this.#workDir);
    return path === undefined || text === undefined ? undefined : { name: relative(realpathSync(this.#workDir), path), text };
  }
}

/** The imports of a program as they were when it was deployed. */
export function storedImports({ files }: ProgramText, workDir: string): ImportReader['resolveImport'] {
  return (path, from) => {
    const asked = askedPath(path, from, workDir);
    const file = asked === undefined || !Object.hasOwn(files, asked) ? undefined : files[asked];
    return file && new SourceText(join(workDir, file.name), file.text);
  };
}

/** The path of an import, relative to the work directory; undefined when it is written to leave it. */
function askedPath(path: string, from: SourceText, workDir: string): string | undefined {
  if (path.includes('\0')) return undefined;
  const asked = relative(workDir, isAbsolute(path) ? path : join(dirname(from.name), path));
  return asked === '' || asked === '..' || asked.startsWith(`..${sep}`) || isAbsolute(asked) ? undefined : asked;
}

function realPathInside(path: string, workDir: string): string | undefined {
  try {
    const root = realpathSync(workDir);
    const real = realpathSync(path);
    return real.startsWith(root.endsWith(sep) ? root : root + sep) ? real : undefined;
  } catch {
    return undefined; // It does not exist, or may not be looked at: to the program there is no such file.
  }
}

/** The file is opened first and looked at then: a link that is put in its place meanwhile leads nowhere. Nor does a pipe make it wait. */
function textOf(path: string, workDir: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = fstatSync(file);
    if (!opened.isFile() || opened.size > limits.programBytesMax || realPathInside(path, workDir) !== path) return undefined;
    const there = statSync(path);
    if (there.ino !== opened.ino || there.dev !== opened.dev) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    return undefined; // Not readable, or no text.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
