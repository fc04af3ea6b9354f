import type { ErrorCode } from '../../shared/errors/codes.ts';
import { CepError, invariant } from '../../shared/errors/error.ts';
import { type MembershipChange, type RaftMember, RaftRefusal, type RaftStatus } from '../raft/group.ts';
import { bounds } from '../state/bounds.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { CommandResult } from '../state/commands/outcome.ts';
import { type Command, encodeProposal, formatOf, type RequestId } from '../state/commands.ts';
import { refusalError } from './refusal-error.ts';
import type { Replica, ReplicaListener } from './replica.ts';

/** How long a request waits for a leader. */
const LEADER_WAIT_MS = 2_000;
/** For how long attempts are begun after which the wait begins anew, where one leader follows the other: short ones, and all that only read. */
const CUT_OFF_MS_MAX = 15_000;
/** How often it is looked whether there is one, when nobody says so. */
const LOOK_MS = 50;

/** A command that is done. */
export interface Done {
  readonly value: Extract<CommandResult, { kind: 'done' }>['value'];
  readonly isRepeat: boolean;
  /** Where in the log it stands; of a repeat, where the repeat does. */
  readonly index: number;
}

export interface GroupMemberOptions {
  readonly member: RaftMember;
  readonly replica: Replica;
  /** Epoch ms. */
  readonly clock: () => number;
}

/** What came of an attempt that gave no answer: `undone`, nothing at all; `unknown`, it may have been done, or be done yet. */
export type NoAnswer = 'undone' | 'unknown';

/** An attempt to have something done by a member that leads, as this one knows. */
type Attempt<T> = (status: RaftStatus) => Promise<T | NoAnswer>;

interface Begun<T> {
  readonly attempt: () => Tried<T>;
  /** By the clock of the group, epoch ms. */
  readonly beganAtMs: number;
  readonly first: Tried<T>;
}

interface Tried<T> {
  readonly status: RaftStatus;
  /** Monotonic, ms. */
  readonly beganMs: number;
  readonly outcome: Promise<T | NoAnswer>;
}

export interface LeaderOptions<T> {
  /** Nothing is changed. */
  readonly isRead?: boolean;
  /** With which code an answer says that nothing was done, if it does. @default none does */
  readonly refusedWith?: (answer: T) => string | undefined;
}

/** Refusals of whoever did not look into the log: of an attempt before they say nothing. */
const untried: ReadonlySet<string> = new Set<ErrorCode>([
  'not_leader',
  'not_ready',
  'no_leader',
  'overloaded',
  'pipeline_moving',
  'pipeline_not_running',
  'no_route',
]);

/** One member of the group, as the service sees it: the state that it has, and what the group can be asked for. */
export class GroupMember {
  readonly #member: RaftMember;
  readonly #replica: Replica;
  readonly #clock: () => number;
  /** Asked for in this turn of the loop. */
  #confirming: Promise<number> | undefined;

  constructor({ member, replica, clock }: GroupMemberOptions) {
    this.#member = member;
    this.#replica = replica;
    this.#clock = clock;
  }

  get state(): ClusterState {
    return this.#replica.state;
  }

  status(): RaftStatus {
    return this.#member.status();
  }

  /** Of the group, as far as it is known here, epoch ms. */
  get timeMs(): number {
    return Math.max(this.state.nowMs, this.#clock());
  }

  /** Called when role, leader, term or members have changed. Gives the way to stop it. */
  onStatus(listener: (status: RaftStatus) => void): () => void {
    return this.#member.onStatus(listener);
  }

  /** Called after every command that changed something, and after a snapshot, then without events. Gives the way to stop it. */
  onChange(listener: ReplicaListener): () => void {
    return this.#replica.onChange(listener);
  }

  /**
   * Has something done by the leader: here when this member leads, else by `elsewhere`. While there is no leader, or it changes, waits for
   * two seconds and tries again: what is asked for must have one effect however often it is tried. An attempt that a change of the leader ends
   * leaves that time anew. Once it may have been done, nobody is told that it was not, whatever a later attempt is refused with.
   * @throws CepError `no_leader` when there was none all the time, `outcome_unknown` when it may have been done
   */
  byLeader<T>(here: () => Promise<T>, elsewhere: Attempt<T>, options: LeaderOptions<T> = {}): Promise<T> {
    const attempt = (): Tried<T> => {
      const [status, beganMs] = [this.#member.status(), performance.now()];
      return { status, beganMs, outcome: status.role === 'leader' ? here() : elsewhere(status) };
    };
    const begun = { attempt, beganAtMs: this.timeMs, first: attempt() };
    const { status, outcome } = begun.first;
    if (status.role !== 'leader') return this.#untilAnswered(begun, options);
    // As each event that is injected passes here, what there is for all that may go wrong is made when something does.
    return (outcome as Promise<T>).catch(() => this.#untilAnswered(begun, options));
  }

  async #untilAnswered<T>({ attempt, beganAtMs, first }: Begun<T>, options: LeaderOptions<T>): Promise<T> {
    const { isRead = false, refusedWith = () => undefined } = options;
    let endMs = first.beganMs + LEADER_WAIT_MS;
    let mayHaveHappened = false;
    for (let tried = first; ; tried = attempt()) {
      const { status, beganMs, outcome } = tried;
      const isEarly = beganMs - first.beganMs < CUT_OFF_MS_MAX;
      let isCutOff = false;
      try {
        const answer = await outcome;
        isCutOff = answer === 'unknown' && isEarly;
        if (answer === 'undone' || answer === 'unknown') mayHaveHappened ||= answer === 'unknown' && !isRead;
        else if (!mayHaveHappened) return answer;
        else if (refusedWith(answer) === 'session_expired') throw unknownOutcome();
        else if (!untried.has(refusedWith(answer) ?? '')) return answer;
      } catch (error) {
        if (error instanceof RaftRefusal) {
          mayHaveHappened ||= error.mayHaveHappened && !isRead;
          if (!isPassing(error)) throw refusalOf(error, mayHaveHappened);
        } else if (!mayHaveHappened || !(error instanceof CepError)) throw error;
        // Who handed it on asks the next leader. A session that is forgotten meanwhile says nothing of the attempt before.
        else if (error.code === 'not_leader' || error.code === 'session_expired') throw unknownOutcome();
        else if (!untried.has(error.code)) throw error;
      }
      // The first request of a session that is forgotten would be done again.
      if (mayHaveHappened && this.timeMs - beganAtMs >= bounds.sessionMsMax) throw unknownOutcome();
      const isLong = performance.now() - beganMs > LEADER_WAIT_MS && (isEarly || !isRead);
      if ((isLong || isCutOff) && !isLedAlike(status, this.#member.status())) endMs = performance.now() + LEADER_WAIT_MS;
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) throw mayHaveHappened ? unknownOutcome() : this.#noLeader();
      await this.#change(Math.min(leftMs, LOOK_MS));
    }
  }

  /** On the leader: has a command agreed on. @throws RaftRefusal; CepError what the state refuses it with */
  async propose(command: Command, request: RequestId | undefined): Promise<Done> {
    const { format } = this.state;
    invariant(formatOf(command) <= format, `the group has format ${format}, in which there is no ${command.type}`);
    const { index, result } = await this.#member.propose(encodeProposal({ command, request, atMs: this.#clock() }));
    const known = result as CommandResult;
    if (known.kind === 'done') return { value: known.value, isRepeat: known.isRepeat, index };
    throw refusalError(known.refusal);
  }

  /**
   * On the leader: the state with everything that was acknowledged to anybody before the call. Calls of one turn of the loop are asked for
   * together: each heartbeat makes one. @throws RaftRefusal
   */
  async confirmed(): Promise<{ readonly state: ClusterState; readonly index: number }> {
    this.#confirming ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#confirming = undefined;
        resolve(this.#member.readIndex());
      });
    });
    const index = await this.#confirming;
    return { state: this.#replica.state, index };
  }

  /** On the leader. @throws RaftRefusal */
  changeMembership(change: MembershipChange): Promise<void> {
    return this.#member.changeMembership(change);
  }

  /** On the leader. @throws RaftRefusal */
  transferLeadership(to: number): Promise<void> {
    return this.#member.transferLeadership(to);
  }

  /** Waits, not for long, until the state here shows what was answered elsewhere. False when it does not. */
  catchUp(index: number): Promise<boolean> {
    return this.#replica.reached(index, LEADER_WAIT_MS);
  }

  #noLeader(): CepError {
    const { peers } = this.#member.status();
    const voters = peers.filter(({ role }) => role === 'voter');
    const reachable = voters.filter(({ isReachable }) => isReachable).length;
    const message = `the group has no leader at the moment: ${reachable} of its ${voters.length} voting members can be reached from here`;
    return new CepError('no_leader', message, { hint: 'send it again; nothing of it was done', retryAfterSeconds: 1 });
  }

  /** Resolves when the member says that something changed, at the latest after a time. */
  #change(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(end, withinMs);
      const stop = this.#member.onStatus(end);
    });
  }
}

/** By the same leader in the same term. */
export function isLedAlike(one: RaftStatus, other: RaftStatus): boolean {
  return one.leader === other.leader && one.term === other.term;
}

/** It may be another leader's turn in a moment, or the same request may be sent again. */
function isPassing({ reason }: RaftRefusal): boolean {
  return reason !== 'overloaded' && reason !== 'changePending' && reason !== 'invalid' && reason !== 'stopped';
}

function refusalOf({ reason }: RaftRefusal, mayHaveHappened: boolean): CepError {
  if (mayHaveHappened) return unknownOutcome();
  if (reason === 'overloaded') {
    return new CepError('overloaded', 'the group has more to decide than it can take; nothing of this was done', { retryAfterSeconds: 1 });
  }
  if (reason === 'stopped') return new CepError('not_ready', 'the coordinator is ending', { retryAfterSeconds: 1 });
  if (reason === 'changePending') {
    return new CepError('member_conflict', 'the members of the group are being changed already', { hint: 'try again when that is done' });
  }
  return new CepError('member_conflict', 'the group cannot be changed in this way');
}

function unknownOutcome(): CepError {
  return new CepError('outcome_unknown', 'the group did not say in time whether this was done: it may have been', {
    hint: 'look whether it was done; with an Idempotency-Key it can be sent again without being done twice',
  });
}
