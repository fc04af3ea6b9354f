import { CepError } from '../shared/errors/error.ts';
import { logLine } from '../shared/telemetry/log-text.ts';
import { colorsFor } from './colors.ts';
import type { CliContext } from './context.ts';
import { visibleLines } from './event-text.ts';

const unexpectedExitCode = 4;

/** Writes an error to standard error, as a line of JSON where that is a log of such lines, and gives the exit code that belongs to it. */
export function reportError(error: unknown, context: Pick<CliContext, 'stderr' | 'env'>, isJsonLog = false): number {
  if (isJsonLog) return logError(error, context);
  const { stderr, env } = context;
  const colors = colorsFor(stderr, env);
  const write = (message: string, hint?: string): void => {
    const told = hint === undefined ? '' : `  ${colors.cyan('hint:')} ${visibleLines(hint)}\n`;
    stderr.write(`${colors.red('error:')} ${visibleLines(message)}\n${told}`);
  };
  if (error instanceof CepError) {
    write(error.message, error.hint);
    return error.exitCode;
  }
  write(`unexpected failure: ${messageOf(error)}`, 'this is a defect in cep; please report it with the command and the lines below');
  if (error instanceof Error && error.stack) stderr.write(`${colors.dim(error.stack)}\n`);
  return unexpectedExitCode;
}

function logError(error: unknown, { stderr }: Pick<CliContext, 'stderr'>): number {
  if (error instanceof CepError) {
    const { code, hint, exitCode } = error;
    stderr.write(logLine('error', error.message, { code, hint }));
    return exitCode;
  }
  stderr.write(logLine('error', `unexpected failure: ${messageOf(error)}`, { stack: error instanceof Error ? error.stack : undefined }));
  return unexpectedExitCode;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
