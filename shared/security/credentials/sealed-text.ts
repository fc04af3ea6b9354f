/**
 * A text under lock, as it stands in a credentials file: `ENC[AES256-GCM,key:<id>,nonce:<..>,data:<..>,tag:<..>]`, the parts in
 * base64url. AES-256 in Galois/counter mode (NIST SP 800-38D) with a random nonce of 96 bits; the name of the entry is
 * authenticated with it, so a text that was moved to another entry does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { CepError } from '../../errors/error.ts';
import type { MasterKey } from './master-key.ts';
import { sealedForm } from './sealed-form.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Where a text stands: the profile's name, then the names down to the value. */
export type Entry = readonly string[];

/** Whether the text is one under lock, or was one before somebody changed it. */
export function looksSealed(text: string): boolean {
  return text.startsWith('ENC[') || text.includes('AES256-GCM,');
}

export function seal(text: string, key: MasterKey, entry: Entry): string {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, key.reveal(), nonce, { authTagLength: tagBytes }).setAAD(named(entry));
  const data = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
  const [n, d, t] = [nonce, data, encryption.getAuthTag()].map((bytes) => bytes.toString('base64url'));
  return `ENC[AES256-GCM,key:${key.id},nonce:${n},data:${d},tag:${t}]`;
}

/** @throws CepError `config_error` when it was locked with another key, for another entry, or was changed */
export function unseal(text: string, key: MasterKey, entry: Entry): string {
  const [, keyId, ...parts] = sealedForm.exec(text) ?? [];
  const [nonce, data, tag] = parts.map(bytesOf);
  if (keyId === undefined || nonce === undefined || data === undefined || tag === undefined) throw changed(entry);
  if (keyId !== key.id) {
    throw new CepError('config_error', `${entry.join('.')} is encrypted with the master key ${keyId}, and CEP_MASTER_KEY is ${key.id}`, {
      hint: 'start with the key that the file was encrypted with',
    });
  }
  try {
    const decryption = createDecipheriv(cipher, key.reveal(), nonce, { authTagLength: tagBytes }).setAAD(named(entry)).setAuthTag(tag);
    return Buffer.concat([decryption.update(data), decryption.final()]).toString('utf8');
  } catch (cause) {
    throw changed(entry, cause);
  }
}

function named(entry: Entry): Buffer {
  return Buffer.from(`cep credentials 1 ${JSON.stringify(entry)}`);
}

/** Undefined unless the text is the one way to write these bytes: others would open although they were changed. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function changed(entry: Entry, cause?: unknown): CepError {
  return new CepError('config_error', `${entry.join('.')} cannot be decrypted: the text was changed, or belongs to another entry`, {
    hint: 'write the value again and run cep credentials encrypt',
    cause,
  });
}
