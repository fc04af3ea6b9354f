import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { WITHOUT_WAITING } from '../../../shared/files/regular-file.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { parse } from '../../../shared/language/grammar/parse.ts';
import { importing, isPattern, namesOfPattern } from '../../../shared/language/import-pattern.ts';
import { limits } from '../../../shared/limits.ts';
import type { ImportedFile, ProgramText } from '../threads/messages.ts';
import { MAIN_PATH, type ProgramFolder, pathInFolder, rootOf } from './program-folder.ts';
import type { SentProgram } from './sent-program.ts';

/** Only files of this name are programs. */
const EXTENSION = '.vpl';

/**
 * Finds the imports of a program among the files that were sent with it, else in its folder, and keeps them, so that the program
 * can be checked again without either.
 */
export class ImportReader {
  readonly #folder: ProgramFolder;
  readonly #main: ImportedFile;
  readonly #sent: ReadonlyMap<string, string>;
  readonly #files = new Map<string, ImportedFile>();

  constructor(folder: ProgramFolder, { source, files = {}, path = MAIN_PATH }: SentProgram) {
    this.#folder = folder;
    this.#main = { name: path, text: source };
    this.#sent = new Map(Object.entries(files));
  }

  get files(): Readonly<Record<string, ImportedFile>> {
    return Object.fromEntries(this.#files);
  }

  /** Undefined when there is no such program, whatever else the folder has of that name. */
  readonly resolveImport = (path: string, from: SourceText): SourceText | undefined => {
    const paths = [...this.#sent.keys(), this.#main.name];
    return resolved({ path, from, root: rootOf(this.#folder), paths, fileOf: (asked) => this.#file(asked) });
  };

  #file(asked: string): ImportedFile | undefined {
    if (asked === this.#main.name && this.#sent.size > 0) return this.#main; // Which closes a cycle.
    const sent = this.#sent.get(asked);
    const file = this.#files.get(asked) ?? (sent === undefined ? this.#read(asked) : { name: asked, text: sent });
    if (file !== undefined) this.#files.set(asked, file);
    return file;
  }

  #read(asked: string): ImportedFile | undefined {
    const path = pathInFolder(join(rootOf(this.#folder), asked), this.#folder);
    const text = path?.endsWith(EXTENSION) ? textOf(path, this.#folder) : undefined;
    if (path === undefined || text === undefined || !isProgram(text)) return undefined;
    return { name: relative(realpathSync(rootOf(this.#folder)), path), text };
  }
}

/** The imports of a program as they were when it was deployed. */
export function storedImports({ files }: ProgramText, folder: ProgramFolder): ImportReader['resolveImport'] {
  const [root, paths] = [rootOf(folder), Object.keys(files)];
  const fileOf = (asked: string): ImportedFile | undefined => (Object.hasOwn(files, asked) ? files[asked] : undefined);
  return (path, from) => resolved({ path, from, root, paths, fileOf });
}

interface Import {
  readonly path: string;
  readonly from: SourceText;
  readonly root: string;
  /** Of the files among which a pattern finds its own. */
  readonly paths: readonly string[];
  readonly fileOf: (asked: string) => ImportedFile | undefined;
}

function resolved({ path, from, root, paths, fileOf }: Import): SourceText | undefined {
  const asked = askedPath(path, from, root);
  if (asked === undefined) return undefined;
  if (isPattern(asked)) return filesOfPattern(asked, { paths, from, root });
  const file = fileOf(asked);
  return file && new SourceText(join(root, file.name), file.text);
}

/** What a pattern names, without the file that it stands in; undefined when there is nothing. */
function filesOfPattern(pattern: string, { paths, from, root }: Pick<Import, 'paths' | 'from' | 'root'>): SourceText | undefined {
  const own = relative(root, from.name);
  const names = paths.filter((path) => dirname(path) === dirname(pattern) && path !== own).map((path) => basename(path));
  const found = namesOfPattern(basename(pattern), names);
  return found.length === 0 ? undefined : new SourceText(join(root, pattern), importing(found));
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
    file = openSync(path, constants.O_RDONLY | WITHOUT_WAITING);
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
