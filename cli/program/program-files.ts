import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, relative } from 'node:path';
import { CepError } from '../../shared/errors/error.ts';
import { lossyText, wellFormedStart } from '../../shared/events/reading/utf8.ts';
import { type Diagnostic, SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { importing, isPattern } from '../../shared/language/import-pattern.ts';
import { filesOfPattern } from './program-paths.ts';

/**
 * Reads a program and what it imports from files. Each file is read once, by whatever names it is called, and its
 * `SourceText` has the name by which it was called first.
 */
export class ProgramFiles {
  readonly #byRealPath = new Map<string, SourceText>();
  readonly #otherNames = new Map<string, SourceText>();
  readonly #patterns = new Set<string>();
  readonly #problems: Diagnostic[] = [];

  /** Every file read so far, in order. */
  get sources(): readonly SourceText[] {
    return [...this.#byRealPath.values()];
  }

  /** Names by which files were called that have another one already: of symbolic links, mostly. */
  get otherNames(): ReadonlyMap<string, SourceText> {
    return this.#otherNames;
  }

  /** The patterns of imports: a file that comes to fit one belongs to the program. */
  get patterns(): readonly string[] {
    return [...this.#patterns];
  }

  /** What is wrong with the bytes of the files read so far: they are not UTF-8 text. */
  get problems(): readonly Diagnostic[] {
    return this.#problems;
  }

  /** The program that the user named; several are one that imports them all. @throws CepError `file_not_found` or `io_error` */
  main(...paths: readonly string[]): SourceText {
    const [only = '', ...others] = paths;
    if (others.length === 0) return this.#read(only);
    for (const path of paths) this.#read(path);
    return importsOf('.', paths);
  }

  /** An import, relative to the file it stands in; undefined when it cannot be read. */
  readonly resolveImport = (path: string, from: SourceText): SourceText | undefined => {
    const found = isAbsolute(path) ? path : join(dirname(from.name), path);
    try {
      return isPattern(path) ? this.#pattern(found, from.name) : this.#read(found);
    } catch (error) {
      if (error instanceof CepError) return undefined; // The checker reports the import, at its position.
      throw error;
    }
  };

  /** What a pattern names, without the file that it stands in; undefined when there is nothing. */
  #pattern(pattern: string, from: string): SourceText | undefined {
    this.#patterns.add(pattern);
    const paths = filesOfPattern(pattern).filter((path) => realPathOf(path) !== realPathOf(from));
    return paths.length === 0 ? undefined : importsOf(pattern, paths);
  }

  #read(path: string): SourceText {
    const name = normalize(path);
    const key = realPathOf(name);
    const known = this.#byRealPath.get(key);
    if (known) {
      if (known.name !== name) this.#otherNames.set(name, known);
      return known;
    }
    const source = this.decode(
      name,
      attempt(name, () => readFileSync(name)),
    );
    this.#byRealPath.set(key, source);
    return source;
  }

  /** A program that did not come from a file. */
  decode(name: string, bytes: Uint8Array): SourceText {
    const text = lossyText(bytes);
    const mark = text.startsWith('\uFEFF') ? 1 : 0;
    const source = new SourceText(name, text.slice(mark));
    const start = text.includes('\uFFFD') ? wellFormedStart(bytes).length : text.length;
    if (start < text.length) this.#problems.push(malformedText(source, start - mark));
    return source;
  }
}

function importsOf(name: string, paths: readonly string[]): SourceText {
  return new SourceText(name, importing(paths.map((path) => (isAbsolute(path) ? path : relative(dirname(name), path)))));
}

function malformedText(source: SourceText, start: number): Diagnostic {
  const isUtf16 = source.text.includes('\0');
  return {
    severity: 'error',
    code: 'E000',
    message: 'this byte is not UTF-8 text',
    hint: `${isUtf16 ? 'the file looks like UTF-16: ' : ''}save the file as UTF-8`,
    source,
    span: { start, end: start + 1 },
  };
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
};

/** The name itself for what has no path, as a pipe, and for what does not exist. */
function realPathOf(name: string): string {
  try {
    return realpathSync(name);
  } catch {
    return name; // Reading it says what is wrong, if anything is.
  }
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
    if (reason === 'ENOENT') throw new CepError('file_not_found', `program file '${path}' not found`, { cause });
    throw new CepError('io_error', `program file '${path}' cannot be read: ${reasons[reason] ?? reason}`, { cause });
  }
}
