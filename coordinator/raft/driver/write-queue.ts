import type { Step } from '../storage/log-storage.ts';
import type { Operation } from '../storage/operation.ts';
import { sealWitness } from '../storage/witness.ts';
import { WriteAhead } from '../storage/write-ahead.ts';

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

export interface WriteQueueOptions {
  readonly disk: WrittenTo;
  /** Told of the first write that fails; nothing is done after it. */
  readonly failed: (cause: unknown) => void;
  /** A next batch may begin. */
  readonly settled: () => void;
  /** It took so long until what was taken together was durable. */
  readonly durable: (ms: number) => void;
}

/** Of a witness that is acknowledged before the database has its batch, with its copy: for each write it is made anew. */
const aheadBytesMax = 16_384;
/** After so long at most the database gets what the witness has. */
const saveMs = 5;

/**
 * Does steps one after another. What comes while a batch is written goes together into the next, so that one sync serves many.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #ahead = new WriteAhead(aheadBytesMax);
  #saving: Promise<void> | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
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

  /** Resolves when nothing waits, and the database has all of it. */
  async drained(): Promise<void> {
    while (this.#running !== undefined || (this.#ahead.operations.length > 0 && !this.#hasFailed)) await (this.#running ?? this.#save());
    await this.#saving;
  }

  async #run(): Promise<void> {
    try {
      // What is pushed in this turn of the loop goes along.
      await undefined;
      while (this.#queue.length > 0) {
        await this.#do(this.#take());
        if (!this.#hasFailed) this.#options.settled();
      }
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#running = undefined;
    }
  }

  async #do(taken: readonly Queued[]): Promise<void> {
    const since = performance.now();
    const { operations, witness } = together(taken.map(({ step }) => step));
    const ahead = witness && this.#ahead.seal(witness, operations);
    if (ahead === undefined) await this.#writeAll({ operations, witness });
    else await this.#options.disk.writeWitness(ahead);
    // A write to the database that was on its way meanwhile may have failed.
    if (this.#hasFailed) return;
    this.#saveSoon();
    // Steps that write nothing wait for nothing.
    if (witness !== undefined || operations.length > 0) this.#options.durable(performance.now() - since);
    for (const { done } of taken) done();
  }

  /** With what only the witness has. Written again behind what follows it, that would undo it. */
  async #writeAll({ operations, witness }: Step): Promise<void> {
    await this.#saving;
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    if (this.#hasFailed) return;
    await this.#write({ operations: [...this.#ahead.operations, ...operations], witness });
    this.#ahead.saved(this.#ahead.operations.length);
  }

  async #write({ operations, witness }: Step): Promise<void> {
    const { writeBatch, writeWitness } = this.#options.disk;
    const sealed = witness && sealWitness(witness, operations);
    if (sealed?.hasBatch) return both(writeBatch(operations), writeWitness(sealed.bytes));
    if (operations.length > 0) await writeBatch(operations);
    if (sealed !== undefined) await writeWitness(sealed.bytes);
  }

  #saveSoon(): void {
    if (this.#hasFailed || this.#saving !== undefined || this.#ahead.operations.length === 0) return;
    this.#saveTimer ??= setTimeout(() => void this.#save(), saveMs);
  }

  /** Gives the database what only the witness has. Meanwhile the next witness may be written. */
  #save(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
      this.#saveSoon();
    });
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    const { operations } = this.#ahead;
    if (operations.length === 0 || this.#hasFailed) return;
    try {
      await this.#options.disk.writeBatch(operations);
      this.#ahead.saved(operations.length);
    } catch (cause) {
      this.#fail(cause);
    }
  }

  #fail(cause: unknown): void {
    this.#queue = [];
    clearTimeout(this.#saveTimer);
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.failed(cause);
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
