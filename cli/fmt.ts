import { realpath, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { replaceFile } from '../shared/files/durable-files.ts';
import { fileReason } from '../shared/files/file-reason.ts';
import type { Diagnostic } from '../shared/language/diagnostics/diagnostic.ts';
import { format } from '../shared/language/format/format.ts';
import { ResultCommand } from './command.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { ProgramFiles } from './program/program-files.ts';
import { programPaths } from './program/program-paths.ts';
import { reportError } from './report-error.ts';

/** What became of one file. */
interface FileOutcome {
  readonly file: string;
  /** Its text is, or would be, another. */
  readonly changed: boolean;
  readonly exitCode: number;
}

export class FmtCommand extends ResultCommand {
  static override paths = [['fmt']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Format programs',
    details:
      'Rewrites each file in the one layout and prints the names of those that changed. A file with errors stays as it is. ' +
      'With - the program comes from standard input and goes to standard output.',
    examples: [
      ['Two programs in place', '$0 fmt rules.vpl common.vpl'],
      ['Fail when a file is not formatted, for a build', '$0 fmt --check rules/*.vpl'],
      ['In a pipe', 'cat rules.vpl | $0 fmt -'],
    ],
  });

  files = Option.Rest({ name: 'FILE', required: 1 });
  check = Option.Boolean('--check', false, {
    description: 'Change nothing; name the files that would change, and end with 1 if there are any',
  });

  override async run(): Promise<number> {
    if (this.files.includes('-')) return this.#formatInput();
    const outcomes: FileOutcome[] = [];
    for (const file of programPaths(this.files)) outcomes.push(await this.#formatFile(file));
    const changed = outcomes.filter((outcome) => outcome.changed).map(({ file }) => file);
    if (this.json) this.printJson({ changed });
    else for (const file of changed) this.print(`${file}\n`);
    return Math.max(this.check && changed.length > 0 ? 1 : 0, ...outcomes.map(({ exitCode }) => exitCode));
  }

  async #formatInput(): Promise<number> {
    if (this.files.length > 1) throw new CepError('usage_error', '- stands for standard input and takes no files beside it');
    const files = new ProgramFiles();
    const source = files.decode('<stdin>', await buffer(this.context.stdin));
    const { text, diagnostics } = format(source);
    const errors = [...files.problems, ...diagnostics];
    if (errors.length > 0) return this.#refuse(errors);
    if (!this.check) this.print(text);
    return this.check && text !== source.text ? 1 : 0;
  }

  /** A file that cannot be formatted stops none of the others. */
  async #formatFile(file: string): Promise<FileOutcome> {
    try {
      return await this.#rewrite(file);
    } catch (error) {
      if (error instanceof CepError) return { file, changed: false, exitCode: reportError(error, this.context) };
      throw error;
    }
  }

  async #rewrite(file: string): Promise<FileOutcome> {
    const files = new ProgramFiles();
    const source = files.main(file);
    const { text, diagnostics } = format(source);
    const errors = [...files.problems, ...diagnostics];
    if (errors.length > 0) return { file, changed: false, exitCode: this.#refuse(errors) };
    const changed = text !== source.text;
    if (changed && !this.check) await rewrite(file, text);
    return { file, changed, exitCode: 0 };
  }

  #refuse(diagnostics: readonly Diagnostic[]): number {
    this.context.stderr.write(diagnosticsText(diagnostics, this.context.stderr, this.context.env));
    return 1;
  }
}

/** A link still points to its file. @throws CepError `io_error` */
async function rewrite(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path);
    await replaceFile(target, text, (await stat(target)).mode);
  } catch (cause) {
    throw new CepError('io_error', `program file '${path}' cannot be written: ${fileReason(cause)}`, { cause });
  }
}
