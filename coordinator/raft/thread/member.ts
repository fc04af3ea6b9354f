import type { Worker } from 'node:worker_threads';
import { CepError, invariant } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import type { TlsPair } from '../../../shared/security/tls-files.ts';
import { receivedError } from '../../../shared/threads/sent-error.ts';
import type { Index, NodeId } from '../core/messages.ts';
import { raftDefaults } from '../core/state.ts';
import {
  type MembershipChange,
  type Proposed,
  type RaftMember,
  type RaftMemberOptions,
  type RaftPeer,
  RaftRefusal,
  type RaftStatus,
} from '../group.ts';
import { MemberMetrics } from './member-metrics.ts';
import { decodeCommitted, encodeProposals, type FromRaftThread, joined, type ThreadStatus, type ToRaftThread } from './messages.ts';

/** Everything that is asked is answered or given up within this time. */
const answerMsMax = 10_000;
const pendingMax = 10_000;
const pendingBytesMax = 16_777_216;
/** Until the Raft thread is told what is applied, which only makes room for more: 16 MiB may be on their way. */
const appliedMs = 20;
/** Time for which a snapshot is made before everything else gets its turn. */
const sliceMsMax = 4;

interface Pending {
  readonly resolve: (answer: Proposed) => void;
  readonly reject: (error: Error) => void;
  readonly bytes: number;
  readonly since: number;
}

/** A status, and what it was made of. */
interface Told {
  readonly of: ThreadStatus;
  readonly applied: Index;
  readonly peers: readonly RaftPeer[];
  readonly status: RaftStatus;
}

/** A member as the thread with the state machine sees it. */
export class ThreadedMember implements RaftMember {
  readonly port: number;
  readonly failed: Promise<Error>;
  readonly #options: RaftMemberOptions;
  readonly #worker: Worker;
  readonly #metrics: MemberMetrics;
  readonly #pending = new Map<number, Pending>();
  #pendingBytes = 0;
  #nextId = 1;
  /** Proposed in this turn of the loop. */
  #commands: Uint8Array[] = [];
  /** By number, each until it is committed or refused, though nobody may wait for it any more. */
  readonly #proposed = new Map<number, Uint8Array>();
  #peers: readonly RaftPeer[];
  #status: ThreadStatus;
  #told: Told | undefined;
  readonly #listeners = new Set<(status: RaftStatus) => void>();
  #applied: Index;
  #appliedTimer: NodeJS.Timeout | undefined;
  #isStopped = false;
  readonly #sweeper: NodeJS.Timeout;
  #tellFailed: (error: Error) => void = () => undefined;
  #tellClosed: () => void = () => undefined;

  constructor(
    options: RaftMemberOptions,
    worker: Worker,
    started: { readonly port: number; readonly status: ThreadStatus; readonly applied: Index },
  ) {
    this.#options = options;
    this.#worker = worker;
    this.#peers = options.peers;
    this.port = started.port;
    this.#status = started.status;
    this.#applied = started.applied;
    this.failed = new Promise((resolve) => {
      this.#tellFailed = resolve;
    });
    this.#metrics = new MemberMetrics(
      options.telemetry.metrics,
      () => this.#status,
      () => this.#applied,
    );
    this.#sweeper = setInterval(() => {
      this.#sweep();
      this.#post({ kind: 'awake' });
    }, 250);
    this.#sweeper.unref();
    worker.on('message', (message: FromRaftThread) => this.#take(message));
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', () => {
      if (!this.#isStopped) this.#fail(new Error('the Raft thread has ended'));
      this.#tellClosed();
    });
  }

  // What is asked

  propose(command: Uint8Array): Promise<Proposed> {
    if (command.length > limits.raftCommandBytesMax) {
      const found = `a command of ${command.length} bytes is proposed, and none may have more than ${limits.raftCommandBytesMax}`;
      return Promise.reject(new CepError('payload_too_large', found));
    }
    return this.#ask(command.length, (id) => {
      this.#proposed.set(id, command);
      this.#commands.push(command);
      if (this.#commands.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const commands = this.#commands;
    this.#commands = [];
    if (this.#isStopped) return;
    const message = encodeProposals(this.#nextId - commands.length, commands);
    this.#post(message, [message.memory]);
  }

  async readIndex(): Promise<Index> {
    const { index } = await this.#ask(0, (id) => this.#post({ kind: 'read', id }));
    return index;
  }

  async changeMembership(change: MembershipChange): Promise<void> {
    await this.#ask(0, (id) => this.#post({ kind: 'changeMembers', id, change }));
  }

  /** Commands before it leave first, so that numbers of commands follow each other. */
  #ask(bytes: number, send: (id: number) => void): Promise<Proposed> {
    if (this.#isStopped) return Promise.reject(new RaftRefusal('stopped'));
    if (this.#pending.size >= pendingMax || this.#pendingBytes + bytes > pendingBytesMax)
      return Promise.reject(this.#refusal('overloaded'));
    return new Promise((resolve, reject) => {
      if (bytes === 0 && this.#commands.length > 0) this.#flush();
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject, bytes, since: performance.now() });
      this.#pendingBytes += bytes;
      send(id);
    });
  }

  async transferLeadership(to: NodeId): Promise<void> {
    const self = this.#options.nodeId;
    const { role, leader, members } = this.#status;
    if (role !== 'leader') throw this.#refusal('notLeader', leader);
    if (to === self) return;
    if (!members.some(({ id, isVoter }) => id === to && isVoter)) throw this.#refusal('invalid', leader);
    this.#post({ kind: 'transfer', to });
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => {
          stop();
          reject(this.#refusal('timeout', this.#status.leader));
        },
        2 * raftDefaults.electionTicks * tickMsOf(this.#options),
      );
      const stop = this.onStatus((status) => {
        if (status.leader === 0 || status.leader === self) return;
        clearTimeout(timer);
        stop();
        resolve();
      });
    });
  }

  setPeers(peers: readonly RaftPeer[], removed: readonly NodeId[] = []): void {
    this.#peers = peers;
    if (!this.#isStopped) this.#post({ kind: 'peers', peers, removed });
  }

  renewCertificate(pair: TlsPair): void {
    if (!this.#isStopped) this.#post({ kind: 'certificate', pair });
  }

  /** Each request asks for it, and it is made anew only when something has changed. */
  status(): RaftStatus {
    const [of, applied, peers] = [this.#status, this.#applied, this.#peers];
    if (this.#told?.of !== of || this.#told.applied !== applied || this.#told.peers !== peers)
      this.#told = { of, applied, peers, status: this.#statusNow() };
    return this.#told.status;
  }

  #statusNow(): RaftStatus {
    const { role, leader, term, commitIndex, lastIndex, isRecovering, isRemoved, members, formats } = this.#status;
    const urlOf = (id: NodeId): string | undefined => this.#peers.find((peer) => peer.id === id)?.url;
    return {
      nodeId: this.#options.nodeId,
      role,
      leader,
      leaderUrl: urlOf(leader),
      term,
      commitIndex: Math.max(commitIndex, this.#applied),
      appliedIndex: this.#applied,
      lastIndex: Math.max(lastIndex, this.#applied),
      isRecovering,
      isRemoved,
      peers: members.map(({ id, isVoter, matchIndex }) => ({
        id,
        url: urlOf(id) ?? '',
        role: isVoter ? 'voter' : 'learner',
        isReachable: formats.has(id),
        formatMax: formats.get(id),
        matchIndex,
        lag: matchIndex === undefined ? undefined : Math.max(0, lastIndex - matchIndex),
      })),
    };
  }

  onStatus(listener: (status: RaftStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close({ transfer } = { transfer: false }): Promise<void> {
    if (this.#isStopped) return;
    const closed = new Promise<void>((resolve) => {
      this.#tellClosed = resolve;
    });
    this.#post({ kind: 'close', transfers: transfer });
    // Twice what handing over takes at most, and the last write.
    const timer = setTimeout(() => void this.#worker.terminate(), 2 * raftDefaults.electionTicks * tickMsOf(this.#options) + 5_000);
    await closed;
    clearTimeout(timer);
    this.#halt();
  }

  // What the Raft thread says

  #take(message: FromRaftThread) {
    switch (message.kind) {
      case 'committed':
        return this.#apply(() => this.#applyAll(message));
      case 'restore':
        return this.#apply(() => {
          this.#options.state.restore(message.state);
          this.#applied = message.index;
          this.#options.state.passed?.(message.index);
        });
      case 'done':
        return this.#settle(message.id, ({ resolve }) => resolve({ index: message.index, term: this.#status.term, result: undefined }));
      case 'refused':
        this.#proposed.delete(message.id);
        return this.#settle(message.id, ({ reject }) => reject(this.#refusal(message.reason, message.leader)));
      case 'snapshotWanted':
        return void this.#takeSnapshot().catch((error: Error) => this.#fail(error));
      case 'status':
        return this.#tellStatus(message.status);
      case 'event':
        return this.#options.telemetry.report(message.name, message.fields as never);
      case 'failed':
        return this.#fail(receivedError(message.error));
      case 'closed':
        this.#isStopped = true;
    }
  }

  /** What the state machine cannot take is a defect: it would differ from the others' from here on. */
  #apply(work: () => void): void {
    if (this.#isStopped) return;
    try {
      work();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #applyAll(message: Extract<FromRaftThread, { kind: 'committed' }>): void {
    for (const { entry, proposal } of decodeCommitted(message, (id) => this.#takeProposed(id))) {
      const { index, term, data } = entry;
      const isCommand = entry.kind === 'command';
      const result = isCommand ? this.#options.state.apply({ index, term, data }) : undefined;
      this.#applied = index;
      if (!isCommand) this.#options.state.passed?.(index);
      if (proposal !== 0) this.#settle(proposal, ({ resolve }) => resolve({ index, term, result }));
    }
    this.#appliedTimer ??= setTimeout(() => {
      this.#appliedTimer = undefined;
      this.#post({ kind: 'applied', index: this.#applied });
    }, appliedMs);
  }

  #takeProposed(id: number): Uint8Array {
    const command = this.#proposed.get(id);
    invariant(command !== undefined, `the proposal ${id} is committed, and was not made or had its answer before`);
    this.#proposed.delete(id);
    return command;
  }

  #settle(id: number, how: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    this.#pendingBytes -= pending.bytes;
    this.#metrics.answered(performance.now() - pending.since);
    how(pending);
  }

  async #takeSnapshot(): Promise<void> {
    const index = this.#applied;
    const pieces: Uint8Array[] = [];
    let until = performance.now() + sliceMsMax;
    for (const piece of this.#options.state.save()) {
      pieces.push(piece);
      if (performance.now() < until) continue;
      await new Promise((resume) => setImmediate(resume));
      until = performance.now() + sliceMsMax;
    }
    const state = joined(pieces);
    if (!this.#isStopped) this.#post({ kind: 'snapshot', index, state }, [state.buffer]);
  }

  #tellStatus(status: ThreadStatus): void {
    const before = this.#status;
    this.#status = status;
    const { telemetry } = this.#options;
    if (status.leader !== before.leader || status.term !== before.term) {
      const { leader, term, role } = status;
      telemetry.report('RaftLeadershipChanged', { leader, term, role });
    }
    if (status.isRecovering && !before.isRecovering) telemetry.report('RaftRecovering', {});
    const now = this.status();
    for (const listener of this.#listeners) listener(now);
  }

  #sweep(): void {
    const oldest = performance.now() - answerMsMax;
    for (const [id, { since }] of this.#pending) {
      if (since > oldest) break;
      this.#settle(id, ({ reject }) => reject(this.#refusal('timeout', this.#status.leader)));
    }
  }

  #refusal(reason: RaftRefusal['reason'], leader: NodeId = this.#status.leader): RaftRefusal {
    const known = reason === 'notLeader' && leader === 0 ? 'noLeader' : reason;
    this.#metrics.refused(known);
    return new RaftRefusal(known, leader, this.#peers.find(({ id }) => id === leader)?.url);
  }

  #post(message: ToRaftThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #fail(error: Error): void {
    if (this.#isStopped) return;
    this.#halt();
    this.#options.telemetry.report('RaftMemberFailed', { error: error.message });
    this.#tellFailed(error);
    void this.#worker.terminate();
  }

  #halt(): void {
    this.#isStopped = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#appliedTimer);
    for (const id of [...this.#pending.keys()]) this.#settle(id, ({ reject }) => reject(new RaftRefusal('stopped')));
  }
}

export function tickMsOf({ timers }: RaftMemberOptions): number {
  return timers?.tickMs ?? 50;
}
