import type { Writable } from 'node:stream';
import { CepError } from '../shared/errors/error.ts';
import { fileReason } from '../shared/files/file-reason.ts';

/** Undefined when all that happened is that the reader has gone, as `head` does. */
type Loss = (problem: CepError | undefined) => void;

const takenOver = new WeakSet<Writable>();

/** A process ends when its standard output cannot be written, except where a command, with more to do than to write, says here what comes of it. */
export function onLostOutput(stdout: Writable, then: Loss): void {
  takenOver.add(stdout);
  stdout.on('error', (error) => then(outputProblem(error)));
}

/** Does what is to be done where no command says otherwise. */
export function byDefaultOnLostOutput(stdout: Writable, then: Loss): void {
  stdout.on('error', (error) => {
    if (!takenOver.has(stdout)) then(outputProblem(error));
  });
}

function outputProblem(cause: NodeJS.ErrnoException): CepError | undefined {
  if (cause.code === 'EPIPE') return undefined;
  return new CepError('io_error', `standard output cannot be written: ${fileReason(cause)}`, { cause });
}
