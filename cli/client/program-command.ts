import { CepError } from '../../shared/errors/error.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import { diagnosticsText } from '../program/diagnostics.ts';
import { ClientCommand } from './client-command.ts';
import { diagnosticsOf, shownDiagnostic } from './refused-program.ts';
import type { DeployedAnswer } from './server-api.ts';

/** A command that hands a program to a server and shows its diagnostics as `cep check` does. */
export abstract class ProgramCommand extends ClientCommand {
  /** What the server answers to the program; undefined when it refuses it, and that was shown. */
  protected async handOver<T extends Pick<DeployedAnswer, 'warnings'>>(
    file: string,
    send: (source: string) => Promise<T>,
  ): Promise<T | undefined> {
    const sent = new SourceText(file, await this.readFile(file, 'program file'));
    try {
      const answer = await send(sent.text);
      this.#show(answer.warnings, sent);
      return answer;
    } catch (error) {
      const diagnostics = error instanceof CepError ? diagnosticsOf(error) : undefined;
      if (diagnostics === undefined) throw error;
      if (this.json) this.printJson({ valid: false, diagnostics });
      else this.#show(diagnostics, sent);
      return undefined;
    }
  }

  #show(diagnostics: Readonly<DeployedAnswer['warnings']>, sent: SourceText): void {
    const { stderr, env } = this.context;
    const shown = diagnostics.map((diagnostic) => shownDiagnostic(diagnostic, sent));
    stderr.write(diagnosticsText(shown, stderr, env));
  }
}
