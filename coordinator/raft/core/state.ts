import { invariant } from '../../../shared/errors/error.ts';
import { isVoter } from './configuration.ts';
import { ConfigurationHistory } from './configuration-history.ts';
import type { RaftLog } from './log.ts';
import type {
  Configuration,
  Entry,
  HardState,
  Index,
  LogPoint,
  Message,
  NodeId,
  Output,
  Refusal,
  Role,
  SnapshotMeta,
  Term,
  Write,
} from './messages.ts';

export interface RaftOptions {
  readonly id: NodeId;
  /** A follower that hears of no leader for this many ticks, up to twice as many, asks for an election. */
  readonly electionTicks: number;
  readonly heartbeatTicks: number;
  readonly entriesPerMessageMax: number;
  readonly bytesPerMessageMax: number;
  readonly inflightMessagesMax: number;
  readonly inflightBytesMax: number;
  /** Of commands that are in a leader's log and not committed. */
  readonly uncommittedBytesMax: number;
  readonly readsWaitingMax: number;
  /** A learner becomes a voter only when it is no more entries behind. */
  readonly promotionLagMax: number;
  /** A whole number, `0 <= n < bound`. */
  readonly random: (bound: number) => number;
}

/** Ticks are 50 ms: elections after 1 to 2 s, heartbeats every 150 ms. */
export const raftDefaults = {
  electionTicks: 20,
  heartbeatTicks: 3,
  entriesPerMessageMax: 1_024,
  bytesPerMessageMax: 1_048_576,
  inflightMessagesMax: 64,
  inflightBytesMax: 4_194_304,
  uncommittedBytesMax: 8_388_608,
  readsWaitingMax: 10_000,
  promotionLagMax: 1_000,
} as const;

/** What storage found when the node started. */
export interface Recovered {
  readonly hardState: HardState;
  readonly snapshot: SnapshotMeta;
  readonly entries: readonly Entry[];
  /**
   * Set when acknowledged entries, none later than this one, may be forgotten: the node neither votes nor campaigns until an entry as
   * late is known to be committed, since its log then has every committed entry that it ever acknowledged (after Protocol-Aware Recovery,
   * FAST '18).
   */
  readonly recovering: LogPoint | undefined;
}

/** Distributes over the members of the union. */
type Unaddressed<M> = M extends Message ? Omit<M, 'from' | 'term'> & { readonly term?: Term } : never;

/** State and effects that all roles share. */
export class RaftState {
  readonly options: RaftOptions;
  readonly log: RaftLog;
  term: Term;
  vote: NodeId;
  role: Role = 'follower';
  leader: NodeId = 0;
  recovering: LogPoint | undefined;
  electionElapsed = 0;
  electionTimeout = 0;

  #configurations: ConfigurationHistory;
  #written: HardState;
  #seq = 0;
  #handedOut: Index;
  #snapshot: SnapshotMeta | undefined;
  #sendNow: Message[] = [];
  #sendAfter: Message[] = [];
  #sendSnapshot: NodeId[] = [];
  #reads: { id: number; index: Index }[] = [];
  #accepted: { id: number; index: Index; term: Term }[] = [];
  #refused: { id: number; reason: Refusal; leader: NodeId }[] = [];

  constructor(options: RaftOptions, log: RaftLog, { hardState, snapshot, entries, recovering }: Recovered) {
    this.options = options;
    this.log = log;
    this.term = hardState.term;
    this.vote = hardState.vote;
    this.#configurations = new ConfigurationHistory(snapshot);
    this.#configurations.appended(entries);
    this.recovering = recovering;
    this.#written = hardState;
    this.#handedOut = log.baseIndex;
    invariant(this.term >= log.lastTerm, `the log has term ${log.lastTerm}, but the newest known is ${this.term}`);
    this.drawTimeout();
  }

  get id(): NodeId {
    return this.options.id;
  }

  /** Write `seq` is the newest that was handed out, this step's included once there is one. */
  get seq(): number {
    return this.#seq;
  }

  /** The one in force: the newest in the log. */
  get configuration(): Configuration {
    return this.#configurations.current;
  }

  /** The index from which it holds. Before that is committed, it may still vanish. */
  get configurationIndex(): Index {
    return this.#configurations.currentIndex;
  }

  configurationAt(index: Index): Configuration {
    return this.#configurations.at(index);
  }

  get canVote(): boolean {
    return this.recovering === undefined;
  }

  /**
   * A voter may; one that is removed may until the removal is committed, since it can be the only one whose log is long enough to be
   * elected and to commit it (dissertation §4.2.2).
   */
  get canCampaign(): boolean {
    if (!this.canVote) return false;
    const isUndecided = this.configurationIndex > this.log.commit;
    const previous = isUndecided ? this.#configurations.previous : undefined;
    return isVoter(this.configuration, this.id) || (previous !== undefined && isVoter(previous, this.id));
  }

  /** Anew for each term and each try, so that candidates that split the votes do not go on in step (paper §5.2). */
  drawTimeout(): void {
    this.electionTimeout = this.options.electionTicks + this.options.random(this.options.electionTicks);
  }

  becomeFollower(term: Term, leader: NodeId): void {
    invariant(term >= this.term, `the term falls from ${this.term} to ${term}`);
    if (term > this.term) this.vote = 0;
    this.term = term;
    this.role = 'follower';
    this.leader = leader;
    this.electionElapsed = 0;
    this.drawTimeout();
  }

  append(entries: readonly Entry[]): void {
    this.log.append(entries);
    this.#configurations.appended(entries);
  }

  /** Takes over what a leader sent behind an entry that agrees. */
  merge(entries: readonly Entry[]): void {
    const added = this.log.merge(entries);
    const first = added[0];
    if (first === undefined) return;
    this.#configurations.truncatedFrom(first.index);
    this.#configurations.appended(added);
  }

  commitThrough(index: Index): void {
    if (index > this.log.commit) this.log.commitTo(index);
    const term = this.log.termAt(this.log.commit) as Term;
    if (this.recovering && isAsLate({ index: this.log.commit, term }, this.recovering)) this.recovering = undefined;
  }

  installSnapshot(meta: SnapshotMeta): void {
    this.log.reset(meta.index, meta.term);
    this.#configurations = new ConfigurationHistory(meta);
    this.#handedOut = meta.index;
    this.#snapshot = meta;
    this.commitThrough(meta.index);
  }

  /** A durable snapshot stands for what is handed out up to `index`. */
  compactTo(index: Index): void {
    invariant(index <= this.#handedOut, `entry ${index} has not been handed out, so no snapshot has it`);
    this.log.compactTo(index);
    this.#configurations.compactedTo(index);
  }

  /** Appends and heartbeats of a leader: its term is durable, and its entries need not be (dissertation §10.2.1). */
  send(message: Unaddressed<Message>): void {
    this.#sendNow.push({ ...message, from: this.id, term: message.term ?? this.term } as Message);
  }

  /** Anything that promises: leaves when all that this node knows now is durable. */
  promise(message: Unaddressed<Message>): void {
    this.#sendAfter.push({ ...message, from: this.id, term: message.term ?? this.term } as Message);
  }

  sendSnapshot(to: NodeId): void {
    this.#sendSnapshot.push(to);
  }

  accept(id: number, index: Index): void {
    this.#accepted.push({ id, index, term: this.term });
  }

  refuse(id: number, reason: Refusal): void {
    this.#refused.push({ id, reason, leader: this.leader });
  }

  allowRead(id: number, index: Index): void {
    this.#reads.push({ id, index });
  }

  /** All effects since the last call. */
  takeOutput(): Output {
    const write = this.#takeWrite();
    const committed = this.log.commit > this.#handedOut ? this.log.slice(this.#handedOut + 1, this.log.commit) : [];
    this.#handedOut = this.log.commit;
    const output: Output = {
      write,
      sendNow: this.#sendNow,
      sendAfter: this.#sendAfter,
      afterSeq: this.#seq,
      committed,
      sendSnapshot: this.#sendSnapshot,
      reads: this.#reads,
      accepted: this.#accepted,
      refused: this.#refused,
    };
    this.#sendNow = [];
    this.#sendAfter = [];
    this.#sendSnapshot = [];
    this.#reads = [];
    this.#accepted = [];
    this.#refused = [];
    return output;
  }

  /** The commit index goes along whenever something else is written, and never by itself. */
  #takeWrite(): Write | undefined {
    const snapshot = this.#snapshot;
    this.#snapshot = undefined;
    const unwritten = this.log.takeUnwritten();
    const isChanged = this.term !== this.#written.term || this.vote !== this.#written.vote;
    if (!isChanged && unwritten === undefined && snapshot === undefined) return undefined;
    this.#written = { term: this.term, vote: this.vote, commit: this.log.commit };
    this.#seq++;
    const { from, entries } = unwritten ?? { from: this.log.lastIndex + 1, entries: [] };
    return { seq: this.#seq, hardState: this.#written, from, entries, snapshot, recovering: this.recovering };
  }
}

function isAsLate(one: LogPoint, other: LogPoint): boolean {
  return one.term > other.term || (one.term === other.term && one.index >= other.index);
}
