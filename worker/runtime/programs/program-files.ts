import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { parse } from '../../../shared/language/grammar/parse.ts';
import { limits } from '../../../shared/limits.ts';
import type { ImportedFile, ProgramText } from '../threads/messages.ts';
import { type ProgramFolder, pathInFolder, rootOf } from './program-folder.ts';

/** Only files of this name are programs. */
const EXTENSION = '.vpl';

/** Reads the imports of a program from its folder, and keeps them, so that the program can be checked again without it. */
export class ImportReader {
  readonly #folder: ProgramFolder;
  readonly #files: Record<string, ImportedFile> = {};

  constructor(folder: ProgramFolder) {
    this.#folder = folder;
  }

  get files(): Readonly<Record<string, ImportedFile>> {
    return this.#files;
  }

  /** Undefined when the folder has no such program, whatever else there is of that name. */
  readonly resolveImport = (path: string, from: SourceText): SourceText | undefined => {
    const root = rootOf(this.#folder);
    const asked = askedPath(path, from, root);
    if (asked === undefined) return undefined;
    const file = this.#files[asked] ?? this.#read(asked);
    if (file === undefined) return undefined;
    this.#files[asked] = file;
    return new SourceText(join(root, file.name), file.text);
  };

  #read(asked: string): ImportedFile | undefined {
    const path = pathInFolder(join(rootOf(this.#folder), asked), this.#folder);
    const text = path?.endsWith(EXTENSION) ? textOf(path, this.#folder) : undefined;
    if (path === undefined || text === undefined || !isProgram(text)) return undefined;
    return { name: relative(realpathSync(rootOf(this.#folder)), path), text };
  }
}

/** The imports of a program as they were when it was deployed. */
export function storedImports({ files }: ProgramText, folder: ProgramFolder): ImportReader['resolveImport'] {
  const root = rootOf(folder);
  return (path, from) => {
    const asked = askedPath(path, from, root);
    const file = asked === undefined || !Object.hasOwn(files, asked) ? undefined : files[asked];
    return file && new SourceText(join(root, file.name), file.text);
  };
}

/** The path of an import, relative to the folder; undefined when it is written to leave it. */
function askedPath(path: string, from: SourceText, root: string): string | undefined {
  if (path.includes('\0')) return undefined;
  const asked = relative(root, isAbsolute(path) ? path : join(dirname(from.name), path));
  return asked === '' || asked === '..' || asked.startsWith(`..${sep}`) || isAbsolute(asked) ? undefined : asked;
}

/** Whether a text begins as a program does. Diagnostics quote what they find, which must not be the text of any other file. */
function isProgram(text: string): boolean {
  const { program, diagnostics } = parse(new SourceText('', text));
  const [first] = program.statements;
  return diagnostics.every(({ span }) => first !== undefined && span.start >= first.span.end);
}

/** The file is opened first and looked at then: a link that is put in its place meanwhile leads nowhere. Nor does a pipe make it wait. */
function textOf(path: string, folder: ProgramFolder): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = fstatSync(file);
    if (!opened.isFile() || opened.size > limits.programBytesMax || pathInFolder(path, folder) !== path) return undefined;
    const there = statSync(path);
    if (there.ino !== opened.ino || there.dev !== opened.dev) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch {
    return undefined; // Not readable, or no text.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
