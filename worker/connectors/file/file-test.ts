import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileReason } from '../../../shared/files/file-reason.ts';
import { StepFailure, type TestStep } from '../testing/test-step.ts';

/** Opens nothing and makes nothing: asks the system what it would permit. `path` is without links, `named` as the program has it. */
export function fileStep(role: 'source' | 'sink', path: string, named: string): TestStep {
  return { name: 'file', run: () => (role === 'source' ? readable(path, named) : writable(path, named)) };
}

async function readable(path: string, named: string): Promise<string> {
  const kind = await kindOf(path, named);
  if (kind === 'nothing') {
    const hint = 'correct the path; a program that follows it waits until the file is there';
    throw new StepFailure({ found: `no file '${named}'`, expected: 'one that can be read', hint });
  }
  await permitted(path, constants.R_OK, { what: `the file '${named}'`, doing: 'be read' });
  return `the file '${named}' can be read`;
}

async function writable(path: string, named: string): Promise<string> {
  if ((await kindOf(path, named)) === 'file') {
    await permitted(path, constants.W_OK, { what: `the file '${named}'`, doing: 'be written' });
    return `the file '${named}' can be appended to`;
  }
  const folder = dirname(path);
  await permitted(folder, constants.W_OK | constants.X_OK, { what: `the folder of '${named}'`, doing: 'be written' });
  return `the file '${named}' is not there yet: it can be made in its folder`;
}

async function kindOf(path: string, named: string): Promise<'file' | 'nothing'> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw failure(`'${named}' cannot be looked at`, cause);
  });
  if (found === undefined) return 'nothing';
  if (found.isFile()) return 'file';
  if (!found.isDirectory()) {
    const hint = 'name a regular file: a pipe or a device is none';
    throw new StepFailure({ found: `'${named}', which is no regular file`, expected: 'a file', hint });
  }
  throw new StepFailure({ found: `the folder '${named}'`, expected: 'a file', hint: 'name a file in it' });
}

async function permitted(path: string, mode: number, { what, doing }: { readonly what: string; readonly doing: string }): Promise<void> {
  await access(path, mode).catch((cause: unknown) => {
    throw failure(`${what} cannot ${doing}`, cause);
  });
}

function failure(problem: string, cause: unknown): StepFailure {
  return new StepFailure({
    found: `that ${problem} (${fileReason(cause)})`,
    expected: 'that the user of this process may',
    hint: 'change the path, or the permissions of the file and its folders',
    cause,
  });
}
