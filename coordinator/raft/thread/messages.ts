import type { TlsPair } from '../../../shared/security/tls-files.ts';
import type { FieldsOf, InternalEventName } from '../../../shared/telemetry/internal-events.ts';
import type { SentError } from '../../../shared/threads/sent-error.ts';
import type { Entry, Index, NodeId } from '../core/messages.ts';
import type { Delivered, DriverRefusal, DriverStatus } from '../driver/raft-driver.ts';
import type { MembershipChange, RaftMemberOptions, RaftPeer } from '../group.ts';

/** What the Raft thread is started with. */
export type ThreadSetup = Pick<
  RaftMemberOptions,
  'dataDir' | 'clusterId' | 'nodeId' | 'peers' | 'listen' | 'key' | 'tls' | 'snapshotEntries'
> & {
  readonly formatMax: number;
  readonly tickMs: number;
};

/** Commands with the numbers from `firstId` on. `memory` has the length of each, then them one behind another; it is transferred. */
export interface ProposeMessage {
  readonly kind: 'propose';
  readonly firstId: number;
  readonly count: number;
  readonly memory: ArrayBuffer;
}

/** What the thread with the state machine and the Raft thread say to each other. Bytes are transferred. */
export type ToRaftThread =
  | ProposeMessage
  | { readonly kind: 'read'; readonly id: number }
  | { readonly kind: 'changeMembers'; readonly id: number; readonly change: MembershipChange }
  | { readonly kind: 'transfer'; readonly to: NodeId }
  | { readonly kind: 'applied'; readonly index: Index }
  | { readonly kind: 'snapshot'; readonly index: Index; readonly state: Uint8Array }
  | { readonly kind: 'peers'; readonly peers: readonly RaftPeer[]; readonly removed: readonly NodeId[] }
  | { readonly kind: 'certificate'; readonly pair: TlsPair }
  /** Every 250 ms: that thread gets on. */
  | { readonly kind: 'awake' }
  | { readonly kind: 'close'; readonly transfers: boolean };

/**
 * Entries from `firstIndex` on. `memory` has of each its term, its kind, the number of its proposal and the length of its data, then the
 * data of all one behind another; it is transferred. Who proposed an entry has its data, and is not given them again: their length is 0.
 */
export interface CommittedMessage {
  readonly kind: 'committed';
  readonly firstIndex: Index;
  readonly count: number;
  readonly memory: ArrayBuffer;
}

export type ThreadEvent = {
  readonly [N in InternalEventName]: { readonly kind: 'event'; readonly name: N; readonly fields: FieldsOf<N> };
}[InternalEventName];

/** Counters only grow. */
export interface ThreadStatus extends DriverStatus {
  /** Of each member that is reachable, the latest format of commands that it takes. */
  readonly formats: ReadonlyMap<NodeId, number>;
  readonly writes: { readonly counts: readonly number[]; readonly sum: number };
  readonly packetsDropped: number;
  readonly connectionsRefused: number;
  readonly isRemoved: boolean;
}

export type FromRaftThread =
  | { readonly kind: 'started'; readonly port: number; readonly status: ThreadStatus }
  | { readonly kind: 'restore'; readonly index: Index; readonly state: Uint8Array }
  | CommittedMessage
  | { readonly kind: 'done'; readonly id: number; readonly index: Index }
  | { readonly kind: 'refused'; readonly id: number; readonly reason: DriverRefusal; readonly leader: NodeId }
  | { readonly kind: 'snapshotWanted' }
  | { readonly kind: 'status'; readonly status: ThreadStatus }
  | ThreadEvent
  | { readonly kind: 'failed'; readonly error: SentError }
  | { readonly kind: 'closed' };

const kinds: readonly Entry['kind'][] = ['noop', 'command', 'configuration'];
const headNumbers = 4;
const NO_DATA = new Uint8Array();

export function encodeCommitted(batch: readonly Delivered[]): CommittedMessage {
  const headBytes = batch.length * headNumbers * Float64Array.BYTES_PER_ELEMENT;
  const data = batch.map(({ entry, proposal }) => (proposal === 0 ? entry.data : NO_DATA));
  const memory = joined(data, headBytes).buffer;
  const heads = new Float64Array(memory, 0, batch.length * headNumbers);
  for (const [at, { entry, proposal }] of batch.entries()) {
    heads.set([entry.term, kinds.indexOf(entry.kind), proposal, (data[at] as Uint8Array).length], at * headNumbers);
  }
  return { kind: 'committed', firstIndex: batch[0]?.entry.index ?? 0, count: batch.length, memory };
}

/** `commandOf`: what was proposed under a number. */
export function decodeCommitted({ firstIndex, count, memory }: CommittedMessage, commandOf: (proposal: number) => Uint8Array): Delivered[] {
  const heads = new Float64Array(memory, 0, count * headNumbers);
  const next = piecesOf(memory, heads.byteLength);
  return Array.from({ length: count }, (_, at) => {
    const head = at * headNumbers;
    const kind = kinds[heads[head + 1] as number] as Entry['kind'];
    const proposal = heads[head + 2] as number;
    const data = proposal === 0 ? next(heads[head + 3] as number) : commandOf(proposal);
    return { entry: { index: firstIndex + at, term: heads[head] as number, kind, data }, proposal };
  });
}

export function encodeProposals(firstId: number, commands: readonly Uint8Array[]): ProposeMessage {
  const memory = joined(commands, commands.length * Uint32Array.BYTES_PER_ELEMENT).buffer;
  const lengths = new Uint32Array(memory, 0, commands.length);
  commands.forEach(({ length }, at) => {
    lengths[at] = length;
  });
  return { kind: 'propose', firstId, count: commands.length, memory };
}

export function decodeProposals({ firstId, count, memory }: ProposeMessage): { readonly id: number; readonly data: Uint8Array }[] {
  const lengths = new Uint32Array(memory, 0, count);
  const next = piecesOf(memory, lengths.byteLength);
  return Array.from(lengths, (length, at) => ({ id: firstId + at, data: next(length) }));
}

/** Gives what stands in the memory, one piece behind another. */
function piecesOf(memory: ArrayBuffer, start: number): (length: number) => Uint8Array {
  let end = start;
  return (length) => {
    end += length;
    return new Uint8Array(memory, end - length, length);
  };
}

/** One behind another, in memory of their own, behind `room` bytes that are 0. */
export function joined(parts: readonly Uint8Array[], room = 0): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, room));
  let at = room;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
