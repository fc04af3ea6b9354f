import { type CheckResult, check } from './checker/check.ts';
import { SourceText } from './diagnostics/diagnostic.ts';

export interface TextOptions {
  /** What diagnostics call the program. @default program.vpl */
  readonly name?: string;
  /** The text of a file that the program imports, by the path as it stands there; undefined when there is none. @default no imports */
  readonly resolveImport?: (path: string) => string | undefined;
}

/** Checks a text that lies in no file. Never throws because of the text. */
export function checkText(text: string, { name = 'program.vpl', resolveImport }: TextOptions = {}): CheckResult {
  return check(new SourceText(name, text), {
    resolveImport: (path) => {
      const found = resolveImport?.(path);
      return found === undefined ? undefined : new SourceText(path, found);
    },
  });
}
