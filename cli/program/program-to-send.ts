import { dirname, relative, resolve, sep } from 'node:path';
import { type Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { importing } from '../../shared/language/import-pattern.ts';
import { type CheckedProgram, checkProgram } from './checked-program.ts';

/** A program as a server takes it, with the files that it imports. */
export interface SentProgram {
  readonly source: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly path?: string;
}

export interface ProgramToSend {
  readonly program: SentProgram;
  readonly main: SourceText;
  /** The file that the server calls so; undefined for the program itself. */
  readonly fileOf: (path: string) => SourceText | undefined;
  /** What is wrong with the bytes of the files: they are not sent then. */
  readonly problems: readonly Diagnostic[];
}

/**
 * Reads a program and what it imports. The paths are relative to the folder that all the files lie in. What does not end in `.vpl` is
 * no program, perhaps a key, and stays here. A file that is imported by several names, as by symbolic links, is sent once: by its
 * other names it imports itself. @throws CepError `file_not_found`, `io_error`
 */
export function programToSend(file: string): ProgramToSend {
  return toSend(checkProgram(file));
}

/** The same of a program that was read already: a pipe has it once. */
export function toSend({ sources, otherNames, problems }: CheckedProgram): ProgramToSend {
  const [main, ...others] = sources as CheckedProgram['sources'] & readonly [SourceText];
  const imports = others.filter(({ name }) => isProgram(name));
  const links = [...otherNames].filter(([name]) => isProgram(name));
  const names = [...[main, ...imports].map(({ name }) => name), ...links.map(([name]) => name)];
  const root = commonFolder(names.map((name) => dirname(resolve(name))));
  const pathOf = (name: string): string => relative(root, resolve(name)).split(sep).join('/');
  const files = new Map(imports.map((source) => [pathOf(source.name), source]));
  for (const [name, { name: first }] of links) {
    const path = pathOf(name);
    if (path === pathOf(first)) continue;
    const from = relative(dirname(resolve(name)), resolve(first))
      .split(sep)
      .join('/');
    files.set(path, new SourceText(name, importing([from])));
  }
  const texts = Object.fromEntries(Array.from(files, ([path, { text }]) => [path, text]));
  return {
    program: { source: main.text, ...(files.size === 0 ? {} : { files: texts, path: pathOf(main.name) }) },
    main,
    fileOf: (path) => files.get(path),
    problems,
  };
}

function isProgram(name: string): boolean {
  return name.endsWith('.vpl');
}

function commonFolder([first = '', ...others]: readonly string[]): string {
  const parts = first.split(sep);
  const shared = others.reduce((count, folder) => {
    const other = folder.split(sep);
    const differs = parts.findIndex((part, index) => part !== other[index]);
    return differs < 0 ? count : Math.min(count, differs);
  }, parts.length);
  return parts.slice(0, shared).join(sep) || sep;
}
