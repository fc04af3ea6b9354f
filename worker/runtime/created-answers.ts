import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { CepError } from '../../shared/errors/error.ts';
import { limits } from '../../shared/limits.ts';
import { IdempotencyWindow } from './pipelines/idempotency-window.ts';
import type { OnceRequest, RuntimeReport } from './service.ts';

/** An answer under lock. */
export interface SealedAnswer {
  /** Of tenant and idempotency key; says nothing of either. */
  readonly id: string;
  readonly digest: string;
  /** When the first request came, in the process that says it; another counts from its start on. */
  readonly at: number;
  /** Base64: nonce, tag, ciphertext. */
  readonly sealed: string;
}

export interface AnswerStorage {
  saveAnswer(answer: SealedAnswer): Promise<void>;
  deleteAnswers(ids: readonly string[]): Promise<void>;
}

export interface CreatedAnswersOptions {
  readonly storage: AnswerStorage | null;
  /** The server's key; it stands nowhere in the storage. */
  readonly apiKey: string | undefined;
  /** Since some moment in this process. */
  readonly elapsedMs: () => number;
  readonly report: (report: RuntimeReport) => void;
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Answers to requests that create something, for ten minutes: a repeat gets the first one, also from a server that was started since.
 * An answer may show a key this once, so it is kept under lock: it opens with the idempotency key and the server's key, and neither of them
 * is kept.
 */
export class CreatedAnswers {
  readonly #options: CreatedAnswersOptions;
  readonly #window = new IdempotencyWindow<unknown>((answer) => JSON.stringify(answer)?.length ?? 0);
  /** Of processes before and this one; oldest first. */
  readonly #sealed = new Map<string, SealedAnswer>();
  #sealedChars = 0;

  constructor(options: CreatedAnswersOptions) {
    this.#options = options;
  }

  /** Takes in what a process before has kept. */
  load(kept: readonly SealedAnswer[]): void {
    const now = this.#options.elapsedMs();
    for (const answer of kept) this.#put({ ...answer, at: now });
  }

  /** @throws CepError `idempotency_conflict`, and what the action throws, which is not kept */
  once<T>(request: OnceRequest, action: () => Promise<T>): Promise<T> {
    const now = this.#options.elapsedMs();
    const id = idOf(request);
    const known = this.#window.find(id, request.digest, now) ?? this.#opened(request, now);
    if (known !== undefined) return known as Promise<T>;
    const answer = action().then(async (given) => {
      this.#window.complete(id, given);
      await this.#keep(request, now, given);
      return given;
    });
    this.#window.begin(id, { digest: request.digest, now }, answer);
    return answer;
  }

  #opened(request: OnceRequest, now: number): Promise<unknown> | undefined {
    const kept = this.#sealed.get(idOf(request));
    if (kept === undefined || now - kept.at >= limits.idempotencyMsMax) return undefined;
    if (kept.digest !== request.digest) {
      throw new CepError('idempotency_conflict', 'this Idempotency-Key came before with another request', {
        hint: 'use a new key for each request, and the same only to repeat it',
      });
    }
    const text = this.#open(request, kept);
    return text === undefined ? undefined : Promise.resolve(JSON.parse(text));
  }

  /** What cannot be kept is answered all the same: it was created. */
  async #keep(request: OnceRequest, at: number, given: unknown): Promise<void> {
    const { storage, report } = this.#options;
    if (storage === null) return;
    const answer: SealedAnswer = { id: idOf(request), digest: request.digest, at, sealed: this.#seal(request, JSON.stringify(given)) };
    this.#put(answer);
    try {
      await this.#forget(storage, at);
      if (this.#sealed.get(answer.id) === answer) await storage.saveAnswer(answer);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report({ level: 'warn', message: 'Answer not kept; a repeat after a restart would not get it', fields: { reason } });
    }
  }

  async #forget(storage: AnswerStorage, now: number): Promise<void> {
    const ids: string[] = [];
    for (const { id, at } of this.#sealed.values()) {
      const isOver = this.#sealed.size > limits.idempotencyAnswersMax || this.#sealedChars > limits.idempotencyBytesMax;
      if (!isOver && now - at < limits.idempotencyMsMax) continue;
      this.#delete(id);
      ids.push(id);
    }
    if (ids.length > 0) await storage.deleteAnswers(ids);
  }

  /** As the newest. */
  #put(answer: SealedAnswer): void {
    this.#delete(answer.id);
    this.#sealed.set(answer.id, answer);
    this.#sealedChars += answer.sealed.length;
  }

  #delete(id: string): void {
    this.#sealedChars -= this.#sealed.get(id)?.sealed.length ?? 0;
    this.#sealed.delete(id);
  }

  #seal(request: OnceRequest, text: string): string {
    const nonce = randomBytes(nonceBytes);
    const encryption = createCipheriv(cipher, this.#lockOf(request), nonce, { authTagLength: tagBytes });
    const data = Buffer.concat([encryption.update(text, 'utf8'), encryption.final()]);
    return Buffer.concat([nonce, encryption.getAuthTag(), data]).toString('base64');
  }

  /** Undefined when the server has another key than the one it was kept with. */
  #open(request: OnceRequest, { sealed }: SealedAnswer): string | undefined {
    const bytes = Buffer.from(sealed, 'base64');
    const [nonce, tag, data] = [
      bytes.subarray(0, nonceBytes),
      bytes.subarray(nonceBytes, nonceBytes + tagBytes),
      bytes.subarray(nonceBytes + tagBytes),
    ];
    try {
      const decryption = createDecipheriv(cipher, this.#lockOf(request), nonce, { authTagLength: tagBytes }).setAuthTag(tag);
      return Buffer.concat([decryption.update(data), decryption.final()]).toString('utf8');
    } catch {
      return undefined; // As if it had never been kept: the request is carried out, and finds what there is.
    }
  }

  #lockOf({ tenant, key }: OnceRequest): Buffer {
    return Buffer.from(hkdfSync('sha256', `${this.#options.apiKey ?? ''}\0${key}`, tenant, 'cep created answer', 32));
  }
}

function idOf({ tenant, key }: OnceRequest): string {
  return createHash('sha256').update(`${tenant} ${key}`).digest('hex');
}
