import { type FileHandle, open, rename } from 'node:fs/promises';

/** Somebody who writes numbered events to a file, and renames it now and then as log rotation does. */
export class NumberedLog {
  readonly #path: string;
  readonly #rotateEvery: number;
  #file: FileHandle | undefined;
  #rotations = 0;
  written = 0;

  constructor(path: string, rotateEvery: number) {
    this.#path = path;
    this.#rotateEvery = rotateEvery;
  }

  async write(count: number): Promise<void> {
    this.#file ??= await open(this.#path, 'a');
    const lines = Array.from({ length: count }, (_, at) => `{"event_type":"Reading","n":${this.written + at}}\n`);
    await this.#file.write(lines.join(''));
    const before = Math.floor(this.written / this.#rotateEvery);
    this.written += count;
    if (Math.floor(this.written / this.#rotateEvery) > before) await this.#rotate();
  }

  async #rotate(): Promise<void> {
    await rename(this.#path, `${this.#path}.${++this.#rotations}`);
    await this.close();
    this.#file = await open(this.#path, 'a');
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}
