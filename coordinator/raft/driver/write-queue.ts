import type { Step } from '../storage/log-storage.ts';
import type { Operation } from '../storage/operation.ts';
import { sealWitness } from '../storage/witness.ts';

interface Queued {
  readonly step: Step;
  /** Several of these may become one batch; others are durable before the next begins. */
  readonly isWrite: boolean;
  readonly done: () => void;
}

export interface WrittenTo {
  readonly writeBatch: (operations: readonly Operation[]) => Promise<void>;
  /** One that has its whole batch in it is written while that is. */
  readonly writeWitness: (bytes: Uint8Array) => Promise<void>;
}

/**
 * Does steps one after another. What comes while a batch is written goes together into the next, so that one sync serves many.
 */
export class WriteQueue {
  readonly #disk: WrittenTo;
  readonly #failed: (cause: unknown) => void;
  readonly #settled: () => void;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #hasFailed = false;

  /** `failed` is told of the first write that fails; nothing is done after it. `settled` is told whenever a next batch may begin. */
  constructor(disk: WrittenTo, failed: (cause: unknown) => void, settled: () => void) {
    this.#disk = disk;
    this.#failed = failed;
    this.#settled = settled;
  }

  push(queued: Queued): void {
    if (this.#hasFailed) return;
    this.#queue.push(queued);
    this.#running ??= this.#run();
  }

  /** Each of these is made when the one before it is durable, so that what is pushed meanwhile comes between them. */
  pushEach(steps: Iterator<Step>, done: () => void) {
    const next = steps.next();
    if (next.done) return done();
    this.push({ step: next.value, isWrite: false, done: () => this.pushEach(steps, done) });
  }

  /** While it is, what is pushed waits. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    try {
      // What is pushed in this turn of the loop goes along.
      await undefined;
      while (this.#queue.length > 0) {
        await this.#do(this.#take());
        this.#settled();
      }
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#running = undefined;
    }
  }

  async #do(taken: readonly Queued[]): Promise<void> {
    const { operations, witness } = together(taken.map(({ step }) => step));
    const sealed = witness && sealWitness(witness, operations);
    const { writeBatch, writeWitness } = this.#disk;
    if (sealed?.hasBatch) {
      await both(writeBatch(operations), writeWitness(sealed.bytes));
    } else {
      if (operations.length > 0) await writeBatch(operations);
      if (sealed !== undefined) await writeWitness(sealed.bytes);
    }
    for (const { done } of taken) done();
  }

  #fail(cause: unknown): void {
    this.#queue = [];
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#failed(cause);
  }

  #take(): Queued[] {
    const end = this.#queue.findIndex(({ isWrite }) => !isWrite);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }
}

/** All operations, and the newest witness. Mostly there is one step, which needs no copy. */
function together(steps: readonly Step[]): Step {
  const [first] = steps;
  if (steps.length === 1 && first !== undefined) return first;
  const witness = steps.findLast((step) => step.witness !== undefined)?.witness;
  return { operations: steps.flatMap(({ operations }) => operations), witness };
}

/** Neither is on its way any more when this settles. Without a promise more than it takes: it is done for each write. */
function both(one: Promise<void>, other: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = 2;
    let failed: { readonly cause: unknown } | undefined;
    const settled = (): void => {
      if (--left > 0) return;
      if (failed === undefined) resolve();
      else reject(failed.cause);
    };
    const rejected = (cause: unknown): void => {
      failed ??= { cause };
      settled();
    };
    one.then(settled, rejected);
    other.then(settled, rejected);
  });
}
