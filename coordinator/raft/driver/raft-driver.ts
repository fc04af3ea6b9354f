import { CepError, invariant } from '../../../shared/errors/error.ts';
import { isVoter, membersOf } from '../core/configuration.ts';
import type { ConfigurationChange, Entry, Index, Input, NodeId, Output, Refusal, Role, Term, Write } from '../core/messages.ts';
import { Raft } from '../core/raft.ts';
import { raftDefaults } from '../core/state.ts';
import { decodeIdentity, type Identity } from '../storage/codec.ts';
import type { LogStorage, SnapshotLayout, Step } from '../storage/log-storage.ts';
import { openLog } from '../storage/open-log.ts';
import { DamagedRecord } from '../storage/record.ts';
import { decodePacket, encodePacket, type Packet } from '../transport/packet.ts';
import { DiskWatch } from './disk-watch.ts';
import { HeldHeartbeats } from './held-heartbeats.ts';
import { HeldPromises } from './held-promises.ts';
import { LevelDisk } from './level-disk.ts';
import { SnapshotTraffic } from './snapshot-traffic.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * Why nothing came of what was asked. `superseded`: another entry has the place of this one, which has not happened and will not.
 * `timeout`: a snapshot came that has this place in it, and does not say whose entry it was.
 */
export type DriverRefusal = Refusal | 'superseded' | 'timeout';

export interface Delivered {
  readonly entry: Entry;
  /** The number under which it was proposed here, or 0. */
  readonly proposal: number;
}

/** What the node says to the thread that holds the state machine, in this order. */
export interface DriverOutlet {
  /** The state up to `index` stands in the place of everything before. */
  readonly restore: (state: Uint8Array, index: Index) => void;
  /** What is committed, each entry once, in order. `RaftDriver.applied` makes room for more. */
  readonly committed: (batch: readonly Delivered[]) => void;
  /** The read or the change of members with this number; everything up to `index` was delivered before. */
  readonly done: (id: number, index: Index) => void;
  readonly refused: (id: number, reason: DriverRefusal, leader: NodeId) => void;
  /** Asks for `RaftDriver.snapshotTaken`. */
  readonly snapshotWanted: () => void;
  /** Role, leader, term or members are others now. */
  readonly changed: () => void;
  /** A write took so long until it was durable. */
  readonly written: (ms: number) => void;
  /** This node leads, and its disk is slower than those of the others, by so much: another should lead. Once a minute at most. */
  readonly diskIsSlow: (lagMs: number) => void;
  /** The loop stood still for so long. */
  readonly stalled: (ms: number) => void;
  /** The node has stopped by itself, and the process must end: what its disk holds is not known before it is opened again. */
  readonly failed: (cause: unknown) => void;
}

export interface RaftDriverOptions {
  readonly folder: string;
  /** Of a node that is new; the incarnation and the voters of one that is not are those on its disk. */
  readonly identity: Identity;
  /** To another node. It may be lost, come late or twice. False when it is known to be lost: where there is no room, it is not even made. */
  readonly send: (to: NodeId, make: () => Uint8Array, purpose: 'messages' | 'snapshots') => boolean;
  readonly outlet: DriverOutlet;
  /** A whole number, `0 <= n < bound`. */
  readonly random: (bound: number) => number;
  /** What was found damaged at the start, one sentence each. */
  readonly report: (problem: string) => void;
  /** @default 50 ms */
  readonly tickMs?: number | undefined;
  /** A snapshot is made after so many entries. @default 10000 */
  readonly snapshotEntries?: number | undefined;
  /** Entries kept behind a snapshot for followers that are slow. @default 5000 */
  readonly entriesKept?: number | undefined;
  /** Of these entries together, in memory and on disk: who is further behind is given the snapshot. @default 32 MiB */
  readonly bytesKept?: number | undefined;
}

export interface DriverStatus {
  readonly role: Role;
  readonly leader: NodeId;
  readonly term: Term;
  readonly commitIndex: Index;
  readonly lastIndex: Index;
  readonly isRecovering: boolean;
  readonly members: readonly { readonly id: NodeId; readonly isVoter: boolean; readonly matchIndex: Index | undefined }[];
}

/** What one proposal to the core may have. */
const batchEntriesMax = raftDefaults.entriesPerMessageMax;
const batchBytesMax = raftDefaults.bytesPerMessageMax;
/** Of commands that were delivered and are not applied. */
const deliveredBytesMax = 16_777_216;
/**
 * A snapshot is made, too, after so many bytes of commands: a start reads them all, and a snapshot has megabytes of events that no
 * checkpoint has yet.
 */
const snapshotBytes = 33_554_432;
/** So many times the bytes that are kept behind a snapshot are kept for a follower to which an older one is on its way. */
const awaitedFactor = 4;
/**
 * For so long a node that nobody here waits for collects what is committed before it hands it on: to wake the thread of the state machine
 * for each entry takes more of the processor than anything else that a follower does for it.
 */
const collectMs = 5;

/**
 * One node of a Raft group with its disk and clock. The core decides; this does what it says, in the order that it says. The state machine
 * is elsewhere, perhaps in another thread, and takes its time.
 */
export class RaftDriver {
  readonly identity: Identity;
  readonly #options: RaftDriverOptions & {
    readonly tickMs: number;
    readonly snapshotEntries: number;
    readonly entriesKept: number;
    readonly bytesKept: number;
  };
  readonly #raft: Raft;
  readonly #storage: LogStorage;
  readonly #disk: LevelDisk;
  readonly #queue: WriteQueue;
  readonly #snapshots: SnapshotTraffic;
  readonly #heartbeats: HeldHeartbeats;
  readonly #promises: HeldPromises;
  readonly #diskWatch: DiskWatch;
  /** Commands that wait to be proposed together. */
  #commands: { readonly id: number; readonly data: Uint8Array }[] = [];
  #commandsBytes = 0;
  /** Numbers of the proposals in what the core was asked, by the number of that. */
  readonly #asked = new Map<number, readonly number[]>();
  /** What has a place in the log, by that place. */
  readonly #accepted = new Map<Index, { readonly id: number; readonly term: Term }>();
  #reads: { readonly id: number; readonly index: Index }[] = [];
  #durableSeq = 0;
  #delivered: Index;
  /** Delivered and not applied. */
  #unapplied: { readonly last: Index; readonly bytes: number }[] = [];
  #unappliedBytes = 0;
  #bytesSinceSnapshot = 0;
  #isSnapshotDue = false;
  /** What was told last. */
  #seen: Pick<Raft['view'], 'role' | 'leader' | 'term' | 'configuration' | 'canVote'> | undefined;
  #isProposing = false;
  #isDelivering = false;
  #collecting: NodeJS.Timeout | undefined;
  #nextAsk = 1;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isStepping = false;

  /**
   * Opens the data, or makes it when the folder is new, and takes part in the group once `begin` is called.
   * @throws CepError `io_error` when the node may not take part with what its disk holds, or another process has it open
   */
  static async start(options: RaftDriverOptions): Promise<RaftDriver> {
    const { folder, identity, report } = options;
    let { disk, image } = await LevelDisk.open(folder);
    let opened = openLog(image, identity);
    if (opened.kind === 'absent') {
      await disk.create(identity, new Uint8Array(0));
      await disk.close();
      ({ disk, image } = await LevelDisk.open(folder));
      opened = openLog(image, identity);
    }
    if (opened.kind !== 'opened') {
      await disk.close();
      const reason = opened.kind === 'refused' ? opened.reason : 'nothing that was written is there';
      throw new CepError('io_error', `the data in '${folder}' cannot be used: ${reason}`);
    }
    for (const problem of opened.problems) report(problem);
    for (const step of opened.repair) await disk.write(step);
    return new RaftDriver(options, disk, { ...opened, identity: decodeIdentity(image.identity as Uint8Array) });
  }

  private constructor(
    options: RaftDriverOptions,
    disk: LevelDisk,
    { recovered, state, storage, identity }: Extract<ReturnType<typeof openLog>, { kind: 'opened' }> & { readonly identity: Identity },
  ) {
    const { tickMs = 50, snapshotEntries = 10_000, entriesKept = 5_000, bytesKept = 33_554_432 } = options;
    this.#options = { ...options, tickMs, snapshotEntries, entriesKept, bytesKept };
    this.identity = identity;
    this.#disk = disk;
    this.#storage = storage;
    this.#queue = new WriteQueue({
      disk: { writeBatch: (operations) => disk.writeBatch(operations), writeWitness: (bytes) => disk.writeWitness(bytes) },
      failed: (cause) => this.#fail(cause),
      settled: () => this.#proposeAll(),
      durable: (ms) => options.outlet.written(ms),
    });
    this.#raft = new Raft({ ...raftDefaults, id: identity.nodeId, random: options.random }, recovered);
    this.#snapshots = new SnapshotTraffic({
      id: identity.nodeId,
      storage,
      send: (to, packet) => this.#send(to, packet),
      write: (steps, done) => this.#queue.pushEach(steps, () => this.#isStopped || done()),
      step: (input) => this.#step(input),
      repeatMs: 10 * tickMs,
    });
    this.#heartbeats = new HeldHeartbeats((message) => this.#send(message.to, { kind: 'message', message }));
    this.#promises = new HeldPromises((message) => this.#send(message.to, { kind: 'message', message }));
    this.#diskWatch = new DiskWatch(raftDefaults.electionTicks * tickMs);
    this.#snapshots.keep(state);
    this.#delivered = recovered.snapshot.index;
    options.outlet.restore(state, this.#delivered);
  }

  /** From now on the clock goes, and what is known to be committed is delivered. */
  begin(): void {
    this.#deliver();
    this.#tickLater();
    // Of snapshots from before, whose end the process may not have lived to see.
    this.#disk.reclaim();
  }

  get view(): Raft['view'] {
    return this.#raft.view;
  }

  get status(): DriverStatus {
    const { role, leader, term, log, configuration, canVote } = this.#raft.view;
    const followers = this.#raft.leadership?.followers;
    const members = membersOf(configuration).map((id) => ({
      id,
      isVoter: isVoter(configuration, id),
      matchIndex: followers?.get(id)?.match,
    }));
    return { role, leader, term, commitIndex: log.commit, lastIndex: log.lastIndex, isRecovering: !canVote, members };
  }

  // What is asked

  /**
   * Answered by `committed` or `refused`, if this node is not stopped before. While a write is on its way, which may hang, no more bytes wait
   * here than may be in the log without being committed.
   */
  propose(id: number, data: Uint8Array) {
    if (this.#commandsBytes > 0 && this.#commandsBytes + data.length > raftDefaults.uncommittedBytesMax)
      return this.#options.outlet.refused(id, 'overloaded', this.#raft.view.leader);
    this.#commands.push({ id, data });
    this.#commandsBytes += data.length;
    this.#proposeSoon();
  }

  /** More than one other voter takes a second change, which follows by itself. */
  changeMembers(id: number, change: ConfigurationChange): void {
    this.#ask([id], (ask) => ({ type: 'proposeConfiguration', id: ask, change }));
  }

  /** Done when everything that was acknowledged to anybody before the call is delivered. */
  read(id: number): void {
    this.#ask([id], (ask) => ({ type: 'read', id: ask }));
  }

  transferTo(to: NodeId): void {
    this.#step({ type: 'transfer', to });
  }

  /** The process of this node is gone. */
  forgetLeader(suspect: NodeId): void {
    this.#step({ type: 'forgetLeader', suspect });
  }

  /** The state machine has everything up to `index`. */
  applied(index: Index): void {
    while ((this.#unapplied[0]?.last ?? Number.POSITIVE_INFINITY) <= index) this.#unappliedBytes -= this.#unapplied.shift()?.bytes ?? 0;
    this.#deliver();
  }

  /** The state as it was when everything up to `index` was applied. */
  snapshotTaken(index: Index, state: Uint8Array) {
    const term = this.#raft.view.log.termAt(index);
    // The snapshot of a leader may have come first.
    if (this.#isStopped || term === undefined || index <= this.#storage.manifest.index) {
      this.#isSnapshotDue = false;
      return;
    }
    this.#bytesSinceSnapshot = 0;
    const layout = this.#storage.layOut({ index, term, configuration: this.#raft.view.configurationAt(index) }, state);
    this.#queue.pushEach(this.#compaction(layout, index, state), () => {
      this.#isSnapshotDue = false;
      this.#disk.reclaim();
    });
  }

  /** Until the snapshot of a leader is installed, which has more. */
  *#compaction(layout: SnapshotLayout, index: Index, state: Uint8Array): Generator<Step> {
    for (const step of layout.steps()) {
      yield step;
      if (this.#isStopped) return;
      if (index <= this.#storage.manifest.index) return yield layout.discard();
    }
    const keep = this.#keptBehind(index);
    const { pointer, drop } = this.#storage.compact(layout, keep);
    this.#snapshots.keep(state);
    yield pointer;
    this.#step({ type: 'compact', index, keep });
    yield drop;
  }

  /**
   * How many entries up to one are kept behind its snapshot: one at least, and what a follower will need to which an older snapshot is on its
   * way. Over a slow link it would be given one after another otherwise.
   */
  #keptBehind(index: Index): number {
    const { entriesKept, bytesKept } = this.#options;
    const awaited = this.#snapshots.oldestAwaited(this.#raft.leadership?.followers) ?? index;
    return Math.max(1, this.#fitting(index - entriesKept, index, bytesKept), this.#fitting(awaited, index, awaitedFactor * bytesKept));
  }

  /** How many of the entries behind `after`, the last of them, have no more bytes. */
  #fitting(after: Index, through: Index, bytesMax: number): number {
    const { log } = this.#raft.view;
    const entries = log.slice(Math.max(log.baseIndex, after) + 1, through);
    let bytes = 0;
    const over = entries.findLastIndex(({ data }) => {
      bytes += data.length;
      return bytes > bytesMax;
    });
    return entries.length - 1 - over;
  }

  /** With the next write, or with all that came in the same message when there is none. */
  #proposeSoon(): void {
    if (this.#isProposing || this.#commands.length === 0 || this.#queue.isBusy) return;
    this.#isProposing = true;
    queueMicrotask(() => {
      this.#isProposing = false;
      this.#proposeAll();
    });
  }

  #proposeAll(): void {
    while (this.#commands.length > 0 && !this.#isStopped) {
      const batch = this.#takeBatch();
      this.#ask(
        batch.map(({ id }) => id),
        (ask) => ({ type: 'propose', id: ask, data: batch.map(({ data }) => data) }),
      );
    }
  }

  #takeBatch() {
    let [count, bytes] = [0, 0];
    for (const { data } of this.#commands) {
      bytes += data.length;
      if (count === batchEntriesMax || (count > 0 && bytes > batchBytesMax)) break;
      count++;
    }
    const batch = this.#commands.splice(0, count);
    for (const { data } of batch) this.#commandsBytes -= data.length;
    return batch;
  }

  #ask(ids: readonly number[], inputOf: (ask: number) => Input): void {
    const ask = this.#nextAsk++;
    this.#asked.set(ask, ids);
    this.#step(inputOf(ask));
  }

  #answered(ask: number): readonly number[] {
    const ids = this.#asked.get(ask) ?? [];
    this.#asked.delete(ask);
    return ids;
  }

  /** A packet of another node. Throws `DamagedRecord` for what is none: the connection that brought it is not to be believed. */
  receive(from: NodeId, bytes: Uint8Array) {
    const packet = decodePacket(bytes);
    if (senderOf(packet) !== from) throw new DamagedRecord(`node ${from} sends a packet of node ${senderOf(packet)}`);
    if (this.#isStopped) return;
    if (packet.kind === 'chunk') return this.#snapshots.arrived(packet.chunk, this.#raft.view.term);
    if (packet.kind === 'chunkAnswer') return this.#snapshots.answered(packet.answer);
    if (packet.message.to !== this.identity.nodeId) throw new DamagedRecord(`node ${from} sends a packet for node ${packet.message.to}`);
    this.#step({ type: 'message', message: packet.message });
  }

  // What the core says

  #step(input: Input): void {
    if (this.#isStopped) return;
    invariant(!this.#isStepping, 'a step is taken within another');
    this.#isStepping = true;
    let unreachable: ReadonlySet<NodeId> = new Set();
    try {
      unreachable = this.#do(this.#raft.step(input));
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#isStepping = false;
    }
    for (const peer of unreachable) this.#step({ type: 'unreachable', peer });
  }

  /** Gives the nodes to which entries are known to be lost. */
  #do(output: Output): ReadonlySet<NodeId> {
    const unreachable = new Set<NodeId>();
    for (const message of output.sendNow) {
      if (this.#heartbeats.holds(message)) continue;
      const isSent = this.#send(message.to, { kind: 'message', message });
      if (!isSent && message.type === 'appendRequest') unreachable.add(message.to);
    }
    if (output.write) this.#write(output.write);
    this.#promises.hold(output.sendAfter, output.afterSeq);
    this.#promises.release(this.#durableSeq);
    for (const accepted of output.accepted) this.#accept(accepted);
    for (const { id, reason, leader } of output.refused)
      for (const refused of this.#answered(id)) this.#options.outlet.refused(refused, reason, leader);
    for (const { id, index } of output.reads) for (const read of this.#answered(id)) this.#reads.push({ id: read, index });
    this.#deliverSoon();
    for (const to of output.sendSnapshot) this.#snapshots.begin(to, this.#raft.view.term);
    this.#tellChange();
    this.#watchDisk();
    return unreachable;
  }

  #watchDisk() {
    const own = this.#raft.leadership?.followers.get(this.identity.nodeId);
    if (own === undefined) return this.#diskWatch.reset();
    const lagMs = this.#diskWatch.observe(own.match < this.#raft.view.log.commit, performance.now());
    if (lagMs !== undefined) this.#options.outlet.diskIsSlow(lagMs);
  }

  #accept({ id, index, term }: Output['accepted'][number]): void {
    // What had these places before, in an earlier term, is not in the log here any more. Another member may have it, lead, and have it agreed on.
    this.#giveUp('timeout', (taken) => taken >= index);
    this.#answered(id).forEach((proposal, at) => {
      this.#accepted.set(index + at, { id: proposal, term });
    });
  }

  #tellChange(): void {
    const { role, leader, term, configuration, canVote } = this.#raft.view;
    const seen = this.#seen;
    const isSame = seen?.role === role && seen.leader === leader && seen.term === term;
    if (isSame && seen.configuration === configuration && seen.canVote === canVote) return;
    this.#seen = { role, leader, term, configuration, canVote };
    this.#options.outlet.changed();
  }

  #write(write: Write): void {
    if (write.snapshot) {
      const { index } = write.snapshot;
      this.#delivered = index;
      this.#bytesSinceSnapshot = 0;
      this.#options.outlet.restore(this.#snapshots.install(), index);
      this.#giveUp('timeout', (taken) => taken <= index);
    }
    const last = write.entries.at(-1);
    const done = (): void => {
      if (this.#isStopped) return;
      this.#durableSeq = write.seq;
      this.#promises.release(write.seq);
      this.#step({ type: 'stored', seq: write.seq, through: last?.index ?? 0, term: last?.term ?? 0 });
    };
    this.#queue.push({ step: this.#storage.write(write), isWrite: true, done });
  }

  #send(to: NodeId, packet: Packet): boolean {
    return !this.#isStopped && this.#options.send(to, () => encodePacket(packet), packet.kind === 'chunk' ? 'snapshots' : 'messages');
  }

  /** Behind what the same event lets leave and be written: others wait for that. */
  #deliverSoon(): void {
    const { role, log } = this.#raft.view;
    const isAwaited = role === 'leader' || this.#accepted.size > 0 || this.#reads.length > 0;
    if (this.#isDelivering) return;
    if (!isAwaited) {
      if (this.#delivered < log.commit) this.#collecting ??= setTimeout(() => this.#deliver(), collectMs);
      return;
    }
    this.#isDelivering = true;
    queueMicrotask(() => {
      this.#isDelivering = false;
      this.#deliver();
    });
  }

  /** Hands on what is committed, as long as the state machine keeps up, and then the reads that waited for it. */
  #deliver(): void {
    clearTimeout(this.#collecting);
    this.#collecting = undefined;
    const { log } = this.#raft.view;
    const { outlet, snapshotEntries } = this.#options;
    while (this.#delivered < log.commit && this.#unappliedBytes < deliveredBytesMax && !this.#isStopped) {
      const through = Math.min(log.commit, this.#delivered + batchEntriesMax);
      this.#handOn(log.slice(this.#delivered + 1, through));
    }
    while ((this.#reads[0]?.index ?? Number.POSITIVE_INFINITY) <= this.#delivered) {
      const read = this.#reads.shift();
      if (read) outlet.done(read.id, this.#delivered);
    }
    const entries = this.#delivered - this.#storage.manifest.index;
    const isDue = entries >= snapshotEntries || (this.#bytesSinceSnapshot >= snapshotBytes && entries > 0);
    if (this.#isSnapshotDue || !isDue) return;
    this.#isSnapshotDue = true;
    outlet.snapshotWanted();
  }

  #handOn(entries: readonly Entry[]): void {
    const { outlet } = this.#options;
    const last = entries.at(-1) as Entry;
    const bytes = entries.reduce((sum, { data }) => sum + data.length, 0);
    this.#delivered = last.index;
    this.#bytesSinceSnapshot += bytes;
    this.#unapplied.push({ last: last.index, bytes });
    this.#unappliedBytes += bytes;
    outlet.committed(entries.map((entry) => ({ entry, proposal: this.#proposalOf(entry) })));
    for (const { index, kind } of entries) {
      const accepted = kind === 'configuration' ? this.#accepted.get(index) : undefined;
      this.#accepted.delete(index);
      if (accepted) outlet.done(accepted.id, index);
    }
  }

  /** The one whose entry this is; one that waited for another entry in this place is told. */
  #proposalOf({ index, term, kind }: Entry): number {
    const accepted = this.#accepted.get(index);
    if (accepted === undefined) return 0;
    if (accepted.term === term) return kind === 'command' ? accepted.id : 0;
    this.#accepted.delete(index);
    this.#options.outlet.refused(accepted.id, 'superseded', this.#raft.view.leader);
    return 0;
  }

  #giveUp(reason: DriverRefusal, isGone: (index: Index) => boolean): void {
    for (const [index, { id }] of this.#accepted) {
      if (!isGone(index)) continue;
      this.#accepted.delete(index);
      this.#options.outlet.refused(id, reason, this.#raft.view.leader);
    }
  }

  // Time

  /** After a stall, what has come meanwhile is read before the clock goes on, by one tick: it may hold the heartbeats that were missed. */
  #tickLater(): void {
    const { tickMs, outlet } = this.#options;
    const due = performance.now() + tickMs;
    this.#timer = setTimeout(() => {
      const tick = (): void => {
        this.#step({ type: 'tick' });
        if (!this.#isStopped) this.#tickLater();
      };
      const lateMs = performance.now() - due;
      if (lateMs > (raftDefaults.electionTicks / 2) * tickMs) outlet.stalled(lateMs);
      if (lateMs <= 2 * tickMs) return tick();
      this.#diskWatch.stalled(performance.now());
      setImmediate(tick);
    }, tickMs);
  }

  /** Ends in order: what is being written is finished. */
  async stop(): Promise<void> {
    this.#halt();
    await this.#queue.drained();
    await this.#disk.close();
  }

  #halt(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#collecting);
    this.#snapshots.stop();
    this.#heartbeats.stop();
  }

  #fail(cause: unknown): void {
    if (this.#isStopped) return;
    this.#halt();
    this.#options.outlet.failed(cause);
  }
}

function senderOf(packet: Packet): NodeId {
  if (packet.kind === 'message') return packet.message.from;
  return packet.kind === 'chunk' ? packet.chunk.from : packet.answer.from;
}
