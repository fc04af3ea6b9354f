import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { BufferedOutput } from '../../../cli/buffered-output.ts';

/** Takes one chunk, and the next only when it is told. */
class SlowStream extends Writable {
  readonly chunks: string[] = [];
  #release: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1, decodeStrings: false });
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    this.chunks.push(chunk);
    this.#release = callback;
  }

  release(): void {
    this.#release?.();
  }
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, pending))])) !== pending;
}

describe('buffered output', () => {
  it('writes large pieces in order, however small its parts', () => {
    const stream = new PassThrough({ highWaterMark: 1e6 });
    const output = new BufferedOutput(stream);
    for (let line = 0; line < 20_000; line++) output.write(`${line}\n`);
    expect(stream.writableLength + stream.readableLength).toBeGreaterThanOrEqual(65_536);
    output.flush();
    expect(String(stream.read())).toBe(Array.from({ length: 20_000 }, (_, line) => `${line}\n`).join(''));
  });

  it('is ready at once while the reader keeps up, and later when it does not', async () => {
    const stream = new SlowStream();
    const output = new BufferedOutput(stream);
    expect(await isSettled(output.ready())).toBe(true);
    output.write('a');
    output.flush();
    const ready = output.ready();
    expect(await isSettled(ready)).toBe(false);
    stream.release();
    await ready;
    expect(stream.chunks).toEqual(['a']);
  });

  it('says when everything has left the process', async () => {
    const stream = new SlowStream();
    const output = new BufferedOutput(stream);
    output.write('a');
    const written = output.written();
    expect(await isSettled(written)).toBe(false);
    stream.release();
    await written;
  });

  it('waits for nobody when the reader is gone', async () => {
    const stream = new SlowStream();
    const output = new BufferedOutput(stream);
    output.write('a');
    output.flush();
    const ready = output.ready();
    stream.destroy();
    await ready;
    output.write('b');
    await output.written();
    await output.ready();
    expect(stream.chunks).toEqual(['a']);
  });

  it('tells before it writes', () => {
    const calls: string[] = [];
    const stream = new Writable({
      write(chunk, _encoding, callback) {
        calls.push(String(chunk));
        callback();
      },
    });
    const output = new BufferedOutput(stream, () => calls.push('before'));
    output.flush();
    output.write('a');
    output.flush();
    expect(calls).toEqual(['before', 'a']);
  });
});
