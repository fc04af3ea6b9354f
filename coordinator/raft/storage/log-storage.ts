import { crc32c } from '../../../shared/checksum/crc32c.ts';
import { invariant } from '../../../shared/errors/error.ts';
import type { HardState, Index, LogPoint, SnapshotMeta, Write } from '../core/messages.ts';
import {
  type Chain,
  type ChainedPoint,
  encodeChunk,
  encodeEntry,
  encodeIdentity,
  encodeManifest,
  encodePointer,
  encodeState,
  type Identity,
  keys,
  type Manifest,
} from './codec.ts';
import type { Operation } from './operation.ts';
import type { Witness } from './witness.ts';

/**
 * `operations` as one atomic batch that is synced, and `witness` in the slot of the older one, synced too: at the same time when it has
 * the whole batch in it, else behind the batch (`SealedWitness`). Steps are done one after another.
 */
export interface Step {
  readonly operations: readonly Operation[];
  readonly witness: Witness | undefined;
}

/** What `LogStorage` continues from. */
export interface StoredLog {
  readonly seq: number;
  readonly hardState: HardState;
  readonly recovering: LogPoint | undefined;
  readonly snapshot: number;
  readonly manifest: Manifest;
  /** Of the entries behind the snapshot. */
  readonly points: readonly ChainedPoint[];
}

export const chunkBytesDefault = 262_144;
/** Of one step: to sum up and copy more at a time would hold up everything else on the thread. */
const chunksPerStep = 2;

/**
 * Says what is to be written for a `Write` of the core, a snapshot or a compaction; the driver does it. Knows what the database will
 * have when all steps so far are done. No I/O.
 */
export class LogStorage {
  #seq: number;
  #hardState: HardState;
  #snapshot: number;
  #manifest: Manifest;
  /** A snapshot whose chunks are there, to be pointed to by a later step. */
  #staged: StoredSnapshot | undefined;
  #snapshotNext: number;
  /** From `#first` on without gaps; reaches back behind the snapshot while its entries are kept. */
  #points: ChainedPoint[];
  readonly #chunkBytes: number;

  constructor({ seq, hardState, snapshot, manifest, points }: StoredLog, chunkBytes: number) {
    this.#seq = seq;
    this.#hardState = hardState;
    this.#snapshot = snapshot;
    this.#snapshotNext = snapshot + 1;
    this.#manifest = manifest;
    this.#points = [...points];
    this.#chunkBytes = chunkBytes;
  }

  get last(): ChainedPoint {
    return this.#points.at(-1) ?? this.#manifest;
  }

  get manifest(): Manifest {
    return this.#manifest;
  }

  chainAt(index: Index): Chain {
    if (index === this.#manifest.index) return this.#manifest.chain;
    const point = this.#points[index - (this.#points[0]?.index ?? 0)];
    invariant(point?.index === index, () => `the chain at ${index} is not known`);
    return point.chain;
  }

  write({ hardState, from, entries, snapshot, recovering }: Write): Step {
    const operations: Operation[] = snapshot === undefined ? this.#truncate(from) : this.#install(snapshot);
    let chain = this.last.chain;
    for (const entry of entries) {
      invariant(entry.index === this.last.index + 1, () => `entry ${entry.index} is written behind ${this.last.index}`);
      const encoded = encodeEntry(entry, chain);
      chain = encoded.chain;
      this.#points.push({ index: entry.index, term: entry.term, chain });
      operations.push({ type: 'put', key: keys.entry(entry.index), value: encoded.bytes });
    }
    this.#hardState = hardState;
    return this.#promise(operations, recovering);
  }

  /** The hard state goes last. */
  #promise(operations: Operation[], recovering: LogPoint | undefined): Step {
    this.#seq++;
    const { index, term, chain } = this.last;
    const last = { index, term, chain };
    const value = encodeState({ seq: this.#seq, hardState: this.#hardState, last });
    const vote = { term: this.#hardState.term, vote: this.#hardState.vote };
    return {
      operations: [...operations, { type: 'put', key: keys.hardState, value }],
      witness: { seq: this.#seq, vote, last, recovering },
    };
  }

  #truncate(from: Index): Operation[] {
    invariant(from > this.#manifest.index, `entry ${from} would be removed, which is behind the snapshot`);
    const removed: Operation[] = [];
    while (this.last.index >= from) removed.push({ type: 'delete', key: keys.entry((this.#points.pop() as ChainedPoint).index) });
    return removed;
  }

  #install({ index, term }: SnapshotMeta): Operation[] {
    const staged = this.#staged;
    invariant(staged !== undefined && this.hasStaged({ index, term }), `the snapshot of ${index} has not arrived`);
    const removed = this.#points.map((point): Operation => ({ type: 'delete', key: keys.entry(point.index) }));
    this.#points = [];
    this.#staged = undefined;
    return [...removed, ...this.#pointTo(staged)];
  }

  #pointTo({ snapshot, manifest }: StoredSnapshot): Operation[] {
    const removed = chunksRemoved(this.#snapshot, this.#manifest.chunkCount);
    this.#snapshot = snapshot;
    this.#manifest = manifest;
    return [{ type: 'put', key: keys.pointer, value: encodePointer(snapshot) }, ...removed];
  }

  /** True when the snapshot of a leader is there to be installed. */
  hasStaged({ index, term }: LogPoint): boolean {
    return this.#staged?.manifest.index === index && this.#staged.manifest.term === term;
  }

  /** A snapshot beside the current one, of this node's own or, with its `chain`, of a leader. Nothing points to it yet. */
  layOut(meta: SnapshotMeta, bytes: Uint8Array, chain: Chain = this.chainAt(meta.index)): SnapshotLayout {
    return new SnapshotLayout(this.#snapshotNext++, meta, chain, bytes, this.#chunkBytes);
  }

  /** That of a leader is durable: it waits to be installed, in the place of what was put aside before. */
  stage(layout: SnapshotLayout): Step {
    const before = this.#staged;
    this.#staged = layout.stored;
    return { operations: before === undefined ? [] : chunksRemoved(before.snapshot, before.manifest.chunkCount), witness: undefined };
  }

  /**
   * One of this node's own is durable: the pointer, and only then the entries go that it stands for, but for `keep` of them. Each step is
   * durable before the next, since otherwise a crash would leave neither entries nor snapshot.
   */
  compact(layout: SnapshotLayout, keep: number): { readonly pointer: Step; readonly drop: Step } {
    const { stored } = layout;
    const { index } = stored.manifest;
    invariant(index > this.#manifest.index, `the snapshot of ${index} is older than the one there is`);
    const pointer = { operations: this.#pointTo(stored), witness: undefined };
    return { pointer, drop: { operations: this.#dropThrough(index - keep), witness: undefined } };
  }

  #dropThrough(index: Index): Operation[] {
    const dropped = this.#points.filter((point) => point.index <= index);
    this.#points = this.#points.slice(dropped.length);
    return dropped.map((point) => ({ type: 'delete', key: keys.entry(point.index) }));
  }
}

interface StoredSnapshot {
  readonly snapshot: number;
  readonly manifest: Manifest;
}

function chunksRemoved(snapshot: number, chunkCount: number): Operation[] {
  const chunks = Array.from({ length: chunkCount }, (_, at): Operation => ({ type: 'delete', key: keys.chunk(snapshot, at) }));
  return [...chunks, { type: 'delete', key: keys.manifest(snapshot) }];
}

/**
 * The bytes of a snapshot on their way to the disk, a few chunks a step, the manifest with the last. Each step is made when the one before it
 * is durable, and other writes come between them. What a crash leaves of it has no pointer, and is removed at the next start.
 */
export class SnapshotLayout {
  readonly #snapshot: number;
  readonly #meta: SnapshotMeta;
  readonly #chain: Chain;
  readonly #bytes: Uint8Array;
  readonly #chunkBytes: number;
  /** Chunks that were given. */
  #count = 0;
  /** Of their bytes. */
  #checksum = 0;
  #manifest: Manifest | undefined;

  constructor(snapshot: number, meta: SnapshotMeta, chain: Chain, bytes: Uint8Array, chunkBytes: number) {
    this.#snapshot = snapshot;
    this.#meta = meta;
    this.#chain = chain;
    this.#bytes = bytes;
    this.#chunkBytes = chunkBytes;
  }

  *steps(): Generator<Step> {
    const chunkCount = Math.ceil(this.#bytes.length / this.#chunkBytes);
    while (this.#manifest === undefined) {
      const operations: Operation[] = [];
      for (const end = Math.min(chunkCount, this.#count + chunksPerStep); this.#count < end; this.#count++) operations.push(this.#chunk());
      if (this.#count === chunkCount) operations.push(this.#end(chunkCount));
      yield { operations, witness: undefined };
    }
  }

  #chunk(): Operation {
    const from = this.#count * this.#chunkBytes;
    const bytes = this.#bytes.subarray(from, from + this.#chunkBytes);
    this.#checksum = crc32c(bytes, this.#checksum);
    return { type: 'put', key: keys.chunk(this.#snapshot, this.#count), value: encodeChunk(this.#snapshot, this.#count, bytes) };
  }

  #end(chunkCount: number): Operation {
    const { index, term, configuration } = this.#meta;
    this.#manifest = { index, term, configuration, chain: this.#chain, size: this.#bytes.length, chunkCount, checksum: this.#checksum };
    return { type: 'put', key: keys.manifest(this.#snapshot), value: encodeManifest(this.#manifest) };
  }

  /** When all of it is written. */
  get stored(): StoredSnapshot {
    invariant(this.#manifest !== undefined, () => `the snapshot of ${this.#meta.index} is not written yet`);
    return { snapshot: this.#snapshot, manifest: this.#manifest };
  }

  /** Removes what was written of it, which is of no use any more. */
  discard(): Step {
    return { operations: chunksRemoved(this.#snapshot, this.#count), witness: undefined };
  }
}

/** What a new node writes before anything else; its identity file comes after, since data without one is not opened. */
export function firstStep(identity: Identity, state: Uint8Array, chunkBytes: number = chunkBytesDefault): Step {
  const configuration = { voters: [...identity.voters].sort((a, b) => a - b), outgoing: [], learners: [], learnersNext: [] };
  const meta = { index: 0, term: 0, configuration };
  const layout = new SnapshotLayout(0, meta, 0, state, chunkBytes);
  const operations = [...layout.steps()].flatMap((step) => step.operations);
  const last = { index: 0, term: 0, chain: 0 };
  const hardState = { term: 0, vote: 0, commit: 0 };
  return {
    operations: [
      { type: 'put', key: keys.identity, value: encodeIdentity(identity) },
      ...operations,
      { type: 'put', key: keys.pointer, value: encodePointer(0) },
      { type: 'put', key: keys.hardState, value: encodeState({ seq: 1, hardState, last }) },
    ],
    witness: { seq: 1, vote: hardState, last, recovering: undefined },
  };
}
