import process from 'node:process';
import { sentError } from '../../../shared/threads/sent-error.ts';
import { checkProgram } from '../programs/check-program.ts';
import type { CheckAnswer, CheckRequest } from './check-message.ts';

/** What runs in a check process: takes programs, one after the other, until the server is gone. It may die at any of them. */
function answerTo(request: CheckRequest): CheckAnswer {
  try {
    return { kind: 'checked', reply: checkProgram(request) };
  } catch (error) {
    return { kind: 'refused', error: sentError(error) };
  }
}

if (process.send !== undefined) {
  const send = (answer: CheckAnswer): void => void process.send?.(answer);
  process.on('message', (request: CheckRequest) => send(answerTo(request)));
  process.on('disconnect', () => process.exit());
  // Ctrl+C in a terminal reaches every process of the group; when this one ends is for the server to say.
  process.on('SIGINT', () => undefined);
  send({ kind: 'ready' });
}
