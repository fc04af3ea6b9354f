import type { Writable } from 'node:stream';

const BUFFER_LENGTH = 65_536;

/**
 * Text on its way to a stream, in large pieces. Whoever writes much awaits `ready` now and then, so that a slow reader
 * slows the writer instead of filling the memory.
 */
export class BufferedOutput {
  readonly #stream: Writable;
  readonly #beforeWrite: () => void;
  #pending = '';
  #isFull = false;

  /** `beforeWrite` is called before text reaches the stream, for whoever draws on the same terminal. */
  constructor(stream: Writable, beforeWrite: () => void = () => undefined) {
    this.#stream = stream;
    this.#beforeWrite = beforeWrite;
  }

  /** The stream takes nothing for now: `ready` resolves when it does. */
  get isFull(): boolean {
    return this.#isFull && this.#stream.writableNeedDrain;
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= BUFFER_LENGTH) this.flush();
  }

  /** The same for text that is UTF-8 already. The bytes are the stream's from now on. */
  writeBytes(bytes: Uint8Array): void {
    this.flush();
    this.#beforeWrite();
    if (!this.#stream.write(bytes)) this.#isFull = true;
  }

  /** Hands what is waiting to the stream. */
  flush(): void {
    if (this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    this.#beforeWrite();
    if (!this.#stream.write(text)) this.#isFull = true;
  }

  /** Resolves when the stream takes more, at once if it does already. */
  async ready(): Promise<void> {
    if (!this.#isFull) return;
    await drained(this.#stream);
    this.#isFull = false;
  }

  /** Resolves when everything written has left the process, or nobody reads it any more. */
  async written(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text !== '') this.#beforeWrite();
    await new Promise<void>((resolve) => {
      if (this.#stream.destroyed) resolve();
      else this.#stream.write(text, () => resolve());
    });
    this.#isFull = false;
  }
}

/** Ends with the stream too: a reader that went away never drains it. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writableNeedDrain) return resolve();
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
