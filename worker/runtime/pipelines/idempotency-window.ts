import { CepError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';

/** A key with the answer it got, as it is kept in a checkpoint. */
export type SavedAnswer<T> = readonly [key: string, digest: string, at: number, answer: T];

/** What an entry takes besides key and answer. */
const ENTRY_BYTES = 256;

interface Answered<T> {
  readonly digest: string;
  /** When the first request came, ms; as `now` of the calls. */
  readonly at: number;
  /** What it counts for, bytes. */
  size: number;
  readonly answer: Promise<T>;
  /** Set when the answer is there. */
  known: T | undefined;
  /** What was asked is known to be on disk. */
  isKept: boolean;
}

/** The answers of the last ten minutes by idempotency key; bounded in number and bytes, the oldest go first. */
export class IdempotencyWindow<T> {
  readonly #answers = new Map<string, Answered<T>>();
  readonly #sizeOf: (answer: T) => number;
  #bytes = 0;

  /** `sizeOf`: about how many bytes an answer takes. */
  constructor(sizeOf: (answer: T) => number) {
    this.#sizeOf = sizeOf;
  }

  /** Whether the key came before, whatever it came with. */
  has(key: string, now: number): boolean {
    this.forget(now);
    return this.#answers.has(key);
  }

  /**
   * The first answer to the key, which may still be under way; undefined when the key is new.
   * @throws CepError `idempotency_conflict` when it came with another digest, or none of these
   */
  find(key: string, digests: string | readonly string[], now: number): Promise<T> | undefined {
    this.forget(now);
    const known = this.#answers.get(key);
    if (known === undefined) return undefined;
    if (![digests].flat().includes(known.digest)) {
      throw new CepError('idempotency_conflict', 'this Idempotency-Key came before with another request', {
        hint: 'use a new key for each request, and the same only to repeat it',
      });
    }
    return known.answer;
  }

  /** A first request is under way; a refusal is not kept. */
  begin(key: string, request: { readonly digest: string; readonly now: number }, answer: Promise<T>): void {
    const entry: Answered<T> = {
      digest: request.digest,
      at: request.now,
      size: key.length + ENTRY_BYTES,
      answer,
      known: undefined,
      isKept: false,
    };
    this.#put(key, entry);
    answer.catch(() => {
      if (this.#answers.get(key) === entry) this.#delete(key, entry);
    });
  }

  /** The answer is there: from now on it is saved with the rest. */
  complete(key: string, known: T): void {
    const entry = this.#answers.get(key);
    if (entry === undefined) return;
    entry.known = known;
    const size = this.#sizeOf(known);
    entry.size += size;
    this.#bytes += size;
  }

  /** What was asked with the key is known to be on disk. */
  kept(key: string): void {
    const entry = this.#answers.get(key);
    if (entry !== undefined) entry.isKept = true;
  }

  isKept(key: string): boolean {
    return this.#answers.get(key)?.isKept ?? false;
  }

  save(now: number): SavedAnswer<T>[] {
    this.forget(now);
    return [...this.#answers].flatMap(([key, { digest, at, known }]) => (known === undefined ? [] : [[key, digest, at, known] as const]));
  }

  /**
   * What a process before has saved. How long ago that was only the wall clock could say, which may have been set: each counts from now on,
   * so a repeat is never taken for new too early.
   */
  load(saved: readonly SavedAnswer<T>[], now: number): void {
    for (const [key, digest, , answer] of saved) {
      this.#put(key, {
        digest,
        at: now,
        size: key.length + ENTRY_BYTES + this.#sizeOf(answer),
        answer: Promise.resolve(answer),
        known: answer,
        isKept: true,
      });
    }
  }

  #put(key: string, entry: Answered<T>): void {
    const before = this.#answers.get(key);
    if (before) this.#delete(key, before);
    this.#answers.set(key, entry);
    this.#bytes += entry.size;
  }

  #delete(key: string, entry: Answered<T>): void {
    this.#answers.delete(key);
    this.#bytes -= entry.size;
  }

  /** What is too old, or too much; to be called from time to time. */
  forget(now: number): void {
    for (const [key, entry] of this.#answers) {
      const isOver = this.#answers.size > limits.idempotencyAnswersMax || this.#bytes > limits.idempotencyBytesMax;
      if (!isOver && now - entry.at < limits.idempotencyMsMax) return;
      this.#delete(key, entry);
    }
  }
}
