import type { HardState, LogPoint } from '../core/messages.ts';
import type { ChainedPoint } from './codec.ts';
import { bytesOf, type Operation, readOperations, writeOperations } from './operation.ts';
import { DamagedRecord, RecordReader, RecordWriter } from './record.ts';
import { allocate } from './slab.ts';

/** Of each of the two slots, which are written in turn, so that a write that is torn leaves the one before it. */
export const slotBytes = 65_536;
export const witnessBytes = 2 * slotBytes;

const MAGIC = 0x63657058;
/** What stands twice in a slot stands at places that are multiples of this. */
const copyAlign = 64;
/** Before and behind the operations. */
const fixedBytes = 72;

/**
 * What the node has promised at most, kept apart from the database: a database that silently lost its newest writes agrees with itself,
 * but not with the witness.
 */
export interface Witness {
  /** That of the write to the database that this one belongs to. */
  readonly seq: number;
  readonly vote: Pick<HardState, 'term' | 'vote'>;
  readonly last: ChainedPoint;
  /** Set while the node has not made up for what it lost; see `Recovered`. */
  readonly recovering: LogPoint | undefined;
}

export interface SealedWitness {
  readonly bytes: Uint8Array;
  /**
   * The whole batch is in it. Only then may both be written at the same time: whichever arrives before a power cut, nothing is missing.
   * A witness alone that is ahead of the database would look like a database that forgot what was acknowledged, on all nodes at once.
   */
  readonly hasBatch: boolean;
}

export interface FoundWitness extends Witness {
  /** What it belongs to, or nothing when that was too long. */
  readonly batch: readonly Operation[];
}

/** A slot with the witness of a batch, and the batch when there is room for both. */
export function sealWitness(witness: Witness, batch: readonly Operation[], bytesMax: number = slotBytes): SealedWitness {
  const length = fixedBytes + bytesOf(batch);
  const hasBatch = length <= bytesMax;
  const { seq, vote, last, recovering } = witness;
  const writer = new RecordWriter(hasBatch ? length : 128).u32(MAGIC).u32(hasBatch ? length : fixedBytes + bytesOf([]));
  writer.u64(seq).u64(vote.term).u64(vote.vote);
  writer.u64(last.index).u64(last.term).u32(last.chain);
  writer.u64(recovering?.index ?? 0).u64(recovering?.term ?? 0);
  writeOperations(writer, hasBatch ? batch : []);
  return { bytes: writer.sealed(), hasBatch };
}

/**
 * A slot with the witness of a batch, all of it twice, or undefined when there is no room. It may be acknowledged before the database has
 * the batch: until then it is the only place of that, and a bit that flips in one copy leaves the other.
 */
export function sealTwice(witness: Witness, batch: readonly Operation[], bytesMax: number): Uint8Array | undefined {
  if (2 * aligned(fixedBytes + bytesOf(batch)) > bytesMax) return undefined;
  const { bytes } = sealWitness(witness, batch, bytesMax);
  const second = aligned(bytes.length);
  const both = allocate(second + bytes.length);
  both.set(bytes);
  both.set(bytes, second);
  return both;
}

function aligned(length: number): number {
  return Math.ceil(length / copyAlign) * copyAlign;
}

/** The newer of the slots that are whole, or undefined when none is. */
export function decodeWitness(file: Uint8Array): FoundWitness | undefined {
  return slotsOf(file)[0]?.witness;
}

/** Where the next one goes: never over the newest, which is all there is while the next is on its way. */
export function nextSlot(file: Uint8Array): 0 | 1 {
  return slotsOf(file)[0]?.slot === 0 ? 1 : 0;
}

/** Those that are whole, the newest first. */
function slotsOf(file: Uint8Array) {
  const half = file.length / 2;
  const slots = ([0, 1] as const).flatMap((slot) => {
    const witness = decodeSlot(file.subarray(slot * half, (slot + 1) * half));
    return witness === undefined ? [] : [{ slot, witness }];
  });
  return slots.sort((a, b) => b.witness.seq - a.witness.seq);
}

/** The newest of what is whole in a slot: what it held before may be left behind what is shorter. */
function decodeSlot(slot: Uint8Array): FoundWitness | undefined {
  const first = decodeAt(slot, 0);
  if (first !== undefined) return first.witness;
  let newest: FoundWitness | undefined;
  for (let at = copyAlign; at < slot.length; at += copyAlign) {
    const found = decodeAt(slot, at);
    if (found !== undefined && aligned(found.length) === at && found.witness.seq > (newest?.seq ?? 0)) newest = found.witness;
  }
  return newest;
}

function decodeAt(slot: Uint8Array, at: number): { readonly witness: FoundWitness; readonly length: number } | undefined {
  if (slot.length - at < 8) return undefined;
  const head = new DataView(slot.buffer, slot.byteOffset + at);
  const length = head.getUint32(4);
  if (head.getUint32(0) !== MAGIC || length > slot.length - at) return undefined;
  try {
    const reader = new RecordReader(slot.subarray(at, at + length));
    reader.u32();
    reader.u32();
    const seq = reader.u64();
    const vote = { term: reader.u64(), vote: reader.u64() };
    const last = { index: reader.u64(), term: reader.u64(), chain: reader.u32() };
    const recovering = { index: reader.u64(), term: reader.u64() };
    const batch = readOperations(reader);
    return { witness: { seq, vote, last, recovering: recovering.index === 0 ? undefined : recovering, batch }, length };
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined;
    throw error;
  }
}
