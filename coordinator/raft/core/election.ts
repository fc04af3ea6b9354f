import { invariant } from '../../../shared/errors/error.ts';
import { isLost, isQuorum, membersOf } from './configuration.ts';
import type { NodeId, VoteRequest, VoteResponse } from './messages.ts';
import type { RaftState } from './state.ts';

/** Elections of one node (paper §5.2 and §5.4.1, dissertation §4.2.3 and §9.6). */
export class Election {
  readonly #state: RaftState;
  readonly #votes = new Map<NodeId, boolean>();
  /** A vote for oneself counts like any other: once it is durable, which it is with this write. */
  #ownVoteSeq: number | undefined;

  constructor(state: RaftState) {
    this.#state = state;
  }

  /** Asks whether an election could be won, before anything is disturbed by one. True when it is won already: there are no others. */
  begin(): boolean {
    const state = this.#state;
    invariant(state.canCampaign && state.role !== 'leader', 'an election is begun by a node that may not');
    state.role = 'preCandidate';
    state.leader = 0;
    this.#reset();
    this.#votes.set(state.id, true);
    if (isQuorum(state.configuration, (id) => this.#votes.get(id) === true)) return this.campaign(false);
    this.#ask(true, false);
    return false;
  }

  /** A real one, in a new term. The vote is written before anybody is asked. */
  campaign(transfer: boolean): boolean {
    const state = this.#state;
    state.becomeFollower(state.term + 1, 0);
    state.role = 'candidate';
    state.vote = state.id;
    this.#reset();
    this.#ownVoteSeq = state.seq + 1;
    this.#ask(false, transfer);
    return false;
  }

  #reset(): void {
    this.#votes.clear();
    this.#ownVoteSeq = undefined;
    this.#state.electionElapsed = 0;
    this.#state.drawTimeout();
  }

  #ask(pre: boolean, transfer: boolean): void {
    const { id, term, log, configuration } = this.#state;
    const request = { type: 'voteRequest', pre, transfer, lastIndex: log.lastIndex, lastTerm: log.lastTerm } as const;
    const voters = membersOf({ ...configuration, learners: [], learnersNext: [] }).filter((to) => to !== id);
    for (const to of voters) this.#state.promise({ ...request, to, term: pre ? term + 1 : term });
  }

  /** True when this wins the election. */
  stored(seq: number): boolean {
    const { role, id } = this.#state;
    if (role !== 'candidate' || this.#ownVoteSeq === undefined || seq < this.#ownVoteSeq) return false;
    this.#ownVoteSeq = undefined;
    return this.#count(id, true);
  }

  /** True when this wins the election. */
  answered({ from, term, pre, granted }: VoteResponse): boolean {
    const state = this.#state;
    if (pre !== (state.role === 'preCandidate') || (!pre && state.role !== 'candidate')) return false;
    if (granted && term !== (pre ? state.term + 1 : state.term)) return false;
    return this.#count(from, granted);
  }

  #count(from: NodeId, granted: boolean): boolean {
    const state = this.#state;
    if (!this.#votes.has(from)) this.#votes.set(from, granted);
    const isPre = state.role === 'preCandidate';
    if (isQuorum(state.configuration, (id) => this.#votes.get(id) === true)) return isPre ? this.campaign(false) : true;
    if (isLost(state.configuration, (id) => this.#votes.get(id) === false)) state.becomeFollower(state.term, 0);
    return false;
  }

  /**
   * Answers a candidate. A follower that hears of a living leader gives no vote, so that a member cut off or removed disturbs nobody
   * (dissertation §4.2.3); `message.term` is this node's by now, except in questions beforehand.
   */
  requested({ from, term, pre, lastIndex, lastTerm }: VoteRequest): void {
    const state = this.#state;
    invariant(pre || term === state.term, 'a vote is asked for in another term');
    const isFree = pre ? term > state.term : state.vote === from || (state.vote === 0 && state.leader === 0);
    const granted = state.canVote && isFree && state.log.isUpToDate(lastIndex, lastTerm);
    if (granted && !pre) {
      state.vote = from;
      state.electionElapsed = 0;
    }
    state.promise({ type: 'voteResponse', to: from, pre, granted, term: granted ? term : state.term });
  }
}
