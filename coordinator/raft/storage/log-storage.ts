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
  #staged: { readonly snapshot: number; readonly manifest: Manifest } | undefined;
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

  #pointTo(staged: { readonly snapshot: number; readonly manifest: Manifest }): Operation[] {
    const removed = this.#chunksRemoved(this.#snapshot, this.#manifest);
    this.#snapshot = staged.snapshot;
    this.#manifest = staged.manifest;
    return [{ type: 'put', key: keys.pointer, value: encodePointer(staged.snapshot) }, ...removed];
  }

  #chunksRemoved(snapshot: number, { chunkCount }: Manifest): Operation[] {
    const chunks = Array.from({ length: chunkCount }, (_, at): Operation => ({ type: 'delete', key: keys.chunk(snapshot, at) }));
    return [...chunks, { type: 'delete', key: keys.manifest(snapshot) }];
  }

  /** True when the snapshot of a leader is there to be installed. */
  hasStaged({ index, term }: LogPoint): boolean {
    return this.#staged?.manifest.index === index && this.#staged.manifest.term === term;
  }

  /** Puts the bytes of a leader's snapshot aside; nothing points to them yet. Replaces what was put aside before. */
  stage(meta: SnapshotMeta, chain: Chain, bytes: Uint8Array): Step {
    const dropped = this.#staged === undefined ? [] : this.#chunksRemoved(this.#staged.snapshot, this.#staged.manifest);
    const { operations, ...staged } = this.#layOut(meta, chain, bytes);
    this.#staged = staged;
    return { operations: [...dropped, ...operations], witness: undefined };
  }

  #layOut(meta: SnapshotMeta, chain: Chain, bytes: Uint8Array) {
    const snapshot = this.#snapshotNext++;
    return { snapshot, ...snapshotOperations({ snapshot, meta, chain, bytes, chunkBytes: this.#chunkBytes }) };
  }

  /**
   * A snapshot of this node's own: its bytes, then the pointer, and only then the entries go that it stands for, but for `keep` of them.
   * Each step is durable before the next, since otherwise a crash would leave neither entries nor snapshot.
   */
  compact(meta: SnapshotMeta, bytes: Uint8Array, keep: number): Step[] {
    invariant(meta.index > this.#manifest.index, `the snapshot of ${meta.index} is older than the one there is`);
    const { operations, ...laidOut } = this.#layOut(meta, this.chainAt(meta.index), bytes);
    const pointer = this.#pointTo(laidOut);
    return [operations, pointer, this.#dropThrough(meta.index - keep)].map((done) => ({ operations: done, witness: undefined }));
  }

  #dropThrough(index: Index): Operation[] {
    const dropped = this.#points.filter((point) => point.index <= index);
    this.#points = this.#points.slice(dropped.length);
    return dropped.map((point) => ({ type: 'delete', key: keys.entry(point.index) }));
  }
}

interface SnapshotContent {
  readonly snapshot: number;
  readonly meta: SnapshotMeta;
  readonly chain: Chain;
  readonly bytes: Uint8Array;
  readonly chunkBytes: number;
}

function snapshotOperations({ snapshot, meta, chain, bytes, chunkBytes }: SnapshotContent) {
  const chunkCount = Math.ceil(bytes.length / chunkBytes);
  const { index, term, configuration } = meta;
  const manifest: Manifest = { index, term, configuration, chain, size: bytes.length, chunkCount, checksum: crc32c(bytes) };
  const operations = Array.from({ length: chunkCount }, (_, at): Operation => {
    const value = encodeChunk(snapshot, at, bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes));
    return { type: 'put', key: keys.chunk(snapshot, at), value };
  });
  operations.push({ type: 'put', key: keys.manifest(snapshot), value: encodeManifest(manifest) });
  return { operations, manifest };
}

/** What a new node writes before anything else; its identity file comes after, since data without one is not opened. */
export function firstStep(identity: Identity, state: Uint8Array, chunkBytes: number = chunkBytesDefault): Step {
  const configuration = { voters: [...identity.voters].sort((a, b) => a - b), outgoing: [], learners: [], learnersNext: [] };
  const meta = { index: 0, term: 0, configuration };
  const { operations } = snapshotOperations({ snapshot: 0, meta, chain: 0, bytes: state, chunkBytes });
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
