import type { Operation, Step } from '../storage/log-storage.ts';

interface Queued {
  readonly step: Step;
  /** Several of these may become one batch; others are durable before the next begins. */
  readonly isWrite: boolean;
  readonly done: () => void;
}

/** Does steps one after another. What comes while one is being done goes together into the next batch, so that one sync serves many. */
export class WriteQueue {
  readonly #write: (step: Step) => Promise<void>;
  readonly #failed: (cause: unknown) => void;
  readonly #settled: () => void;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #hasFailed = false;

  /** `failed` is told of the first write that fails; nothing is written after it. `settled` is told of the end of each that does not. */
  constructor(write: (step: Step) => Promise<void>, failed: (cause: unknown) => void, settled: () => void) {
    this.#write = write;
    this.#failed = failed;
    this.#settled = settled;
  }

  push(queued: Queued): void {
    if (this.#hasFailed) return;
    this.#queue.push(queued);
    this.#running ??= this.#run();
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #run(): Promise<void> {
    try {
      // What is pushed in this turn of the loop goes along.
      await undefined;
      while (this.#queue.length > 0) {
        const taken = this.#take();
        await this.#write(merged(taken.map(({ step }) => step)));
        for (const { done } of taken) done();
        this.#settled();
      }
    } catch (cause) {
      this.#hasFailed = true;
      this.#queue = [];
      this.#failed(cause);
    } finally {
      this.#running = undefined;
      if (!this.#hasFailed) this.#settled();
    }
  }

  #take(): Queued[] {
    const end = this.#queue.findIndex(({ isWrite }) => !isWrite);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }
}

function merged(steps: readonly Step[]): Step {
  const operations: Operation[] = steps.flatMap((step) => step.operations);
  return { operations, witness: steps.findLast(({ witness }) => witness !== undefined)?.witness };
}
