import { CepError } from '../../shared/errors/error.ts';
import { check } from '../../shared/language/checker/check.ts';
import { canConnect } from '../../shared/language/connectors/table.ts';
import { SourceText } from '../../shared/language/diagnostics/diagnostic.ts';
import type { CliContext } from '../context.ts';
import { checkProgram, hasErrors } from '../program/checked-program.ts';
import { diagnosticsText } from '../program/diagnostics.ts';
import { type SentProgram, toSend } from '../program/program-to-send.ts';

export interface ProgramChoice {
  readonly file: string | undefined;
  readonly code: string | undefined;
}

/** The program that is to run; undefined when it has errors, which are shown. Warnings are shown too. @throws CepError */
export function programToRun({ file, code }: ProgramChoice, { stderr, env }: CliContext): SentProgram | undefined {
  if ((file === undefined) === (code === undefined)) {
    throw new CepError(
      'usage_error',
      file === undefined ? 'no program: expected --file or --code' : '--file and --code exclude each other',
    );
  }
  const read = file === undefined ? undefined : checkProgram(file, { canConnect });
  const { diagnostics } = read ?? check(new SourceText('--code', code ?? ''), { canConnect });
  stderr.write(diagnosticsText(diagnostics, stderr, env));
  if (hasErrors(diagnostics)) return undefined;
  return read === undefined ? { source: code ?? '' } : toSend(read).program;
}
