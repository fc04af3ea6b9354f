import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from './backoff.ts';
import type { SourceReading } from './connector.ts';

/** Reads over a connection that is made again whenever it is lost, for as long as it is open. */
export class KeptConnection {
  readonly #end = new AbortController();
  readonly #reasonOf: (error: unknown) => string;

  /** @param reasonOf What went wrong, in words. */
  constructor(reasonOf: (error: unknown) => string) {
    this.#reasonOf = reasonOf;
  }

  get isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** `read` connects, says `connected` and reads until something fails; it is called again after a while, longer each time that it does not get so far. */
  async keep(reading: SourceReading, read: (connected: () => void) => Promise<void>): Promise<void> {
    const backoff = new Backoff();
    const connected = (): void => {
      backoff.reset();
      reading.connected();
    };
    while (!this.isClosed) {
      try {
        await read(connected);
      } catch (error) {
        if (!this.isClosed) reading.disconnected(this.#reasonOf(error));
      }
      await sleep(backoff.next(), undefined, { signal: this.#end.signal }).catch(() => undefined); // Closed: the loop sees that.
    }
  }

  close(): void {
    this.#end.abort();
  }
}
