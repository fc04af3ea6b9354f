import { realpath } from 'node:fs/promises';
import { CepError } from '../../errors/error.ts';
import { replaceFile } from '../../files/durable-files.ts';
import { readTextFile } from '../../files/text-file.ts';
import { CredentialsDocument } from './credentials-document.ts';
import type { MasterKey } from './master-key.ts';
import { looksSealed, seal, unseal } from './sealed-text.ts';

/** How many texts of a file were encrypted now, and how many had been before. */
export interface Encrypted {
  readonly encrypted: number;
  readonly before: number;
}

/**
 * Encrypts the texts of a credentials file that are not encrypted yet, in place; numbers and switches stay as they are. Those
 * that are must have been encrypted with the same key.
 * @throws CepError `file_not_found`, `io_error`, `config_error`; the file is as it was then
 */
export async function encryptCredentials(path: string, key: MasterKey): Promise<Encrypted> {
  const document = await readDocument(path);
  const [sealed, open] = [true, false].map((wanted) => document.texts.filter(({ node }) => looksSealed(node.value) === wanted));
  for (const { entry, node } of sealed ?? []) unseal(node.value, key, entry);
  for (const { entry, node } of open ?? []) write(node, seal(node.value, key, entry));
  await replaceCredentials(path, document.toString());
  return { encrypted: open?.length ?? 0, before: sealed?.length ?? 0 };
}

/**
 * Encrypts with another key what is encrypted in a credentials file, in place. Gives how many texts that were.
 * @throws CepError as `encryptCredentials`
 */
export async function rotateCredentials(path: string, keys: { readonly from: MasterKey; readonly to: MasterKey }): Promise<number> {
  const document = await readDocument(path);
  const sealed = document.texts.filter(({ node }) => looksSealed(node.value));
  for (const { entry, node } of sealed) write(node, seal(unseal(node.value, keys.from, entry), keys.to, entry));
  await replaceCredentials(path, document.toString());
  return sealed.length;
}

async function readDocument(path: string): Promise<CredentialsDocument> {
  return new CredentialsDocument(await readTextFile(path, 'credentials file'), path);
}

/** On one line, whatever it was written as. */
function write(node: { value: string; type?: unknown }, text: string): void {
  node.value = text;
  delete node.type;
}

/** Nobody but the owner can read it. */
async function replaceCredentials(path: string, text: string): Promise<void> {
  try {
    await replaceFile(await realpath(path), text, 0o600);
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason';
    throw new CepError('io_error', `credentials file '${path}' cannot be written: ${reason}; it is as it was`, { cause });
  }
}
