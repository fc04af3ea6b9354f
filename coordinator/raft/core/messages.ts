/** A positive whole number. Never reused: a member that lost its disk comes back under a new one. 0 means nobody. */
export type NodeId = number;
export type Term = number;
/** Place in the log, from 1. 0 is the place before the first entry. */
export type Index = number;

/** `noop` opens the term of each leader (dissertation §6.4); `configuration` holds a `ConfigurationChange`. Never changed once made. */
export interface Entry {
  readonly index: Index;
  readonly term: Term;
  readonly kind: 'noop' | 'command' | 'configuration';
  readonly data: Uint8Array;
}

/** A place in a log with the term of its entry. Of two, the one with the higher term is later, then the one with the higher index. */
export interface LogPoint {
  readonly index: Index;
  readonly term: Term;
}

/**
 * What a node must remember across crashes (paper, figure 2), and its commit index, which spares replay: nothing depends on it, and one
 * that is too low, or 0, does no harm.
 */
export interface HardState {
  readonly term: Term;
  readonly vote: NodeId;
  readonly commit: Index;
}

/**
 * Who is a member. While `outgoing` is not empty, two configurations are in force and each decision needs a majority of both (joint
 * consensus, dissertation §4.3). Sorted, without repetition; a learner is never a voter of either.
 */
export interface Configuration {
  readonly voters: readonly NodeId[];
  readonly outgoing: readonly NodeId[];
  readonly learners: readonly NodeId[];
  /** Voters of `outgoing` that become learners when it ends. */
  readonly learnersNext: readonly NodeId[];
}

/** What a snapshot stands for: all entries up to `index`, with the configuration in force there (dissertation §5.1). */
export interface SnapshotMeta extends LogPoint {
  readonly configuration: Configuration;
}

interface Envelope {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly term: Term;
}

/** `pre` asks whether a vote in `term` would be given, and changes nothing (dissertation §9.6). */
export interface VoteRequest extends Envelope {
  readonly type: 'voteRequest';
  readonly pre: boolean;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  /** The leader itself asked for this election, so that its being alive is no reason to refuse (dissertation §3.10). */
  readonly transfer: boolean;
}

export interface VoteResponse extends Envelope {
  readonly type: 'voteResponse';
  readonly pre: boolean;
  readonly granted: boolean;
}

export interface AppendRequest extends Envelope {
  readonly type: 'appendRequest';
  readonly previousIndex: Index;
  readonly previousTerm: Term;
  readonly entries: readonly Entry[];
  readonly commit: Index;
}

/**
 * `accepted`: everything up to `index` agrees with the leader's log and is durable. Otherwise `index` is the refused `previousIndex`,
 * and `hintIndex` and `hintTerm` name an entry of the follower at which the leader may try next. `isRecovering`: the follower has lost
 * entries, so what it acknowledged to this leader before says nothing any more.
 */
export interface AppendResponse extends Envelope {
  readonly type: 'appendResponse';
  readonly accepted: boolean;
  readonly index: Index;
  readonly hintIndex: Index;
  readonly hintTerm: Term;
  readonly isRecovering: boolean;
}

/** `round` is the newest round of reads that an answer confirms (dissertation §6.4). */
export interface Heartbeat extends Envelope {
  readonly type: 'heartbeat';
  readonly commit: Index;
  readonly round: number;
}

export interface HeartbeatResponse extends Envelope {
  readonly type: 'heartbeatResponse';
  readonly round: number;
}

/** All of a snapshot has arrived; the driver moved its bytes. */
export interface InstallSnapshot extends Envelope {
  readonly type: 'installSnapshot';
  readonly meta: SnapshotMeta;
}

export interface TimeoutNow extends Envelope {
  readonly type: 'timeoutNow';
}

export type Message =
  | VoteRequest
  | VoteResponse
  | AppendRequest
  | AppendResponse
  | Heartbeat
  | HeartbeatResponse
  | InstallSnapshot
  | TimeoutNow;

/** The members as they shall be. More than one voter more or less goes through joint consensus, which ends by itself. */
export interface ConfigurationChange {
  readonly voters: readonly NodeId[];
  readonly learners: readonly NodeId[];
}

export type Input =
  | { readonly type: 'tick' }
  | { readonly type: 'message'; readonly message: Message }
  | { readonly type: 'propose'; readonly id: number; readonly data: readonly Uint8Array[] }
  | { readonly type: 'proposeConfiguration'; readonly id: number; readonly change: ConfigurationChange }
  | { readonly type: 'read'; readonly id: number }
  | { readonly type: 'transfer'; readonly to: NodeId }
  | { readonly type: 'forgetLeader'; readonly suspect: NodeId }
  /** Write `seq` and all before it are durable. `through` and `term` are those of its last entry: a guard against entries overwritten since. */
  | { readonly type: 'stored'; readonly seq: number; readonly through: Index; readonly term: Term }
  /** A snapshot up to `index` is durable and current; the log before it may go, but for `keep` entries. */
  | { readonly type: 'compact'; readonly index: Index; readonly keep: number }
  | { readonly type: 'snapshotSent'; readonly to: NodeId; readonly succeeded: boolean }
  | { readonly type: 'unreachable'; readonly peer: NodeId };

/** One durable write: `hardState`, and instead of everything at and after `from`, `entries`. Atomic, in the order of `seq`. */
export interface Write {
  readonly seq: number;
  readonly hardState: HardState;
  readonly from: Index;
  readonly entries: readonly Entry[];
  /** Replaces the whole log: its bytes have arrived with the message. */
  readonly snapshot: SnapshotMeta | undefined;
  /** As in `Recovered`, as long as it holds. */
  readonly recovering: LogPoint | undefined;
}

export type Role = 'follower' | 'preCandidate' | 'candidate' | 'leader';
export type Refusal = 'notLeader' | 'overloaded' | 'transferring' | 'notReady' | 'changePending' | 'invalid';

export interface Output {
  readonly write: Write | undefined;
  /** Of a leader: may leave before its own write is durable (dissertation §10.2.1). */
  readonly sendNow: readonly Message[];
  /** Only when write `afterSeq` and all before it are durable: votes and acknowledgements are promises. */
  readonly sendAfter: readonly Message[];
  readonly afterSeq: number;
  readonly committed: readonly Entry[];
  readonly sendSnapshot: readonly NodeId[];
  /** The read `id` may be answered from a state machine that has applied `index`. */
  readonly reads: readonly { readonly id: number; readonly index: Index }[];
  readonly accepted: readonly { readonly id: number; readonly index: Index; readonly term: Term }[];
  readonly refused: readonly { readonly id: number; readonly reason: Refusal; readonly leader: NodeId }[];
}
