import { dirname, relative, resolve, sep } from 'node:path';
import type { Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
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
 * no program, perhaps a key, and stays here. @throws CepError `file_not_found`, `io_error`
 */
export function programToSend(file: string): ProgramToSend {
  const { sources, problems } = checkProgram(file);
  const [main, ...others] = sources as CheckedProgram['sources'] & readonly [SourceText];
  const imports = others.filter(({ name }) => name.endsWith('.vpl'));
  const root = commonFolder([main, ...imports].map(({ name }) => dirname(resolve(name))));
  const pathOf = ({ name }: SourceText): string => relative(root, resolve(name)).split(sep).join('/');
  const files = new Map(imports.map((source) => [pathOf(source), source]));
  const texts = Object.fromEntries(Array.from(files, ([path, { text }]) => [path, text]));
  return {
    program: { source: main.text, ...(files.size === 0 ? {} : { files: texts, path: pathOf(main) }) },
    main,
    fileOf: (path) => files.get(path),
    problems,
  };
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
