import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { canConnect } from '../shared/language/connectors/table.ts';
import { diagnosticToJson } from '../shared/language/diagnostics/render.ts';
import { ResultCommand } from './command.ts';
import { type CheckedProgram, checkProgram, hasErrors } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { programPaths } from './program/program-paths.ts';
import { reportError } from './report-error.ts';

export class CheckCommand extends ResultCommand {
  static override paths = [['check']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Check programs without running them',
    details:
      'Prints every error and warning with its position. Imports are read relative to the file they stand in. ' +
      'Ends with 0 when no program has an error, 1 when one has, 2 when a file cannot be read.',
    examples: [
      ['One program', '$0 check rules.vpl'],
      ['Several, for an editor or a build', '$0 check --json rules/*.vpl'],
      ['A folder of them', '$0 check rules'],
    ],
  });

  files = Option.Rest({ name: 'FILE', required: 1 });

  override async run(): Promise<number> {
    await this.loadConfig(); // A configuration that is named, or lies here, is right.
    const files = programPaths(this.files);
    const isOne = files.length === 1 && files[0] === this.files[0];
    return Math.max(...files.map((file) => (isOne ? this.#check(file) : this.#checkOneOfSeveral(file))));
  }

  #check(file: string): number {
    const checked = checkProgram(file, { canConnect });
    if (this.json) this.printJson(reportData(checked));
    else this.print(this.#reportText(checked));
    return hasErrors(checked.diagnostics) ? 1 : 0;
  }

  /** A file that cannot be read stops none of the others. */
  #checkOneOfSeveral(file: string): number {
    try {
      const checked = checkProgram(file, { canConnect });
      if (this.json) this.printJson({ file, ...reportData(checked) });
      else this.print(`${file}: ${this.#reportText(checked)}`);
      return hasErrors(checked.diagnostics) ? 1 : 0;
    } catch (error) {
      if (error instanceof CepError) return reportError(error, this.context);
      throw error;
    }
  }

  #reportText({ diagnostics, statements }: CheckedProgram): string {
    const problems = diagnosticsText(diagnostics, this.context.stdout, this.context.env);
    if (hasErrors(diagnostics)) return problems;
    return `Syntax OK\n   Statements: ${statements}\n${problems}`;
  }
}

function reportData({ diagnostics, statements }: CheckedProgram): object {
  return { valid: !hasErrors(diagnostics), statements, diagnostics: diagnostics.map(diagnosticToJson) };
}
