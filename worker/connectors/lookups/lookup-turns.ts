/**
 * Lets so many look-ups run at a time, in the order in which they came. Once one of them was not answered in time, until none waits: the newest
 * first, as the oldest would be left by whoever waits before its answer is there, and so would each one behind it.
 */
export class LookupTurns {
  readonly #runningMax: number;
  #running = 0;
  readonly #waiting: { readonly begin: () => void; readonly reject: (error: Error) => void }[] = [];
  #isOverrun = false;
  #isClosed = false;

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Rejects when nobody waits any more, or it is closed. What has not begun by then never does; what has keeps its place until it ends. */
  run<T>(lookUp: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(closed());
        return;
      }
      const begin = (): void => {
        this.#running++;
        void lookUp()
          .then(resolve, reject)
          .finally(() => {
            signal.removeEventListener('abort', leave);
            this.#running--;
            this.#next();
          });
      };
      const leave = (): void => {
        const at = this.#waiting.findIndex((one) => one.begin === begin);
        if (at >= 0) this.#waiting.splice(at, 1);
        this.#isOverrun = this.#waiting.length > 0;
        reject(new Error('no answer in time'));
      };
      if (signal.aborted) {
        leave();
        return;
      }
      signal.addEventListener('abort', leave, { once: true });
      if (this.#running < this.#runningMax) begin();
      else this.#waiting.push({ begin, reject });
    });
  }

  /** What waits, and what comes yet, never begins. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
  }

  #next(): void {
    const next = this.#isOverrun ? this.#waiting.pop() : this.#waiting.shift();
    this.#isOverrun &&= this.#waiting.length > 0;
    next?.begin();
  }
}

function closed(): Error {
  return new Error('the connector was closed');
}
