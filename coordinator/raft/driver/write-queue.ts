import type { Operation, Step } from '../storage/log-storage.ts';

interface Queued {
  readonly step: Step;
  /** Several of these may become one batch; others are durable before the next begins. */
  readonly isWrite: boolean;
  readonly done: () => void;
}

export interface WrittenTo {
  readonly writeBatch: (operations: readonly Operation[]) => Promise<void>;
  readonly writeWitness: (witness: NonNullable<Step['witness']>) => Promise<void>;
}

/**
 * Does steps one after another. What comes while a batch is written goes together into the next, so that one sync serves many. The
 * witness of one is written while the next batch is: each follows its own batch, and the witness before it.
 */
export class WriteQueue {
  readonly #disk: WrittenTo;
  readonly #failed: (cause: unknown) => void;
  readonly #settled: () => void;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #witnessing: Promise<void> | undefined;
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

  /** While it is, what is pushed waits. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when nothing waits. */
  async drained(): Promise<void> {
    while (this.#running ?? this.#witnessing) await (this.#running ?? this.#witnessing);
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
      if (!this.#hasFailed) this.#settled();
    }
  }

  async #do(taken: readonly Queued[]): Promise<void> {
    // Of a step that others must not overtake, all is durable before and after it.
    if (taken.some(({ isWrite }) => !isWrite)) await this.#witnessing;
    const operations = taken.flatMap(({ step }) => step.operations);
    if (operations.length > 0) await this.#disk.writeBatch(operations);
    await this.#witnessing;
    if (this.#hasFailed) return;
    const witness = taken.findLast(({ step }) => step.witness !== undefined)?.step.witness;
    if (witness === undefined) return finish(taken);
    this.#witnessing = this.#witness(witness, taken);
  }

  async #witness(witness: NonNullable<Step['witness']>, taken: readonly Queued[]): Promise<void> {
    try {
      await this.#disk.writeWitness(witness);
      this.#witnessing = undefined;
      finish(taken);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #fail(cause: unknown): void {
    this.#witnessing = undefined;
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

function finish(taken: readonly Queued[]): void {
  for (const { done } of taken) done();
}
