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
  readonly tickMs: number;
};

/** Commands with the numbers from `firstId` on. `bytes` has them one behind another; it is transferred. */
export interface ProposeMessage {
  readonly kind: 'propose';
  readonly firstId: number;
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array;
}

/** What the thread with the state machine and the Raft thread say to each other. Bytes are transferred. */
export type ToRaftThread =
  | ProposeMessage
  | { readonly kind: 'read'; readonly id: number }
  | { readonly kind: 'changeMembers'; readonly id: number; readonly change: MembershipChange }
  | { readonly kind: 'transfer'; readonly to: NodeId }
  | { readonly kind: 'applied'; readonly index: Index }
  | { readonly kind: 'snapshot'; readonly index: Index; readonly state: Uint8Array }
  | { readonly kind: 'peers'; readonly peers: readonly RaftPeer[] }
  | { readonly kind: 'close'; readonly transfers: boolean };

/** Entries from `firstIndex` on: of each, `heads` has its term, its kind, the number of its proposal and its length. */
export interface CommittedMessage {
  readonly kind: 'committed';
  readonly firstIndex: Index;
  readonly heads: Float64Array;
  readonly bytes: Uint8Array;
}

export type ThreadEvent = {
  readonly [N in InternalEventName]: { readonly kind: 'event'; readonly name: N; readonly fields: FieldsOf<N> };
}[InternalEventName];

/** Counters only grow. */
export interface ThreadStatus extends DriverStatus {
  readonly reachable: readonly NodeId[];
  readonly writes: { readonly counts: readonly number[]; readonly sum: number };
  readonly packetsDropped: number;
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

export function encodeCommitted(batch: readonly Delivered[]): CommittedMessage {
  const heads = new Float64Array(headNumbers * batch.length);
  batch.forEach(({ entry: { term, kind, data }, proposal }, at) => {
    heads.set([term, kinds.indexOf(kind), proposal, data.length], headNumbers * at);
  });
  return { kind: 'committed', firstIndex: batch[0]?.entry.index ?? 0, heads, bytes: joined(batch.map(({ entry }) => entry.data)) };
}

export function decodeCommitted({ firstIndex, heads, bytes }: CommittedMessage): Delivered[] {
  let start = 0;
  return Array.from({ length: heads.length / headNumbers }, (_, at) => {
    const [term = 0, kind = 0, proposal = 0, length = 0] = heads.subarray(headNumbers * at, headNumbers * (at + 1));
    const data = bytes.subarray(start, start + length);
    start += length;
    return { entry: { index: firstIndex + at, term, kind: kinds[kind] as Entry['kind'], data }, proposal };
  });
}

export function encodeProposals(firstId: number, commands: readonly Uint8Array[]): ProposeMessage {
  return { kind: 'propose', firstId, lengths: Uint32Array.from(commands, ({ length }) => length), bytes: joined(commands) };
}

export function decodeProposals({ firstId, lengths, bytes }: ProposeMessage): { readonly id: number; readonly data: Uint8Array }[] {
  let start = 0;
  return Array.from(lengths, (length, at) => {
    // A copy: what a command keeps must not be the whole batch.
    const data = bytes.slice(start, start + length);
    start += length;
    return { id: firstId + at, data };
  });
}

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
