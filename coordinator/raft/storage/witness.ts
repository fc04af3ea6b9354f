import type { HardState, LogPoint } from '../core/messages.ts';
import type { ChainedPoint } from './codec.ts';
import { DamagedRecord, RecordReader, RecordWriter } from './record.ts';

/** A sector of most disks: damage to one slot leaves the other alone. */
export const slotBytes = 4_096;
export const witnessBytes = 2 * slotBytes;

const MAGIC = 0x63657077;

/**
 * What the node has promised at most, kept apart from the database: a database that silently lost its newest writes agrees with itself,
 * but not with the witness.
 */
export interface Witness {
  /** That of the write to the database that this one follows. */
  readonly seq: number;
  readonly vote: Pick<HardState, 'term' | 'vote'>;
  readonly last: ChainedPoint;
  /** Set while the node has not made up for what it lost; see `Recovered`. */
  readonly recovering: LogPoint | undefined;
}

/** The slot and where it belongs in the file. Slots alternate, so that a write that is torn leaves the one before it. */
export function encodeWitness({ seq, vote, last, recovering }: Witness): { readonly offset: number; readonly bytes: Uint8Array } {
  const writer = new RecordWriter(slotBytes).u32(MAGIC).u64(seq).u64(vote.term).u64(vote.vote);
  writer.u64(last.index).u64(last.term).u32(last.chain);
  writer.u64(recovering?.index ?? 0).u64(recovering?.term ?? 0);
  return { offset: (seq % 2) * slotBytes, bytes: writer.sealed() };
}

const slotLength = encodeWitness({
  seq: 0,
  vote: { term: 0, vote: 0 },
  last: { index: 0, term: 0, chain: 0 },
  recovering: undefined,
}).bytes.length;

/** The newer of the slots that are whole, or undefined when none is. */
export function decodeWitness(file: Uint8Array): Witness | undefined {
  const slots = [0, slotBytes].flatMap((offset) => decodeSlot(file.subarray(offset, offset + slotLength)) ?? []);
  return slots.sort((a, b) => b.seq - a.seq)[0];
}

function decodeSlot(bytes: Uint8Array): Witness | undefined {
  try {
    const reader = new RecordReader(bytes);
    if (reader.u32() !== MAGIC) return undefined;
    const seq = reader.u64();
    const vote = { term: reader.u64(), vote: reader.u64() };
    const last = { index: reader.u64(), term: reader.u64(), chain: reader.u32() };
    const recovering = { index: reader.u64(), term: reader.u64() };
    return { seq, vote, last, recovering: recovering.index === 0 ? undefined : recovering };
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined;
    throw error;
  }
}
