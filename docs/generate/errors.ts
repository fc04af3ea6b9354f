import { readFileSync } from 'node:fs';
import { errorCodes } from '../../shared/errors/codes.ts';
import { code, page, table } from './markdown.ts';

/** `docs/errors.md`: every error code with its HTTP status and exit code. */
export function errorsPage(): string {
  const comments = commentsOf(readFileSync(new URL('../../shared/errors/codes.ts', import.meta.url), 'utf8'));
  const rows = Object.entries(errorCodes).map(([name, { status, exitCode }]) => {
    const comment = comments.get(name);
    if (comment === undefined) throw new Error(`the error code ${name} has no comment`);
    return [code(name), String(status), String(exitCode), comment];
  });
  return page({
    title: 'Error codes',
    source: 'shared/errors/codes.ts',
    blocks: [
      'Every answer that is an error is `{"error", "code", "hint"?, "details"?, "request_id", "retry_after_seconds"?}`: the message says what was found, ' +
        'what was expected and what to do; `request_id` is in the log of the server too. Codes are part of the interface: they may be added, never renamed. ' +
        'A command that ends because of an error ends with the exit code that stands here.',
      table(['code', 'HTTP status', 'exit code', ''], rows),
    ],
  });
}

/** The documentation comment above each code, by the code. */
function commentsOf(source: string): Map<string, string> {
  return new Map(Array.from(source.matchAll(/\/\*\* (.+?) \*\/\s+(\w+): \{/g), ([, comment = '', name = '']) => [name, comment]));
}
