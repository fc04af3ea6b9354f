import { CepError } from '../../shared/errors/error.ts';
import type { Diagnostic } from '../../shared/language/diagnostics/diagnostic.ts';
import { diagnosticToJson } from '../../shared/language/diagnostics/render.ts';
import { diagnosticsText } from '../program/diagnostics.ts';
import { programToSend, type SentProgram } from '../program/program-to-send.ts';
import { ClientCommand } from './client-command.ts';
import { diagnosticsOf, shownDiagnostic } from './refused-program.ts';
import type { DeployedAnswer } from './server-api.ts';

/** A command that hands a program with its imports to a server and shows its diagnostics as `cep check` does. */
export abstract class ProgramCommand extends ClientCommand {
  /** What the server answers to the program; undefined when it refuses it, and that was shown. */
  protected async handOver<T extends Pick<DeployedAnswer, 'warnings'>>(
    file: string,
    send: (program: SentProgram) => Promise<T>,
  ): Promise<T | undefined> {
    const sent = programToSend(file);
    if (sent.problems.length > 0) {
      this.#refuse(sent.problems, sent.problems.map(diagnosticToJson));
      return undefined;
    }
    try {
      const answer = await send(sent.program);
      this.#show(answer.warnings.map((diagnostic) => shownDiagnostic(diagnostic, sent)));
      return answer;
    } catch (error) {
      const diagnostics = error instanceof CepError ? diagnosticsOf(error) : undefined;
      if (diagnostics === undefined) throw error;
      this.#refuse(
        diagnostics.map((diagnostic) => shownDiagnostic(diagnostic, sent)),
        diagnostics,
      );
      return undefined;
    }
  }

  #refuse(diagnostics: readonly Diagnostic[], data: readonly object[]): void {
    if (this.json) this.printJson({ valid: false, diagnostics: data });
    else this.#show(diagnostics);
  }

  #show(diagnostics: readonly Diagnostic[]): void {
    const { stderr, env } = this.context;
    stderr.write(diagnosticsText(diagnostics, stderr, env));
  }
}
