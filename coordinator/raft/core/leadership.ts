import { invariant } from '../../../shared/errors/error.ts';
import { encodeChange, isJoint, isQuorum, isValidChange, isVoter, membersOf, quorumIndex } from './configuration.ts';
import type { AppendResponse, ConfigurationChange, Entry, HeartbeatResponse, Index, NodeId, Term } from './messages.ts';
import { Progress } from './progress.ts';
import type { RaftState } from './state.ts';

/** What a leader does in its one term. It ends with it. */
export class Leadership {
  readonly #state: RaftState;
  readonly #progress = new Map<NodeId, Progress>();
  /** The no-op of this term: before it is committed nothing is known of what is (dissertation §6.4). */
  readonly #firstIndex: Index;
  /** The newest change of configuration in the log. While it is not committed there can be no other (dissertation §4.1). */
  #changeIndex: Index;
  #uncommittedBytes = 0;
  #heartbeatElapsed = 0;
  #checkElapsed = 0;
  /** Rounds of heartbeats that confirm reads; reads wait for the round that begins after them. */
  #round = 0;
  #reads: { readonly id: number; readonly index: Index; readonly round: number }[] = [];
  #transferTo: NodeId = 0;
  #transferElapsed = 0;

  constructor(state: RaftState) {
    invariant(state.role === 'candidate', `a ${state.role} takes the lead`);
    this.#state = state;
    state.role = 'leader';
    state.leader = state.id;
    this.#firstIndex = state.log.lastIndex + 1;
    // One may be among the entries taken over.
    this.#changeIndex = state.log.lastIndex;
    this.#followMembers();
    this.#appendOwn('noop', [new Uint8Array(0)]);
    this.#replicateAll();
  }

  get transferTo(): NodeId {
    return this.#transferTo;
  }

  /** For metrics and checks; not to be changed. */
  get followers(): ReadonlyMap<NodeId, Progress> {
    return this.#progress;
  }

  get readsWaiting(): number {
    return this.#reads.length;
  }

  #isReady(): boolean {
    return this.#state.log.commit >= this.#firstIndex;
  }

  // Proposals

  propose(id: number, data: readonly Uint8Array[]) {
    const state = this.#state;
    const bytes = data.reduce((sum, { length }) => sum + length, 0);
    if (this.#transferTo !== 0) return state.refuse(id, 'transferring');
    if (!isVoter(state.configuration, state.id)) return state.refuse(id, 'notLeader');
    if (data.length === 0) return state.refuse(id, 'invalid');
    if (this.#uncommittedBytes > 0 && this.#uncommittedBytes + bytes > state.options.uncommittedBytesMax)
      return state.refuse(id, 'overloaded');
    state.accept(id, state.log.lastIndex + 1);
    this.#uncommittedBytes += bytes;
    this.#appendOwn('command', data);
    this.#replicateAll();
  }

  proposeConfiguration(id: number, change: ConfigurationChange) {
    const state = this.#state;
    if (this.#transferTo !== 0) return state.refuse(id, 'transferring');
    if (!this.#isReady()) return state.refuse(id, 'notReady');
    if (this.#changeIndex > state.log.commit || isJoint(state.configuration)) return state.refuse(id, 'changePending');
    if (!isValidChange(change) || !this.#canPromote(change) || !this.#keepsQuorum(change)) return state.refuse(id, 'invalid');
    state.accept(id, state.log.lastIndex + 1);
    this.#appendOwn('configuration', [encodeChange(change)]);
    this.#replicateAll();
  }

  /** New voters were learners before, have nearly caught up (dissertation §4.2.1), and were heard of lately. */
  #canPromote({ voters }: ConfigurationChange): boolean {
    const { configuration, log, options } = this.#state;
    const added = voters.filter((id) => !isVoter(configuration, id));
    return added.every((id) => {
      const progress = configuration.learners.includes(id) ? this.#progress.get(id) : undefined;
      return progress?.isActive === true && progress.match + options.promotionLagMax >= log.lastIndex;
    });
  }

  /** A change that removes voters must leave a majority that was heard of lately: nobody else could undo it. */
  #keepsQuorum({ voters }: ConfigurationChange): boolean {
    const removes = this.#state.configuration.voters.some((id) => !voters.includes(id));
    return !removes || isQuorum({ voters, outgoing: [], learners: [], learnersNext: [] }, (id) => this.#isActive(id));
  }

  #appendOwn(kind: Entry['kind'], data: readonly Uint8Array[]): void {
    const { log, term } = this.#state;
    this.#state.append(data.map((bytes, at) => ({ index: log.lastIndex + 1 + at, term, kind, data: bytes })));
    if (kind !== 'configuration') return;
    this.#changeIndex = log.lastIndex;
    this.#followMembers();
  }

  // Replication (paper §5.3, dissertation §10.2)

  #replicateAll(): void {
    for (const id of this.#progress.keys()) if (id !== this.#state.id) this.#replicate(id);
  }

  /** Sends until the window is full or the log at its end. */
  #replicate(id: NodeId) {
    const progress = this.#progressOf(id);
    const { log, options } = this.#state;
    while (!progress.isPaused(options)) {
      const isFirst = progress.state === 'probe';
      if (!isFirst && progress.next > log.lastIndex) return;
      const previousTerm = log.termAt(progress.next - 1);
      if (previousTerm === undefined) return this.#startSnapshot(id, progress);
      const entries = log.batch(progress.next, options.entriesPerMessageMax, options.bytesPerMessageMax);
      const previousIndex = progress.next - 1;
      this.#state.send({ type: 'appendRequest', to: id, previousIndex, previousTerm, entries, commit: log.commit });
      progress.sent(
        previousIndex + entries.length,
        entries.reduce((sum, { data }) => sum + data.length, 0),
      );
    }
  }

  #startSnapshot(id: NodeId, progress: Progress): void {
    if (!progress.isActive) return;
    progress.become('snapshot');
    this.#state.sendSnapshot(id);
  }

  appendAnswered({ from, accepted, index, hintIndex, hintTerm, isRecovering }: AppendResponse): void {
    const progress = this.#progress.get(from);
    if (progress === undefined) return;
    progress.isActive = true;
    if (accepted) {
      invariant(index <= this.#state.log.lastIndex, () => `node ${from} acknowledges ${index}, which this leader does not have`);
      if (progress.acknowledged(index)) this.#advance();
    } else {
      const { log } = this.#state;
      const hint = log.lastAtOrBelow(hintIndex, hintTerm);
      if (isRecovering) progress.lost(hint, index === hintIndex && log.termAt(index) === hintTerm);
      else progress.rejected(index, hint);
    }
    if (this.#state.role !== 'leader' || !this.#progress.has(from)) return;
    this.#replicate(from);
    this.#handOver(from);
  }

  heartbeatAnswered({ from, round }: HeartbeatResponse): void {
    const progress = this.#progress.get(from);
    if (progress === undefined) return;
    invariant(round <= this.#round, 'a follower confirms a round that has not begun');
    progress.isActive = true;
    progress.round = Math.max(progress.round, round);
    if (progress.mayAskAgain) this.#askAgain(progress);
    this.#replicate(from);
    this.#confirmReads();
  }

  /**
   * What is on its way may be lost: asks again from the last place that is known. Where entries run ahead, only when nothing new was
   * acknowledged since the time before, so that what is merely slow is not sent twice.
   */
  #askAgain(progress: Progress) {
    const { log, options } = this.#state;
    progress.mayAskAgain = false;
    progress.probeSent = false;
    if (progress.match === log.lastIndex || (!progress.isPaused(options) && progress.next <= log.lastIndex)) return;
    if (progress.state === 'replicate' && progress.matchAtHeartbeat === progress.match) progress.become('probe');
    progress.matchAtHeartbeat = progress.match;
  }

  snapshotSent(to: NodeId, succeeded: boolean): void {
    const progress = this.#progress.get(to);
    if (progress?.state !== 'snapshot') return;
    progress.become('probe');
    if (succeeded) progress.probeSent = true;
  }

  unreachable(peer: NodeId): void {
    const progress = this.#progress.get(peer);
    if (progress?.state === 'replicate') progress.become('probe');
  }

  /** This node's own write is durable: now it counts. An entry that was overwritten since has another term. */
  stored(through: Index, term: Term): void {
    if (this.#state.log.termAt(through) !== term) return;
    if (this.#progress.get(this.#state.id)?.acknowledged(through)) this.#advance();
  }

  /**
   * Commits what a majority has, when it is of this leader's own term: an older entry may be on a majority and vanish all the same (paper
   * §5.4.2, figure 8).
   */
  #advance(): void {
    const state = this.#state;
    const found = quorumIndex(state.configuration, (id) => this.#progress.get(id)?.match ?? 0);
    if (found <= state.log.commit || state.log.termAt(found) !== state.term) return;
    const entries = state.log.slice(state.log.commit + 1, found);
    state.commitThrough(found);
    for (const { kind, term, data } of entries) if (kind === 'command' && term === state.term) this.#uncommittedBytes -= data.length;
    this.#leaveJoint();
    this.#sendHeartbeats();
    // A leader that is no voter any more has done its duty with this entry (dissertation §4.2.2).
    const isRemoved = !isVoter(state.configuration, state.id) && state.configurationIndex <= state.log.commit;
    if (isRemoved) state.becomeFollower(state.term, 0);
  }

  /** Joint consensus ends by itself, once the entry that began it, or the no-op of a new leader, is committed. */
  #leaveJoint(): void {
    if (isJoint(this.#state.configuration) && this.#changeIndex <= this.#state.log.commit) {
      this.#appendOwn('configuration', [encodeChange({ voters: [], learners: [] })]);
      this.#replicateAll();
    }
  }

  /** Tells followers that have everything; the others learn it with the next entries. */
  #sendHeartbeats(): void {
    for (const id of this.#progress.keys()) if (id !== this.#state.id) this.#sendHeartbeat(id);
  }

  #followMembers(): void {
    const { configuration, log, id: own } = this.#state;
    const members = membersOf(configuration);
    for (const id of [...this.#progress.keys()]) if (!members.includes(id)) this.#progress.delete(id);
    for (const id of members) {
      if (this.#progress.has(id)) continue;
      const progress = new Progress(log.lastIndex + 1);
      progress.isActive = true;
      if (id === own) progress.become('replicate');
      this.#progress.set(id, progress);
    }
  }

  // Time

  /** One tick. False when no majority was heard of for a while: then others may have elected a leader (CheckQuorum, dissertation §6.2). */
  tick(): boolean {
    const { heartbeatTicks, electionTicks } = this.#state.options;
    this.#checkElapsed++;
    if (this.#checkElapsed >= electionTicks) {
      this.#checkElapsed = 0;
      if (!isQuorum(this.#state.configuration, (id) => this.#isActive(id))) return false;
      for (const progress of this.#progress.values()) progress.isActive = false;
    }
    if (this.#transferTo !== 0 && ++this.#transferElapsed >= electionTicks) this.#transferTo = 0;
    if (++this.#heartbeatElapsed >= heartbeatTicks) this.#heartbeatAll();
    return true;
  }

  #isActive(id: NodeId): boolean {
    return id === this.#state.id || this.#progress.get(id)?.isActive === true;
  }

  /** Those between them, of commits and reads, let nothing be asked again: a follower that stood still answers thousands of them at once. */
  #heartbeatAll(): void {
    this.#heartbeatElapsed = 0;
    for (const progress of this.#progress.values()) progress.mayAskAgain = true;
    this.#sendHeartbeats();
  }

  /** Never tells of a commit behind what the follower is known to have: its entries there may be others. */
  #sendHeartbeat(to: NodeId): void {
    const commit = Math.min(this.#progressOf(to).match, this.#state.log.commit);
    this.#state.send({ type: 'heartbeat', to, commit, round: this.#round });
  }

  // Reads (ReadIndex, dissertation §6.4)

  /** One round of heartbeats confirms all reads that wait when it begins. */
  read(id: number) {
    const state = this.#state;
    if (!this.#isReady()) return state.refuse(id, 'notReady');
    if (this.#reads.length >= state.options.readsWaitingMax) return state.refuse(id, 'overloaded');
    this.#round++;
    this.#reads.push({ id, index: state.log.commit, round: this.#round });
    this.#sendHeartbeats();
    this.#confirmReads();
  }

  #confirmReads(): void {
    const { configuration, id: own } = this.#state;
    const waiting = this.#reads.findIndex(
      ({ round }) => !isQuorum(configuration, (id) => id === own || (this.#progress.get(id)?.round ?? 0) >= round),
    );
    const confirmed = this.#reads.splice(0, waiting < 0 ? this.#reads.length : waiting);
    for (const { id, index } of confirmed) this.#state.allowRead(id, index);
  }

  /** When the term ends: what still waits gets an answer. */
  end(): void {
    for (const { id } of this.#reads) this.#state.refuse(id, 'notLeader');
    this.#reads = [];
  }

  // Transfer (dissertation §3.10)

  transfer(to: NodeId) {
    const { configuration, id } = this.#state;
    if (to === id || !isVoter(configuration, to) || this.#transferTo === to) return;
    this.#transferTo = to;
    this.#transferElapsed = 0;
    this.#handOver(to);
    if (this.#progress.has(to)) this.#replicate(to);
  }

  #handOver(to: NodeId): void {
    const { log, role } = this.#state;
    if (role !== 'leader' || to !== this.#transferTo || this.#progress.get(to)?.match !== log.lastIndex) return;
    this.#state.send({ type: 'timeoutNow', to });
  }

  #progressOf(id: NodeId): Progress {
    const progress = this.#progress.get(id);
    invariant(progress !== undefined, () => `node ${id} is not followed`);
    return progress;
  }
}
