import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a key, as lower-case hex: what is stored instead of the key. */
export type KeyDigest = string;

const keyPrefix = 'cep_';
const shownDigits = 8;

/** A new key: 256 random bits, so its plain digest cannot be turned back. Shown once, never stored. */
export function makeApiKey(): string {
  return `${keyPrefix}${randomBytes(32).toString('base64url')}`;
}

export function digestOfKey(key: string): KeyDigest {
  return createHash('sha256').update(key).digest('hex');
}

/** What lists show of a key: enough to tell keys apart, nothing to use. */
export function shownDigest(digest: KeyDigest): string {
  return digest.slice(0, shownDigits);
}

/** Whether a key has the digest. Takes the same time wherever the two begin to differ. */
export function hasDigest(key: string, digest: KeyDigest): boolean {
  return timingSafeEqual(Buffer.from(digestOfKey(key), 'hex'), Buffer.from(digest, 'hex'));
}

/**
 * Who has which key, by digest. A key is looked for under a keyed hash of its digest that only this process knows, and then
 * compared in constant time, so the time of an answer says nothing about the keys there are.
 */
export class KeyRing<Owner> {
  readonly #salt = randomBytes(32);
  readonly #owners = new Map<string, { readonly digest: Buffer; readonly owner: Owner }>();

  /** Replaces the owner when the digest is known. */
  add(digest: KeyDigest, owner: Owner): void {
    this.#owners.set(this.#place(digest), { digest: Buffer.from(digest, 'hex'), owner });
  }

  remove(digest: KeyDigest): void {
    this.#owners.delete(this.#place(digest));
  }

  ownerOf(key: string): Owner | undefined {
    const digest = digestOfKey(key);
    const found = this.#owners.get(this.#place(digest));
    return found && timingSafeEqual(found.digest, Buffer.from(digest, 'hex')) ? found.owner : undefined;
  }

  #place(digest: KeyDigest): string {
    return createHmac('sha256', this.#salt).update(digest).digest('base64');
  }
}
