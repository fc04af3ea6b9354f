import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises';
import { CepError } from '../errors/error.ts';
import { fileReason } from './file-reason.ts';

/**
 * The text of a UTF-8 file; a byte order mark is left out.
 * Fails with `file_not_found` or `io_error`; the message begins with `what`, a noun for the file, such as "program file".
 * `check` sees the open file before it is read, and throws when it is not to be.
 */
export async function readTextFile(path: string, what: string, check?: (file: FileHandle) => Promise<void>): Promise<string> {
  const bytes = await (check ? readChecked(path, check) : readFile(path)).catch((cause: unknown) => {
    throw cause instanceof CepError ? cause : fileError({ path, what, action: 'read', cause });
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CepError('io_error', `${what} '${path}' is not UTF-8 text`, { cause });
  }
}

async function readChecked(path: string, check: (file: FileHandle) => Promise<void>): Promise<Buffer> {
  const file = await open(path);
  try {
    await check(file);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Writes a UTF-8 file, replacing what is there. Fails like `readTextFile`. */
export async function writeTextFile(path: string, text: string, what: string): Promise<void> {
  await writeFile(path, text).catch((cause: unknown) => {
    throw fileError({ path, what, action: 'written', cause });
  });
}

interface FileFailure {
  readonly path: string;
  readonly what: string;
  readonly action: 'read' | 'written';
  readonly cause: unknown;
}

function fileError({ path, what, action, cause }: FileFailure): CepError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT' && action === 'read') return new CepError('file_not_found', `${what} '${path}' not found`, { cause });
  return new CepError('io_error', `${what} '${path}' cannot be ${action}: ${fileReason(cause)}`, { cause });
}
