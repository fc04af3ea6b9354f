import { invariant } from '../../../shared/errors/error.ts';
import type { Entry, Message, NodeId, Term } from '../core/messages.ts';
import { decodeManifest, encodeManifest } from '../storage/codec.ts';
import { DamagedRecord, RecordReader, RecordWriter } from '../storage/record.ts';
import type { SnapshotChunk } from '../storage/snapshot-transfer.ts';

/** How far a receiver has come with a snapshot of a leader. */
export interface SnapshotAnswer {
  readonly from: NodeId;
  readonly term: Term;
  /** Of the snapshot, so that an answer about another is told apart. */
  readonly index: number;
  readonly offset: number;
}

/** What nodes send each other. `installSnapshot` never travels: its bytes do, as chunks. */
export type Packet =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'chunk'; readonly chunk: SnapshotChunk }
  | { readonly kind: 'chunkAnswer'; readonly answer: SnapshotAnswer };

type Travelling = Exclude<Message['type'], 'installSnapshot'>;

/** The numbers are part of what travels: they are added to, never changed. */
const numbers = {
  voteRequest: 1,
  voteResponse: 2,
  appendRequest: 3,
  appendResponse: 4,
  heartbeat: 5,
  heartbeatResponse: 6,
  timeoutNow: 7,
  chunk: 8,
  chunkAnswer: 9,
} as const satisfies Record<Travelling | 'chunk' | 'chunkAnswer', number>;

const kinds: readonly Entry['kind'][] = ['noop', 'command', 'configuration'];

/** One packet with its checksum. */
export function encodePacket(packet: Packet): Uint8Array {
  if (packet.kind === 'message') return encodeMessage(packet.message);
  if (packet.kind === 'chunk') {
    const { from, term, manifest, offset, bytes } = packet.chunk;
    const writer = new RecordWriter(bytes.length + 256).u8(numbers.chunk).u64(from).u64(term);
    return writer.bytes(encodeManifest(manifest)).u64(offset).raw(bytes).sealed();
  }
  const { from, term, index, offset } = packet.answer;
  return new RecordWriter().u8(numbers.chunkAnswer).u64(from).u64(term).u64(index).u64(offset).sealed();
}

/** At least that of the packet; that of entries exactly, since they are long. */
function lengthOf(message: Message): number {
  if (message.type !== 'appendRequest') return 64;
  return message.entries.reduce((sum, { data }) => sum + 13 + data.length, 57);
}

function encodeMessage(message: Message): Uint8Array {
  invariant(message.type !== 'installSnapshot', 'a snapshot travels as chunks');
  const writer = new RecordWriter(lengthOf(message)).u8(numbers[message.type]).u64(message.from).u64(message.to).u64(message.term);
  switch (message.type) {
    case 'voteRequest':
      writer.flag(message.pre).flag(message.transfer).u64(message.lastIndex).u64(message.lastTerm);
      break;
    case 'voteResponse':
      writer.flag(message.pre).flag(message.granted);
      break;
    case 'appendRequest':
      writer.u64(message.previousIndex).u64(message.previousTerm).u64(message.commit).u32(message.entries.length);
      for (const { term, kind, data } of message.entries) writer.u64(term).u8(kinds.indexOf(kind)).bytes(data);
      break;
    case 'appendResponse':
      writer.flag(message.accepted).flag(message.isRecovering).u64(message.index).u64(message.hintIndex).u64(message.hintTerm);
      break;
    case 'heartbeat':
      writer.u64(message.commit).u64(message.round);
      break;
    case 'heartbeatResponse':
      writer.u64(message.round);
      break;
    case 'timeoutNow':
      break;
  }
  return writer.sealed();
}

/** Throws `DamagedRecord` for anything that `encodePacket` has not made. */
export function decodePacket(bytes: Uint8Array): Packet {
  const reader = new RecordReader(bytes);
  const number = reader.u8();
  if (number === numbers.chunk) {
    const [from, term, manifest, offset] = [reader.u64(), reader.u64(), decodeManifest(reader.bytes()), reader.u64()];
    return { kind: 'chunk', chunk: { from, term, manifest, offset, bytes: reader.rest() } };
  }
  if (number === numbers.chunkAnswer) {
    const answer = { from: reader.u64(), term: reader.u64(), index: reader.u64(), offset: reader.u64() };
    reader.end();
    return { kind: 'chunkAnswer', answer };
  }
  const message = decodeMessage(number, reader);
  reader.end();
  return { kind: 'message', message };
}

function decodeMessage(number: number, reader: RecordReader): Message {
  const [from, to, term] = [reader.u64(), reader.u64(), reader.u64()];
  const flag = (): boolean => reader.flag();
  const u64 = (): number => reader.u64();
  switch (number) {
    case numbers.voteRequest:
      return { from, to, term, type: 'voteRequest', pre: flag(), transfer: flag(), lastIndex: u64(), lastTerm: u64() };
    case numbers.voteResponse:
      return { from, to, term, type: 'voteResponse', pre: flag(), granted: flag() };
    case numbers.appendRequest: {
      const [previousIndex, previousTerm, commit] = [u64(), u64(), u64()];
      return { from, to, term, type: 'appendRequest', previousIndex, previousTerm, commit, entries: decodeEntries(reader, previousIndex) };
    }
    case numbers.appendResponse: {
      const [accepted, isRecovering] = [flag(), flag()];
      return { from, to, term, type: 'appendResponse', accepted, isRecovering, index: u64(), hintIndex: u64(), hintTerm: u64() };
    }
    case numbers.heartbeat:
      return { from, to, term, type: 'heartbeat', commit: u64(), round: u64() };
    case numbers.heartbeatResponse:
      return { from, to, term, type: 'heartbeatResponse', round: u64() };
    case numbers.timeoutNow:
      return { from, to, term, type: 'timeoutNow' };
  }
  throw new DamagedRecord(`no packet has the number ${number}`);
}

function decodeEntries(reader: RecordReader, previousIndex: number): Entry[] {
  const count = reader.u32();
  const entries: Entry[] = [];
  for (let at = 1; at <= count; at++) {
    const [term, kind, data] = [reader.u64(), kinds[reader.u8()], reader.bytes()];
    if (kind === undefined) throw new DamagedRecord('it has an entry of an unknown kind');
    entries.push({ index: previousIndex + at, term, kind, data });
  }
  return entries;
}
