import type { CliContext } from '../context.ts';

/** The terminal that a command sits at; undefined when what it reads or writes is something else. */
export function terminalOf({
  stdin,
  stdout,
  env,
}: CliContext): { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream } | undefined {
  if (env['TERM'] === 'dumb' || !isTerminal(stdin) || !isTerminal(stdout)) return undefined;
  return { stdin: stdin as NodeJS.ReadStream, stdout: stdout as NodeJS.WriteStream };
}

function isTerminal(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true;
}
