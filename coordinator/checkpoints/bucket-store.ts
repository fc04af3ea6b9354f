import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { crc32c } from '../../shared/checksum/crc32c.ts';
import { CepError } from '../../shared/errors/error.ts';
import { limits } from '../../shared/limits.ts';
import type { WebAnswer, WebDoor } from '../../shared/outbound/web-door.ts';
import { type CheckpointName, type CheckpointStore, fileName, folderName, isBefore, partsOf, type StoredFile } from './checkpoint-store.ts';

/** A bucket of S3, or of a service that speaks as S3 does. */
export interface Bucket {
  /** Its URL, with the bucket as the first part of the path. */
  readonly url: string;
  /** Before the names of all objects; empty, or ends with `/`. */
  readonly prefix: string;
  readonly region: string;
  readonly keyId: string;
  readonly secret: string;
}

interface Asked {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly object?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

const REQUEST_MS_MAX = 30_000;
const LIST_BYTES_MAX = 4_194_304;

/** Checkpoints as objects of a bucket that all members share. Signed as Signature Version 4 says. */
export class BucketStore implements CheckpointStore {
  readonly #bucket: Bucket;
  readonly #web: WebDoor;

  constructor(bucket: Bucket, web: WebDoor) {
    this.#bucket = bucket;
    this.#web = web;
  }

  async write(name: CheckpointName, bytes: Uint8Array): Promise<void> {
    const answer = await this.#ask({ method: 'PUT', object: this.#objectOf(name, crc32c(bytes)), body: bytes });
    if (answer.statusCode !== 200) throw (await this.#refusal('does not take the checkpoint', answer)).error;
    this.#web.leave(answer);
  }

  async read(name: CheckpointName, checksum?: number): Promise<Uint8Array | undefined> {
    const { placementId, epoch, sequence } = name;
    const begin = `${this.#folderOf(placementId)}${epoch}-${sequence}-`;
    const object = checksum === undefined ? (await this.#list(begin))[0] : this.#objectOf(name, checksum);
    if (object === undefined) return undefined;
    const answer = await this.#ask({ method: 'GET', object });
    if (answer.statusCode !== 200) {
      const refusal = await this.#refusal('does not give the checkpoint', answer);
      // Where the bucket itself is gone it is another code.
      if (refusal.code === 'NoSuchKey') return undefined;
      throw refusal.error;
    }
    const bytes = await this.#bytesOf(answer, limits.placementCheckpointBytesMax);
    return object === this.#objectOf(name, crc32c(bytes)) ? bytes : undefined;
  }

  async trim(oldest: CheckpointName): Promise<void> {
    const folder = this.#folderOf(oldest.placementId);
    for (const object of await this.#list(folder)) if (isBefore(object.slice(folder.length), oldest)) await this.#remove(object);
  }

  async sweep(isGarbage: (file: StoredFile) => boolean, groupId?: string): Promise<void> {
    const { prefix } = this.#bucket;
    for (const object of await this.#list(groupId === undefined ? prefix : `${prefix}${groupId}-`)) {
      const [folder = '', file = ''] = object.slice(prefix.length).split('/');
      if (isGarbage({ folder, ...partsOf(file) })) await this.#remove(object);
    }
  }

  async #remove(object: string): Promise<void> {
    const answer = await this.#ask({ method: 'DELETE', object });
    // What another member has removed is answered 404 by some services.
    if (answer.statusCode >= 300 && answer.statusCode !== 404)
      throw (await this.#refusal('does not remove an old checkpoint', answer)).error;
    this.#web.leave(answer);
  }

  /** The names of all objects that begin so. */
  async #list(prefix: string): Promise<readonly string[]> {
    const names: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = { 'list-type': '2', prefix, ...(next === '' ? {} : { 'continuation-token': next }) };
      const answer = await this.#ask({ method: 'GET', query: page });
      if (answer.statusCode !== 200) throw (await this.#refusal('does not list checkpoints', answer)).error;
      const text = new TextDecoder().decode(await this.#bytesOf(answer, LIST_BYTES_MAX));
      // Names and tokens hold nothing that XML would write in another way.
      names.push(...Array.from(text.matchAll(/<Key>([^<]+)<\/Key>/g), ([, name]) => name as string));
      next = /<NextContinuationToken>([^<]+)</.exec(text)?.[1];
    }
    return names;
  }

  async #ask({ method, object = '', query = {}, body }: Asked): Promise<WebAnswer> {
    const { url: bucketUrl, region, keyId, secret } = this.#bucket;
    const target = new URL(object === '' ? bucketUrl : `${bucketUrl}/${object}`);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const signer = new AwsV4Signer({
      ...{ method, url: target.href, region, service: 's3', accessKeyId: keyId, secretAccessKey: secret },
      headers: { 'x-amz-content-sha256': digest },
    });
    const { url, headers } = await signer.sign();
    const sent = { method, headers: Object.fromEntries(headers), body: body ?? null, deadlineMs: REQUEST_MS_MAX };
    try {
      return await this.#web.request(url, sent);
    } catch (error) {
      throw this.#unavailable(`does not answer: ${(error as Error).message}`, error);
    }
  }

  async #bytesOf({ body }: WebAnswer, most: number): Promise<Uint8Array> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > most) throw new Error(`more than ${most} bytes came`);
        pieces.push(piece);
      }
    } catch (error) {
      throw this.#unavailable(`breaks off: ${(error as Error).message}`, error);
    }
    return Buffer.concat(pieces);
  }

  async #refusal(what: string, answer: WebAnswer): Promise<{ readonly code: string | undefined; readonly error: CepError }> {
    const text = new TextDecoder().decode(await this.#bytesOf(answer, LIST_BYTES_MAX));
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1];
    return { code, error: this.#unavailable(`${what}: it answers ${answer.statusCode}${code === undefined ? '' : ` ${code}`}`) };
  }

  #unavailable(problem: string, cause?: unknown): CepError {
    const message = `the store of checkpoints ${this.#bucket.url} ${problem}`;
    return new CepError('storage_unavailable', message, { cause, retryAfterSeconds: 1 });
  }

  #objectOf(name: CheckpointName, checksum: number): string {
    return `${this.#folderOf(name.placementId)}${fileName(name, checksum)}`;
  }

  #folderOf(placementId: string): string {
    return `${this.#bucket.prefix}${folderName(placementId)}/`;
  }
}
