import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { RunScreen } from '../../../cli/running/run-screen.ts';

/** Takes one piece at a time, as a pipe does whose reader is slow. */
class SlowPipe extends Writable {
  text = '';
  #goOn: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#goOn = () => {
      this.text += chunk.toString();
      done();
    };
  }

  /** Gives what waits to its reader; false when nothing does. */
  read(): boolean {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
    return goOn !== undefined;
  }
}

it.each([false, true])(
  'the end of a run waits until all that it had to say is written, to standard error too: isJson %s',
  async (isJson) => {
    const [stdout, stderr] = [new SlowPipe(), new SlowPipe()];
    const screen = new RunScreen({ stdout, stderr, stdin: process.stdin, env: {} } as never, { isQuiet: false, isJson });
    screen.note('first');
    screen.note('second');
    let isEnded = false;
    const ended = screen.end().then(() => {
      isEnded = true;
    });
    const isHeld = async (pipe: SlowPipe): Promise<boolean> => {
      await new Promise((resolve) => setImmediate(resolve));
      return !isEnded && pipe.read();
    };
    while (await isHeld(stdout));
    expect(isEnded).toBe(false);
    while (await isHeld(stderr));
    await ended;
    expect(stderr.text).toContain('first\nsecond\n');
    expect(stderr.writableLength).toBe(0);
  },
);
