import { crc32c } from '../../../shared/checksum/crc32c.ts';
import type { Configuration, Entry, HardState, Index, LogPoint, SnapshotMeta } from '../core/messages.ts';
import { DamagedRecord, RecordReader, RecordWriter, requireWhole } from './record.ts';
import { allocate } from './slab.ts';

/** Of everything below; data of another one is refused. */
export const storageFormat = 2;

/**
 * CRC-32C over all entries of a log from the first on, each with its index: two logs with the same chain at an index have the same
 * entries up to there, and an entry that is missing, repeated or of another log is seen like a damaged one.
 */
export type Chain = number;

/** A point with what its log has said up to there. */
export interface ChainedPoint extends LogPoint {
  readonly chain: Chain;
}

/** Keys sort as `h` < `l..` < `m` < `P` by their use only; within a kind by number. */
export const keys = {
  hardState: 'h',
  identity: 'm',
  pointer: 'P',
  entry: (index: Index): string => `l${numberText(index)}`,
  manifest: (snapshot: number): string => `S${numberText(snapshot)}`,
  chunk: (snapshot: number, chunk: number): string => `s${numberText(snapshot)}${numberText(chunk)}`,
} as const;

/** So that texts sort like numbers; 2^53 has 14 hexadecimal digits. */
function numberText(value: number): string {
  return value.toString(16).padStart(14, '0');
}

const kinds: readonly Entry['kind'][] = ['noop', 'command', 'configuration'];

const indexBytes = new Uint8Array(8);

function chainStart(index: Index, before: Chain): Chain {
  putU64(indexBytes, 0, index);
  return crc32c(indexBytes, before);
}

/** As `RecordWriter` writes them; entries are too many for one. */
function putU64(bytes: Uint8Array, at: number, value: number): void {
  requireWhole(value);
  putU32(bytes, at, Math.floor(value / 2 ** 32));
  putU32(bytes, at + 4, value % 2 ** 32);
}

function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function encodeEntry({ index, term, kind, data }: Entry, before: Chain): { readonly bytes: Uint8Array; readonly chain: Chain } {
  const end = 9 + data.length;
  const bytes = allocate(end + 4);
  bytes[0] = kinds.indexOf(kind);
  putU64(bytes, 1, term);
  bytes.set(data, 9);
  const chain = crc32c(bytes.subarray(0, end), chainStart(index, before));
  putU32(bytes, end, chain);
  return { bytes, chain };
}

export function decodeEntry(bytes: Uint8Array, index: Index, before: Chain): { readonly entry: Entry; readonly chain: Chain } {
  const reader = new RecordReader(bytes, chainStart(index, before));
  const kind = kinds[reader.u8()];
  if (kind === undefined) throw new DamagedRecord('it is an entry of an unknown kind');
  return { entry: { index, kind, term: reader.u64(), data: reader.rest() }, chain: chainOf(bytes) };
}

function chainOf(sealed: Uint8Array): Chain {
  return new DataView(sealed.buffer, sealed.byteOffset).getUint32(sealed.length - 4);
}

/** The hard state with where the log ends that was written with it, and the number of the write. */
export interface WrittenState {
  readonly seq: number;
  readonly hardState: HardState;
  readonly last: ChainedPoint;
}

export function encodeState({ seq, hardState: { term, vote, commit }, last }: WrittenState): Uint8Array {
  const writer = new RecordWriter().u64(seq).u64(term).u64(vote).u64(commit);
  return writer.u64(last.index).u64(last.term).u32(last.chain).sealed();
}

export function decodeState(bytes: Uint8Array): WrittenState {
  const reader = new RecordReader(bytes);
  const seq = reader.u64();
  const hardState = { term: reader.u64(), vote: reader.u64(), commit: reader.u64() };
  return { seq, hardState, last: { index: reader.u64(), term: reader.u64(), chain: reader.u32() } };
}

/** Who the data belongs to: in a file beside the database, which is written once, and again in the database. */
export interface Identity {
  readonly clusterId: string;
  readonly nodeId: number;
  /** Of the data: raised by whoever restores a backup, so that it cannot vote as if nothing had been forgotten. */
  readonly incarnation: number;
  /** The configuration before the first entry, the same on every node of the cluster. */
  readonly voters: readonly number[];
}

export function encodeIdentity({ clusterId, nodeId, incarnation, voters }: Identity): Uint8Array {
  const writer = new RecordWriter().u32(storageFormat).u64(nodeId).u64(incarnation).list(voters);
  return writer.raw(new TextEncoder().encode(clusterId)).sealed();
}

/** The format comes first, so that another one is told from damage. */
export function decodeIdentity(bytes: Uint8Array): Identity & { readonly format: number } {
  const reader = new RecordReader(bytes);
  const format = reader.u32();
  if (format !== storageFormat) return { format, nodeId: 0, incarnation: 0, voters: [], clusterId: '' };
  const [nodeId, incarnation, voters] = [reader.u64(), reader.u64(), reader.list()];
  return { format, nodeId, incarnation, voters, clusterId: new TextDecoder().decode(reader.rest()) };
}

/** A snapshot whose bytes are in `chunkCount` chunks. */
export interface Manifest extends SnapshotMeta {
  readonly chain: Chain;
  readonly size: number;
  readonly chunkCount: number;
  /** Of all its bytes. */
  readonly checksum: number;
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  const { index, term, chain, size, chunkCount, checksum, configuration } = manifest;
  const { voters, outgoing, learners, learnersNext } = configuration;
  const writer = new RecordWriter(128).u64(index).u64(term).u32(chain).u64(size).u32(chunkCount).u32(checksum);
  return writer.list(voters).list(outgoing).list(learners).list(learnersNext).sealed();
}

export function decodeManifest(bytes: Uint8Array): Manifest {
  const reader = new RecordReader(bytes);
  const [index, term, chain] = [reader.u64(), reader.u64(), reader.u32()];
  const [size, chunkCount, checksum] = [reader.u64(), reader.u32(), reader.u32()];
  const configuration: Configuration = {
    voters: reader.list(),
    outgoing: reader.list(),
    learners: reader.list(),
    learnersNext: reader.list(),
  };
  return { index, term, chain, size, chunkCount, checksum, configuration };
}

export function encodePointer(snapshot: number): Uint8Array {
  return new RecordWriter(16).u64(snapshot).sealed();
}

export function decodePointer(bytes: Uint8Array): number {
  return new RecordReader(bytes).u64();
}

/** The sum covers the place, so that a chunk of another snapshot or place is seen like a damaged one. */
export function encodeChunk(snapshot: number, chunk: number, bytes: Uint8Array): Uint8Array {
  return new RecordWriter(bytes.length + 16).u64(snapshot).u32(chunk).raw(bytes).sealed();
}

export function decodeChunk(snapshot: number, chunk: number, sealed: Uint8Array): Uint8Array {
  const reader = new RecordReader(sealed);
  if (reader.u64() !== snapshot || reader.u32() !== chunk) throw new DamagedRecord('it is a chunk of another place');
  return reader.rest();
}
