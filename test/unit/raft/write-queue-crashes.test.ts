import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../../chaos/sim/event-queue.ts';
import type { Entry, SnapshotMeta } from '../../../coordinator/raft/core/messages.ts';
import { WriteQueue } from '../../../coordinator/raft/driver/write-queue.ts';
import { decodeState, encodeIdentity, type Identity, keys } from '../../../coordinator/raft/storage/codec.ts';
import { firstStep, type LogStorage, type Step } from '../../../coordinator/raft/storage/log-storage.ts';
import { openLog } from '../../../coordinator/raft/storage/open-log.ts';
import { type Operation, withOperations } from '../../../coordinator/raft/storage/operation.ts';
import { nextSlot, sealWitness, slotBytes, witnessBytes } from '../../../coordinator/raft/storage/witness.ts';
import { compacted, staged } from './snapshot-steps.ts';

const identity: Identity = { clusterId: 'cluster', nodeId: 1, incarnation: 1, voters: [1, 2, 3] };
const configuration = { voters: [1, 2, 3], outgoing: [], learners: [], learnersNext: [] };
const chunkBytes = 16;
/** Of what a disk writes as a whole, or not. */
const sectorBytes = 512;
/** Copies beside each other, one witness beside its batch, a batch too long for that. */
const sizes = [1, 20, 200, 3_000, 20_000, 70_000];

type Random = (bound: number) => number;

interface Pending {
  readonly kind: 'batch' | 'witness';
  /** In a power cut: all of it, nothing, or of a file any of its sectors. */
  readonly arrive: (how: 'whole' | 'torn') => void;
  readonly end: (cause?: Error) => void;
}

/** What is durable, and what is on its way. */
class Disk {
  records: ReadonlyMap<string, Uint8Array> = new Map();
  batches: ReadonlyMap<string, Uint8Array>[] = [];
  witness = new Uint8Array(witnessBytes);
  pending: Pending[] = [];
  /** Was given two batches at a time, or two of the witness. */
  isOverrun = false;
  readonly #random: Random;
  #slot = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  image() {
    this.#slot = nextSlot(this.witness);
    return { identity: encodeIdentity(identity), records: this.records, witness: this.witness.slice() };
  }

  writeBatch(operations: readonly Operation[]): Promise<void> {
    const copied = operations.map((operation) => ({ ...operation }));
    return this.#begin('batch', () => this.batch(copied));
  }

  batch(operations: readonly Operation[]): void {
    this.batches.push(this.records);
    this.records = withOperations(this.records, operations);
  }

  writeWitness(bytes: Uint8Array): Promise<void> {
    const at = this.#slot * slotBytes;
    this.#slot = 1 - this.#slot;
    return this.#begin('witness', (how) => {
      for (let from = 0; from < bytes.length; from += sectorBytes)
        if (how === 'whole' || this.#random(2) === 0) this.witness.set(bytes.subarray(from, from + sectorBytes), at + from);
    });
  }

  #begin(kind: Pending['kind'], arrive: Pending['arrive']): Promise<void> {
    this.isOverrun ||= this.pending.some((other) => other.kind === kind);
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        kind,
        arrive,
        end: (cause) => {
          this.pending = this.pending.filter((other) => other !== pending);
          if (cause === undefined || this.#random(2) === 0) arrive('whole');
          else if (kind === 'witness') arrive('torn');
          if (cause) reject(cause);
          else resolve();
        },
      };
      this.pending.push(pending);
    });
  }

  perform({ operations, witness }: Step): void {
    this.batch(operations);
    if (witness) void this.writeWitness(sealWitness(witness, []).bytes);
    this.pending[0]?.end();
  }

  cutPower(): void {
    for (const { kind, arrive } of this.pending) {
      const how = (['whole', 'torn', 'none'] as const)[this.#random(3)];
      if (how === 'whole' || (how === 'torn' && kind === 'witness')) arrive(how);
    }
    this.pending = [];
  }

  /** Takes back batches that it said were synced. */
  loseBatches(count: number): void {
    for (let left = count; left > 0; left--) this.records = this.batches.pop() ?? this.records;
  }

  flipBitOfWitness(): void {
    const at = this.#random(2) * slotBytes + this.#random(this.#random(2) === 0 ? 400 : 16_384);
    this.witness[at] = (this.witness[at] as number) ^ (1 << this.#random(8));
  }
}

/** The log and the vote after a write. */
interface Written {
  readonly base: number;
  readonly entries: readonly Entry[];
  readonly term: number;
  readonly vote: number;
}

/** A node that writes what comes to its mind. */
class Node {
  readonly disk: Disk;
  readonly #random: Random;
  /** What was written since the start, the first being what was found. */
  #written: Written[] = [{ base: 0, entries: [], term: 0, vote: 0 }];
  #acknowledged = 0;
  #committed = 0;
  #storage: LogStorage | undefined;
  #queue: WriteQueue | undefined;
  #isCompacting = false;
  failures = 0;

  constructor(random: Random) {
    this.#random = random;
    this.disk = new Disk(random);
    this.disk.perform(firstStep(identity, new Uint8Array(0), chunkBytes));
  }

  get #last(): Written {
    return this.#written.at(-1) as Written;
  }

  /** What it finds is what was acknowledged, or was written after that, unless it says otherwise. */
  start(): 'whole' | 'recovering' | 'refused' | 'absent' {
    for (;;) {
      const opened = openLog(this.disk.image(), identity, chunkBytes);
      if (opened.kind !== 'opened') return opened.kind;
      const { recovered, storage, repair } = opened;
      if (recovered.recovering !== undefined) return 'recovering';
      const { term, vote } = recovered.hardState;
      const { index } = recovered.snapshot;
      const found = this.#written.slice(this.#acknowledged).find((written) => {
        const through = written.base + written.entries.length;
        const isVote = written.term === term && written.vote === vote;
        if (!isVote || index < written.base || through !== index + recovered.entries.length) return false;
        const entryAt = (at: number): Entry | undefined => written.entries[at - written.base - 1];
        return recovered.entries.every((entry) => Buffer.compare(entry.data, entryAt(entry.index)?.data ?? new Uint8Array(0)) === 0);
      });
      expect(found, `${JSON.stringify({ ...recovered, entries: recovered.entries.length })} is nothing that was written`).toBeDefined();
      this.#written = [found as Written];
      this.#acknowledged = 0;
      const [whole, isTorn] = [this.#random(3) === 0 ? this.#random(repair.length + 1) : repair.length, this.#random(2) === 0];
      for (const step of repair.slice(0, whole)) this.disk.perform(step);
      const broken = repair[whole];
      if (broken === undefined) {
        this.#begin(storage);
        return 'whole';
      }
      if (isTorn) this.disk.batch(broken.operations);
      if (isTorn && broken.witness) void this.disk.writeWitness(sealWitness(broken.witness, []).bytes);
      this.disk.cutPower();
    }
  }

  #begin(storage: LogStorage): void {
    this.#storage = storage;
    this.#isCompacting = false;
    this.#committed = Math.max(this.#committed, storage.manifest.index);
    this.failures = 0;
    this.#queue = new WriteQueue({
      disk: { writeBatch: (operations) => this.disk.writeBatch(operations), writeWitness: (bytes) => this.disk.writeWitness(bytes) },
      failed: () => this.failures++,
      settled: () => undefined,
      durable: () => undefined,
    });
  }

  write(): void {
    const { base, entries, term, vote } = this.#last;
    const isNewTerm = this.#random(6) === 0;
    const next = { term: isNewTerm ? term + 1 : Math.max(1, term), vote: isNewTerm ? 1 + this.#random(3) : vote };
    const first = Math.max(base, this.#committed) + 1;
    const end = base + entries.length + 1;
    const from = isNewTerm && end > first ? first + this.#random(end - first + 1) : end;
    const size = sizes[this.#random(this.#random(4) === 0 ? sizes.length : 4)] as number;
    const added = Array.from({ length: this.#random(4) }, (_, at): Entry => {
      const data = new Uint8Array(size).map((_byte, place) => (place < 32 ? this.#random(256) : 7));
      return { index: from + at, term: next.term, kind: 'command', data };
    });
    this.#push({ base, entries: [...entries.slice(0, from - base - 1), ...added], ...next }, { from, added });
    if (this.#random(4) === 0) this.#committed = Math.max(this.#committed, from - 1);
  }

  #push(written: Written, { from, added, snapshot }: { from: number; added: readonly Entry[]; snapshot?: SnapshotMeta }): void {
    const number = this.#written.push(written) - 1;
    const list = this.#written;
    const hardState = { term: written.term, vote: written.vote, commit: 0 };
    const step = this.#storage?.write({ seq: 0, hardState, from, entries: added, snapshot, recovering: undefined });
    this.#queue?.push({
      step: step as Step,
      isWrite: true,
      done: () => {
        if (this.#written !== list || this.failures > 0) throw new Error('acknowledged by a process that is gone');
        this.#acknowledged = number;
      },
    });
  }

  compact(): void {
    const { base, entries } = this.#last;
    const storage = this.#storage as LogStorage;
    const term = entries[this.#committed - base - 1]?.term;
    if (this.#isCompacting || term === undefined || this.#committed <= storage.manifest.index) return;
    this.#isCompacting = true;
    const meta = { index: this.#committed, term, configuration };
    this.#queue?.pushEach(compacted(storage, meta, new Uint8Array(1 + this.#random(100)), this.#random(3)), () => {
      this.#isCompacting = false;
    });
  }

  install(): void {
    const { base, entries, term, vote } = this.#last;
    if (this.#isCompacting) return;
    this.#isCompacting = true;
    const meta = { index: base + entries.length + 1 + this.#random(3), term, configuration };
    this.#queue?.pushEach(staged(this.#storage as LogStorage, meta, this.#random(1_000), new Uint8Array(60)), () => {
      this.#isCompacting = false;
      const now = this.#last;
      if (now.base + now.entries.length >= meta.index || now.term !== term) return;
      this.#committed = meta.index;
      this.#push({ base: meta.index, entries: [], term, vote }, { from: meta.index + 1, added: [], snapshot: meta });
    });
  }

  crash(): void {
    this.disk.cutPower();
    this.#queue = undefined;
  }

  /** What the database has without the witness. */
  async drain(): Promise<void> {
    let isDrained = false;
    const drained = (this.#queue as WriteQueue).drained().then(() => {
      isDrained = true;
    });
    for (let left = 1_000; left > 0 && !isDrained; left--) {
      await turn();
      this.disk.pending[this.#random(2)]?.end();
    }
    await drained;
    expect(this.disk.pending).toEqual([]);
    // That of a batch is known when the witness beside it is not on its way any more.
    if (this.failures > 0) return;
    expect(this.#acknowledged).toBe(this.#written.length - 1);
    const { last } = decodeState(this.disk.records.get(keys.hardState) as Uint8Array);
    expect(last.index).toBe(this.#last.base + this.#last.entries.length);
  }
}

/** What waits for the next turn of the loop has begun, and what waits for that. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Until the power is cut, or a write fails. */
async function live(node: Node, random: Random): Promise<void> {
  const steps = random(2) === 0 ? 1 + random(8) : 1 + random(40);
  for (let step = 0; step < steps && node.failures === 0; step++) {
    const choice = random(64);
    const { pending } = node.disk;
    if (choice < 24) for (let left = random(4); left > 0; left--) node.write();
    else if (choice < 28) node.compact();
    else if (choice === 28) node.install();
    else if (choice === 29) pending[random(pending.length)]?.end(new Error('EIO'));
    else if (choice < 34) vi.advanceTimersByTime(1 + random(5));
    else pending[random(pending.length)]?.end();
    if (random(3) > 0) await turn();
  }
  await turn();
  if (random(6) === 0 && node.failures === 0) await node.drain();
  expect([node.disk.isOverrun, node.failures > 1]).toEqual([false, false]);
  node.crash();
  vi.clearAllTimers();
}

/** Lives of one disk, with what happens to it in between; how they begin. */
async function lives(seed: number, damage: (disk: Disk, random: Random) => void): Promise<ReadonlySet<string>> {
  const random = seededRandom(seed);
  const node = new Node(random);
  const starts = new Set<string>();
  for (let life = 0; life < 8; life++) {
    const found = node.start();
    starts.add(found);
    if (found !== 'whole') break;
    await live(node, random);
    damage(node.disk, random);
  }
  return starts;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const seeds = Array.from({ length: 40 }, (_, at) => 1 + at);

describe('the queue of writes over a disk whose power is cut', () => {
  it('has everything that it acknowledged, whichever sectors of the witness arrive', async () => {
    for (const seed of seeds) expect([...(await lives(seed, () => undefined))], `seed ${seed}`).toEqual(['whole']);
  });

  it('has everything, or does not start, when a bit of the witness flips, too', async () => {
    for (const seed of seeds) {
      const starts = await lives(seed, (disk, random) => random(2) === 0 && disk.flipBitOfWitness());
      expect(starts, `seed ${seed}`).not.toContain('recovering');
    }
  });

  it('has everything, or knows that it has not, when the database loses batches', async () => {
    for (const seed of seeds) {
      const starts = await lives(seed, (disk, random) => random(3) === 0 && disk.loseBatches(1 + random(4)));
      expect(starts, `seed ${seed}`).not.toContain('absent');
    }
  });
});
