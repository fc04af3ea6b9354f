import { CepError } from '../shared/errors/error.ts';
import { colorsFor } from './colors.ts';
import type { CliContext } from './context.ts';

const unexpectedExitCode = 4;

/** Writes an error to standard error and gives the exit code that belongs to it. */
export function reportError(error: unknown, { stderr, env }: Pick<CliContext, 'stderr' | 'env'>): number {
  const colors = colorsFor(stderr, env);
  const write = (message: string, hint?: string): void => {
    stderr.write(`${colors.red('error:')} ${message}\n${hint === undefined ? '' : `  ${colors.cyan('hint:')} ${hint}\n`}`);
  };
  if (error instanceof CepError) {
    write(error.message, error.hint);
    return error.exitCode;
  }
  write(`unexpected failure: ${messageOf(error)}`, 'this is a defect in cep; please report it with the command and the lines below');
  if (error instanceof Error && error.stack) stderr.write(`${colors.dim(error.stack)}\n`);
  return unexpectedExitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
