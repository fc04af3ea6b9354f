import type { TlsPair } from '../../shared/security/tls-files.ts';
import type { Telemetry } from '../../shared/telemetry/internal-events.ts';
import type { Entry, Index, NodeId, Refusal, Role, Term } from './core/messages.ts';

/** Where a member can be reached. */
export interface RaftPeer {
  readonly id: NodeId;
  /** Of its API, as clients are told it. Nothing connects there; `host` and `port` are those of its Raft listener. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
}

/**
 * What the group agrees on. It lives in the thread that called `startRaftMember`, and is called one entry after another, in the order of
 * the log, the same on every member: `apply` must follow from the entries alone.
 */
export interface ReplicatedState {
  /** A command that is committed. What it returns is the result of `propose` on the member that proposed it. It must not throw. */
  readonly apply: (command: CommittedCommand) => unknown;
  /** Everything up to this index is applied, where no command stands: the first entry of a leader, a change of the members, the end of a snapshot. */
  readonly passed?: (index: Index) => void;
  /**
   * The state at the moment of the call, in pieces that are joined. Pieces are asked for in later turns of the event loop, with commands
   * applied in between, so that a large state holds nothing up: they must show the moment of the call all the same.
   */
  readonly save: () => Iterable<Uint8Array>;
  /** Replaces everything by what `save` gave on some member; empty bytes stand for the state before the first command. */
  readonly restore: (state: Uint8Array) => void;
}

export type CommittedCommand = Pick<Entry, 'index' | 'term' | 'data'>;

export interface RaftMemberOptions {
  /** Holds the log and the identity of this member, and nothing else; made when it is missing. */
  readonly dataDir: string;
  /** The same for all members, and never for another group. */
  readonly clusterId: string;
  /** Never reused in a group: who has lost its data directory joins again under a new id. */
  readonly nodeId: NodeId;
  /**
   * The members known to the operator. When the data directory is new, their ids are the first voters, so the first list must be the
   * same on all of them; a member that is not in it waits to be added. Later on it says only where they are.
   */
  readonly peers: readonly RaftPeer[];
  /** Where the Raft listener binds. Port 0 takes a free one; see `RaftMember.port`. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The secret of the group, 16 bytes or more: who does not know it can say nothing to any member, and is told nothing. */
  readonly key: string;
  /** The latest format of commands that this member takes, of which the others are told. @default 1 */
  readonly formatMax?: number;
  /** Of connections between members. `ca` is what the others' certificates are signed with. @default plain TCP */
  readonly tls?: TlsPair & { readonly ca: string };
  readonly state: ReplicatedState;
  readonly telemetry: Telemetry;
  readonly timers?: RaftTimers;
  /** A snapshot is made after so many entries. @default 10000 */
  readonly snapshotEntries?: number;
}

export interface RaftTimers {
  /** Elections take place after 20 to 40 ticks without a leader, heartbeats every 3. @default 50 ms */
  readonly tickMs: number;
}

export type RaftRefusalReason =
  | Refusal
  /** Nobody leads, as far as this member knows. */
  | 'noLeader'
  /** Another entry has the place of this one: it has not happened and will not. */
  | 'superseded'
  /** It was not decided in time, or what became of it is not known here. */
  | 'timeout'
  /** This member is closing or has failed. */
  | 'stopped';

export interface Proposed {
  readonly index: Index;
  readonly term: Term;
  /** What `ReplicatedState.apply` returned. */
  readonly result: unknown;
}

export interface RaftPeerStatus {
  readonly id: NodeId;
  /** Empty when nobody has said it. */
  readonly url: string;
  readonly role: 'voter' | 'learner';
  /** Whether there is a connection to it; of this member itself always true. */
  readonly isReachable: boolean;
  /** The latest format of commands that it takes, as it has said; undefined while there is no connection to it. */
  readonly formatMax: number | undefined;
  /** Up to where its log is known to agree; only a leader knows. */
  readonly matchIndex: Index | undefined;
  /** Entries it is behind this leader's log. */
  readonly lag: number | undefined;
}

export interface RaftStatus {
  readonly nodeId: NodeId;
  readonly role: Role;
  /** 0 when none is known. */
  readonly leader: NodeId;
  readonly leaderUrl: string | undefined;
  readonly term: Term;
  readonly commitIndex: Index;
  /** What the state of this member has. */
  readonly appliedIndex: Index;
  readonly lastIndex: Index;
  /** This member has lost what it had acknowledged, and does not vote before it has it again. */
  readonly isRecovering: boolean;
  /** Another member has said that this one was removed: it does nothing for the group any more, and is to be stopped. */
  readonly isRemoved: boolean;
  /** All members that are configured, this one included, by id. */
  readonly peers: readonly RaftPeerStatus[];
}

export type MembershipChange =
  /** A member that receives the log and does not vote. Every new member begins so. Say first where it is: `setPeers`. */
  | { readonly kind: 'addLearner'; readonly id: NodeId }
  /** A learner that has nearly caught up becomes a voter. */
  | { readonly kind: 'promote'; readonly id: NodeId }
  | { readonly kind: 'remove'; readonly id: NodeId };

/**
 * One member of a Raft group. Log, disk and connections live in a thread of their own, which load on the calling thread does not disturb.
 *
 * Nothing waits without a bound, and what is refused is refused with a `RaftRefusal`.
 */
export interface RaftMember {
  /** The one that the Raft listener has. */
  readonly port: number;
  /**
   * Resolves once the command is committed and applied here. Only the leader takes commands.
   *
   * A command that is sent again after `timeout` or `stopped` may happen twice: commands carry the session of their client, and the
   * state keeps a `SessionTable`, which makes them happen once.
   * @throws RaftRefusal; see `RaftRefusal.mayHaveHappened`
   */
  propose(command: Uint8Array): Promise<Proposed>;
  /**
   * Resolves when the state here has everything that was acknowledged to anybody before the call: what is read from it then, in the same
   * turn, is linearizable. Only on the leader. Gives the index up to which that is at least.
   * @throws RaftRefusal
   */
  readIndex(): Promise<Index>;
  /** As of the last word of the Raft thread, not more than a quarter of a second ago while that runs. */
  status(): RaftStatus;
  /** Called when role, leader, term or members have changed. Gives the way to stop it. */
  onStatus(listener: (status: RaftStatus) => void): () => void;
  /** Resolves when the change is committed. One at a time, on the leader. @throws RaftRefusal */
  changeMembership(change: MembershipChange): Promise<void>;
  /** Resolves when another leads. @throws RaftRefusal `timeout` when it did not work; this one leads on */
  transferLeadership(to: NodeId): Promise<void>;
  /** Where the members are from now on, and who is none any more, as the state of the group knows it. */
  setPeers(peers: readonly RaftPeer[], removed?: readonly NodeId[]): void;
  /** What this member shows on connections that are made from now on; without `tls` it shows none. */
  renewCertificate(pair: TlsPair): void;
  /** Ends in order: with `transfer`, a leader first hands over to the follower that is furthest, for as long as an election takes at most. */
  close(options?: { readonly transfer: boolean }): Promise<void>;
  /**
   * Resolves when this member has stopped by itself: its disk has failed, the group refuses its identity, or a defect was found. The
   * process must end (with `CepError.exitCode`); a restart finds out what the disk holds. Never rejects.
   */
  readonly failed: Promise<Error>;
}

/** Why nothing came of what a member was asked. */
export class RaftRefusal extends Error {
  override readonly name = 'RaftRefusal';
  readonly reason: RaftRefusalReason;
  /** Who leads, as far as this member knows; 0 when it does not. */
  readonly leader: NodeId;
  readonly leaderUrl: string | undefined;

  constructor(reason: RaftRefusalReason, leader: NodeId = 0, leaderUrl?: string) {
    super(`the member does not do this: ${reason}${leader === 0 ? '' : `; node ${leader} leads`}`);
    this.reason = reason;
    this.leader = leader;
    this.leaderUrl = leaderUrl;
  }

  /** True when it may have happened or may happen yet; otherwise it has not and will not. */
  get mayHaveHappened(): boolean {
    return this.reason === 'timeout' || this.reason === 'stopped';
  }
}

/**
 * Starts a member: opens its data, or makes it when the directory is new, and takes part in the group. `ReplicatedState.restore` has been
 * called when this resolves; committed commands follow as the group goes on.
 * @throws CepError `io_error` when it may not take part with what its disk holds: another member's data, an identity that is lost,
 * a later format, or data that another process has open; `config_error` when the options cannot be right
 */
export type StartRaftMember = (options: RaftMemberOptions) => Promise<RaftMember>;
