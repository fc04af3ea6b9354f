import type { Operation } from './operation.ts';
import { sealTwice, type Witness } from './witness.ts';

/**
 * What the newest witness has and the database has not. A sync of the witness, a file that is written over and over, takes less than one of
 * the database, whose log grows: so a short batch is acknowledged when the witness has it, and the database gets several with one sync.
 * Each witness has everything that the database lacks, so that the newest one makes up for all of it.
 */
export class WriteAhead {
  readonly #bytesMax: number;
  #operations: readonly Operation[] = [];

  /** `bytesMax`: of a witness with its copy. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** In the order in which they are to be done. */
  get operations(): readonly Operation[] {
    return this.#operations;
  }

  /** A witness with these operations, which it takes on; undefined when that is too much, so that the database must have them first. */
  seal(witness: Witness, operations: readonly Operation[]): Uint8Array | undefined {
    const all = this.#operations.length === 0 ? operations : [...this.#operations, ...operations];
    const sealed = sealTwice(witness, all, this.#bytesMax);
    if (sealed !== undefined) this.#operations = all;
    return sealed;
  }

  /** The database has the first of them. */
  saved(count: number): void {
    this.#operations = this.#operations.slice(count);
  }
}
