import { Command, Option } from 'clipanion';
import { CepError } from '../shared/errors/error.ts';
import { canConnect } from '../shared/language/connectors/table.ts';
import type { Diagnostic } from '../shared/language/diagnostics/diagnostic.ts';
import { diagnosticToJson } from '../shared/language/diagnostics/render.ts';
import { ClientCommand } from './client/client-command.ts';
import { shownDiagnostic } from './client/refused-program.ts';
import type { ServerApi } from './client/server-api.ts';
import { checkProgram, hasErrors } from './program/checked-program.ts';
import { diagnosticsText } from './program/diagnostics.ts';
import { programPaths } from './program/program-paths.ts';
import { programToSend } from './program/program-to-send.ts';
import { reportError } from './report-error.ts';

export class CheckCommand extends ClientCommand {
  static override paths = [['check']];
  static override usage = Command.Usage({
    category: 'Programs',
    description: 'Check programs without running them',
    details:
      'Prints every error and warning with its position. Imports are read relative to the file they stand in. ' +
      'With --server the server that would run them checks them, for the tenant of the key, and nothing is deployed. ' +
      'Ends with 0 when no program has an error, 1 when one has, 2 when a file cannot be read, 4 when the server cannot be asked.',
    examples: [
      ['One program', '$0 check rules.vpl'],
      ['Several, for an editor or a build', '$0 check --json rules/*.vpl'],
      ['A folder of them', '$0 check rules'],
      ['By the server that would run it', '$0 check rules.vpl --server https://cep.example.org --api-key-file key'],
    ],
  });

  files = Option.Rest({ name: 'FILE', required: 1 });

  override server = Option.String('--server', { description: 'URL of the server that checks (this program checks)' });

  override async run(): Promise<number | undefined> {
    if (this.server !== undefined) return super.run();
    await this.loadConfig(); // A configuration that is named, or lies here, is right.
    for (const option of ['apiKey', 'apiKeyFile', 'tlsCa', 'timeout'] as const)
      if (this[option] !== undefined) throw new CepError('usage_error', 'a key, --tls-ca and --timeout are for --server');
    return this.#checkAll((file) => checkProgram(file, { canConnect }));
  }

  protected override ask(api: ServerApi): Promise<number> {
    return this.#checkAll((file) => checkByServer(api, file));
  }

  async #checkAll(checkOf: (file: string) => Report | Promise<Report>): Promise<number> {
    const files = programPaths(this.files);
    const isOne = files.length === 1 && files[0] === this.files[0];
    let exitCode = 0;
    for (const file of files) {
      const found = isOne ? this.#report(await checkOf(file)) : await this.#checkOneOfSeveral(file, checkOf);
      exitCode = Math.max(exitCode, found);
    }
    return exitCode;
  }

  #report(checked: Report): number {
    if (this.json) this.printJson(reportData(checked));
    else this.print(this.#reportText(checked));
    return hasErrors(checked.diagnostics) ? 1 : 0;
  }

  /** A file that cannot be read stops none of the others; a server that cannot be asked does. */
  async #checkOneOfSeveral(file: string, checkOf: (file: string) => Report | Promise<Report>): Promise<number> {
    try {
      const checked = await checkOf(file);
      if (this.json) this.printJson({ file, ...reportData(checked) });
      else this.print(`${file}: ${this.#reportText(checked)}`);
      return hasErrors(checked.diagnostics) ? 1 : 0;
    } catch (error) {
      if (error instanceof CepError && error.exitCode < 4) return reportError(error, this.context);
      throw error;
    }
  }

  #reportText({ diagnostics, statements }: Report): string {
    const problems = diagnosticsText(diagnostics, this.context.stdout, this.context.env);
    if (hasErrors(diagnostics)) return problems;
    return `Syntax OK\n   Statements: ${statements}\n${problems}`;
  }
}

/** What was found in one program, wherever it was checked. */
interface Report {
  readonly diagnostics: readonly Diagnostic[];
  readonly statements: number;
}

async function checkByServer(api: ServerApi, file: string): Promise<Report> {
  const sent = programToSend(file);
  if (sent.problems.length > 0) return { diagnostics: sent.problems, statements: 0 };
  const { statements, diagnostics } = await api.validate(sent.program);
  return { statements, diagnostics: diagnostics.map((diagnostic) => shownDiagnostic(diagnostic, sent)) };
}

function reportData({ diagnostics, statements }: Report): object {
  return { valid: !hasErrors(diagnostics), statements, diagnostics: diagnostics.map(diagnosticToJson) };
}
