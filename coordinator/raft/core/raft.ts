import { invariant } from '../../../shared/errors/error.ts';
import { Election } from './election.ts';
import { Leadership } from './leadership.ts';
import { RaftLog } from './log.ts';
import type { AppendRequest, Heartbeat, Index, Input, InstallSnapshot, Message, NodeId, Output } from './messages.ts';
import { type RaftOptions, RaftState, type Recovered } from './state.ts';

/**
 * One node of a Raft group as a pure state machine: `step` takes one input and returns what is to be done because of it. It reads no
 * clock, does no I/O and draws from the injected generator only, so the same inputs give the same outputs.
 *
 * The driver writes `Output.write` in order, sends `sendNow` at once and `sendAfter` when everything up to `afterSeq` is durable, and
 * reports what is durable as `stored`. Steps do not nest. A broken invariant throws `InvariantError`: the node must stop.
 *
 * Sources: "the paper" is Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm (extended version, 2014); "the
 * dissertation" is Ongaro, Consensus: Bridging Theory and Practice (2014).
 */
export class Raft {
  readonly #state: RaftState;
  readonly #election: Election;
  #leadership: Leadership | undefined;

  constructor(options: RaftOptions, recovered: Recovered) {
    invariant(options.electionTicks > options.heartbeatTicks && options.heartbeatTicks > 0, 'heartbeats come less often than elections');
    const { snapshot, entries, hardState } = recovered;
    const log = new RaftLog(snapshot.index, snapshot.term, entries, hardState.commit);
    this.#state = new RaftState(options, log, recovered);
    this.#election = new Election(this.#state);
  }

  /** What can be seen of a node; for metrics, tests and checks. */
  get view(): Readonly<RaftState> {
    return this.#state;
  }

  get leadership(): Leadership | undefined {
    return this.#leadership;
  }

  step(input: Input): Output {
    this.#take(input);
    if (this.#leadership !== undefined && this.#state.role !== 'leader') {
      this.#leadership.end();
      this.#leadership = undefined;
    }
    return this.#state.takeOutput();
  }

  #take(input: Input) {
    const leadership = this.#leadership;
    switch (input.type) {
      case 'tick':
        return this.#tick();
      case 'message':
        return this.#receive(input.message);
      case 'propose':
        return leadership ? leadership.propose(input.id, input.data) : this.#state.refuse(input.id, 'notLeader');
      case 'proposeConfiguration':
        return leadership ? leadership.proposeConfiguration(input.id, input.change) : this.#state.refuse(input.id, 'notLeader');
      case 'read':
        return leadership ? leadership.read(input.id) : this.#state.refuse(input.id, 'notLeader');
      case 'transfer':
        return leadership?.transfer(input.to);
      case 'forgetLeader':
        return this.#forgetLeader(input.suspect);
      case 'stored':
        leadership?.stored(input.through, input.term);
        return this.#leadWhen(this.#election.stored(input.seq));
      case 'compact':
        return this.#state.compactTo(Math.max(0, input.index - input.keep));
      case 'snapshotSent':
        return leadership?.snapshotSent(input.to, input.succeeded);
      case 'unreachable':
        return leadership?.unreachable(input.peer);
    }
  }

  #leadWhen(won: boolean): void {
    if (won) this.#leadership = new Leadership(this.#state);
  }

  #tick() {
    const state = this.#state;
    if (this.#leadership !== undefined) {
      if (!this.#leadership.tick()) state.becomeFollower(state.term, 0);
      return;
    }
    state.electionElapsed++;
    if (state.canCampaign && state.electionElapsed >= state.electionTimeout) this.#leadWhen(this.#election.begin());
  }

  /**
   * The connection to the leader has closed: believe in it no longer, answer others' questions, and ask soon oneself. Only a hint: a real
   * election needs a majority of nodes that do not hear of the leader either.
   */
  #forgetLeader(suspect: NodeId): void {
    const state = this.#state;
    if (state.role !== 'follower' || state.leader !== suspect || suspect === 0) return;
    state.leader = 0;
    state.electionElapsed = state.electionTimeout - 1 - state.options.random(2);
  }

  #receive(message: Message) {
    const state = this.#state;
    invariant(message.to === state.id && message.from !== state.id, 'a message has gone astray');
    if (message.term > state.term && !this.#meetNewTerm(message)) return;
    if (message.term < state.term) return this.#answerOldTerm(message);
    switch (message.type) {
      case 'voteRequest':
        return this.#election.requested(message);
      case 'voteResponse':
        return this.#leadWhen(this.#election.answered(message));
      case 'appendRequest':
        this.#follow(message.from);
        return this.#append(message);
      case 'heartbeat':
        this.#follow(message.from);
        return this.#heartbeat(message);
      case 'installSnapshot':
        this.#follow(message.from);
        return this.#install(message);
      case 'appendResponse':
        return this.#leadership?.appendAnswered(message);
      case 'heartbeatResponse':
        return this.#leadership?.heartbeatAnswered(message);
      case 'timeoutNow':
        if (state.canCampaign && state.role === 'follower') this.#leadWhen(this.#election.campaign(true));
    }
  }

  /** A higher term ends this one's; but questions and candidates do not while the leader lives. False when the message is dealt with. */
  #meetNewTerm(message: Message): boolean {
    const state = this.#state;
    const isPromise = message.type === 'voteResponse' && message.pre && message.granted;
    if (message.type === 'voteRequest') {
      const hearsLeader = state.leader !== 0 && (state.role === 'leader' || state.electionElapsed < state.options.electionTicks);
      if (hearsLeader && !message.transfer) return false;
      if (message.pre) {
        this.#election.requested(message);
        return false;
      }
    }
    if (isPromise) {
      this.#leadWhen(this.#election.answered(message));
      return false;
    }
    const isOfLeader = message.type === 'appendRequest' || message.type === 'heartbeat' || message.type === 'installSnapshot';
    state.becomeFollower(message.term, isOfLeader ? message.from : 0);
    return true;
  }

  /**
   * A node that is ahead in terms, which questions beforehand make rare, could not be reached by its leader's messages for ever, nor win
   * itself: its answer makes the old leader step down. Other old messages say nothing any more.
   */
  #answerOldTerm(message: Message) {
    if (message.type === 'appendRequest' || message.type === 'heartbeat') {
      this.#refuseAppend(message.from, 0, 0);
    } else if (message.type === 'voteRequest' && message.pre) {
      this.#state.promise({ type: 'voteResponse', to: message.from, pre: true, granted: false });
    }
  }

  #follow(leader: NodeId): void {
    const state = this.#state;
    invariant(state.role !== 'leader', () => `term ${state.term} has two leaders: ${state.id} and ${leader}`);
    if (state.role === 'follower' && state.leader === leader) state.electionElapsed = 0;
    else state.becomeFollower(state.term, leader);
  }

  #append({ from, previousIndex, previousTerm, entries, commit }: AppendRequest) {
    const { log } = this.#state;
    if (previousIndex < log.commit && previousIndex + entries.length <= log.commit) return this.#acknowledge(from, log.commit);
    const agrees = previousIndex < log.baseIndex || log.termAt(previousIndex) === previousTerm;
    if (!agrees) return this.#refuseAppend(from, previousIndex, log.lastAtOrBelow(previousIndex, previousTerm));
    this.#state.merge(entries);
    const last = previousIndex + entries.length;
    this.#state.commitThrough(Math.max(log.commit, Math.min(commit, last)));
    this.#acknowledge(from, last);
  }

  #acknowledge(to: NodeId, index: Index): void {
    this.#state.promise({ type: 'appendResponse', to, accepted: true, index, hintIndex: 0, hintTerm: 0, isRecovering: false });
  }

  #refuseAppend(to: NodeId, index: Index, hintIndex: Index): void {
    const hintTerm = this.#state.log.termAt(hintIndex) ?? 0;
    const isRecovering = !this.#state.canVote;
    this.#state.promise({ type: 'appendResponse', to, accepted: false, index, hintIndex, hintTerm, isRecovering });
  }

  /**
   * A leader tells of what is committed no further than this node has acknowledged. What a recovering node acknowledged may be lost, and
   * others' entries stand there: it says where its log ends, and believes entries only.
   */
  #heartbeat({ from, commit, round }: Heartbeat): void {
    const { log, canVote } = this.#state;
    if (canVote && commit > log.commit) this.#state.commitThrough(Math.min(commit, log.lastIndex));
    if (!canVote) this.#refuseAppend(from, log.lastIndex, log.lastIndex);
    this.#state.promise({ type: 'heartbeatResponse', to: from, round });
  }

  /** A log that already agrees with the snapshot keeps what it has behind it. */
  #install({ from, meta }: InstallSnapshot) {
    const state = this.#state;
    if (meta.index > state.log.commit) {
      if (state.log.termAt(meta.index) === meta.term) state.commitThrough(meta.index);
      else state.installSnapshot(meta);
    }
    this.#acknowledge(from, state.log.commit);
  }
}
