import type { DiskImage } from '../../coordinator/raft/storage/open-log.ts';
import type { Operation } from '../../coordinator/raft/storage/operation.ts';
import { nextSlot } from '../../coordinator/raft/storage/witness.ts';

type Random = (bound: number) => number;

/** So that the copies of a few commands fit. */
export const slotBytes = 1_024;

/** How many batches a disk that lies about syncs may take back. */
const undoneMax = 6;

/**
 * What a node's disk holds for certain, as bytes: a database of keys and values whose batches are atomic, and two files. Writing takes
 * time, which the node simulates; what is on its way in a crash may arrive or not, and a write to a file may be torn at a byte.
 */
export class SimulatedDisk {
  identity: Uint8Array | undefined;
  /** Did something that no crash explains. Such a disk belongs to a minority. */
  wasDamaged = false;
  #records = new Map<string, Uint8Array>();
  #witness = new Uint8Array(2 * slotBytes);
  #slot: 0 | 1 = 0;
  /** What the newest batches replaced, the newest last. */
  #undo: Map<string, Uint8Array | undefined>[] = [];

  /** As the next process finds it. */
  image(): DiskImage {
    this.#slot = nextSlot(this.#witness);
    return { identity: this.identity, records: new Map(this.#records), witness: this.#witness.slice() };
  }

  batch(operations: readonly Operation[]): void {
    const before = new Map<string, Uint8Array | undefined>();
    for (const operation of operations) {
      if (!before.has(operation.key)) before.set(operation.key, this.#records.get(operation.key));
      this.#do(operation);
    }
    this.#undo.push(before);
    if (this.#undo.length > undoneMax) this.#undo.shift();
  }

  #do(operation: Operation): void {
    if (operation.type === 'put') this.#records.set(operation.key, operation.value.slice());
    else this.#records.delete(operation.key);
  }

  writeWitness(bytes: Uint8Array): void {
    this.#witness.set(bytes, this.#slot * slotBytes);
    this.#slot = this.#slot === 0 ? 1 : 0;
  }

  tearWitness(bytes: Uint8Array, random: Random): void {
    this.writeWitness(bytes.subarray(0, random(bytes.length)));
  }

  // Damage that no crash explains

  /** Takes back batches that it said were synced. */
  loseSynced(random: Random): void {
    this.loseBatches(1 + random(undoneMax));
  }

  loseBatches(count: number): void {
    this.wasDamaged = true;
    for (let left = count; left > 0; left--)
      for (const [key, value] of this.#undo.pop() ?? []) {
        if (value === undefined) this.#records.delete(key);
        else this.#records.set(key, value);
      }
  }

  /** Of a batch, the first operations are done and one is done up to a byte. */
  tearBatch(operations: readonly Operation[], random: Random): void {
    this.wasDamaged = true;
    const whole = random(operations.length);
    for (const operation of operations.slice(0, whole)) this.#do(operation);
    const torn = operations[whole];
    if (torn?.type === 'put') this.#records.set(torn.key, torn.value.slice(0, random(torn.value.length)));
  }

  flipBit(random: Random): void {
    const keys = [...this.#records.keys()].filter((key) => (this.#records.get(key)?.length ?? 0) > 0);
    const value = this.#records.get(keys[random(keys.length)] ?? '');
    if (value) this.#flip(value, random(value.length), random);
  }

  /** Anywhere, or in the first copy of the newest witness. */
  flipBitOfWitness(random: Random): void {
    if (random(2) === 0) this.#flip(this.#witness, random(2 * slotBytes), random);
    else this.flipBitOfNewestWitness(random);
  }

  flipBitOfNewestWitness(random: Random): void {
    const newest = nextSlot(this.#witness) === 0 ? slotBytes : 0;
    this.#flip(this.#witness, newest + random(96), random);
  }

  #flip(bytes: Uint8Array, at: number, random: Random): void {
    this.wasDamaged = true;
    bytes[at] = (bytes[at] as number) ^ (1 << random(8));
  }

  loseRecord(random: Random): void {
    this.wasDamaged = true;
    const keys = [...this.#records.keys()];
    this.#records.delete(keys[random(keys.length)] ?? '');
  }
}
