import { CepError, invariant } from '../../../shared/errors/error.ts';
import type { ConfigurationChange, Entry, Index, Input, NodeId, Output, Refusal, Term, Write } from '../core/messages.ts';
import { Raft } from '../core/raft.ts';
import { raftDefaults } from '../core/state.ts';
import type { Identity } from '../storage/codec.ts';
import type { LogStorage } from '../storage/log-storage.ts';
import { openLog } from '../storage/open-log.ts';
import { decodePacket, encodePacket, type Packet } from '../transport/packet.ts';
import { LevelDisk } from './level-disk.ts';
import { SnapshotTraffic } from './snapshot-traffic.ts';
import { WriteQueue } from './write-queue.ts';

/** What a group agrees on. Its results and states follow from the entries alone. */
export interface StateMachine {
  readonly apply: (entry: Entry) => unknown;
  readonly save: () => Uint8Array;
  /** From what `save` gave, or from nothing when that is empty. */
  readonly restore: (state: Uint8Array) => void;
}

export interface RaftDriverOptions {
  readonly folder: string;
  readonly identity: Identity;
  readonly machine: StateMachine;
  /** To another node. It may be lost, come late or twice. */
  readonly send: (to: NodeId, packet: Uint8Array) => void;
  /** A whole number, `0 <= n < bound`. */
  readonly random: (bound: number) => number;
  /** What was found damaged at the start, one sentence each. */
  readonly report: (problem: string) => void;
  /** The node has stopped by itself, and the process must end: what its disk holds is not known before it is opened again. */
  readonly failed: (cause: unknown) => void;
  /** @default 50 ms */
  readonly tickMs?: number;
  /** A snapshot is made after so many entries. @default 10000 */
  readonly snapshotEntries?: number;
  /** Entries kept behind a snapshot for followers that are slow. @default 5000 */
  readonly entriesKept?: number;
}

/** Why nothing came of what was asked. `stopped` and `superseded` alone come after the entry had a place in the log. */
export class RaftRefusal extends Error {
  override readonly name = 'RaftRefusal';
  readonly reason: Refusal | 'superseded' | 'stopped';
  /** Who leads, as far as this node knows; 0 when it does not. */
  readonly leader: NodeId;

  constructor(reason: RaftRefusal['reason'], leader: NodeId) {
    super(`the node does not do this: ${reason}${leader === 0 ? '' : `; node ${leader} leads`}`);
    this.reason = reason;
    this.leader = leader;
  }
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** As many commands as one proposal may have. */
const batchMax = raftDefaults.entriesPerMessageMax;

/** One node of a Raft group with its disk and clock. The core decides; this does what it says, in the order that it says. */
export class RaftDriver {
  readonly #options: Required<RaftDriverOptions>;
  readonly #raft: Raft;
  readonly #storage: LogStorage;
  readonly #disk: LevelDisk;
  readonly #queue: WriteQueue;
  readonly #snapshots: SnapshotTraffic;
  readonly #asked = new Map<number, Waiting>();
  readonly #batches = new Map<number, readonly Waiting[]>();
  /** What has a place in the log, by that place. */
  readonly #accepted = new Map<Index, Waiting & { readonly term: Term }>();
  #promises: { readonly afterSeq: number; readonly messages: Output['sendAfter'] }[] = [];
  #durableSeq = 0;
  #applied: Index;
  #isCompacting = false;
  /** Commands that wait for the write that is being done: what comes meanwhile is proposed together. */
  #commands: (Waiting & { readonly data: Uint8Array })[] = [];
  #isProposing = false;
  #nextId = 1;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isStepping = false;

  /**
   * Opens the data, or makes it when the folder is new, and takes part in the group.
   * @throws CepError `runtime_error` when the node may not take part with what its disk holds; `io_error` when another process has it open
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
      throw new CepError('runtime_error', `the data in '${folder}' cannot be used: ${reason}`);
    }
    for (const problem of opened.problems) report(problem);
    for (const step of opened.repair) await disk.write(step);
    return new RaftDriver(options, disk, opened);
  }

  private constructor(
    options: RaftDriverOptions,
    disk: LevelDisk,
    { recovered, state, storage }: Extract<ReturnType<typeof openLog>, { kind: 'opened' }>,
  ) {
    this.#options = { tickMs: 50, snapshotEntries: 10_000, entriesKept: 5_000, ...options };
    this.#disk = disk;
    this.#storage = storage;
    this.#queue = new WriteQueue(
      (step) => disk.write(step),
      (cause) => this.#fail(cause),
      () => this.#proposeAll(),
    );
    this.#raft = new Raft({ ...raftDefaults, id: options.identity.nodeId, random: options.random }, recovered);
    this.#snapshots = new SnapshotTraffic({
      id: options.identity.nodeId,
      storage,
      send: (to, packet) => this.#send(to, packet),
      stage: (step, done) => this.#queue.push({ step, isWrite: false, done: () => this.#isStopped || done() }),
      step: (input) => this.#step(input),
      repeatMs: 10 * this.#options.tickMs,
    });
    this.#snapshots.keep(state);
    this.#applied = recovered.snapshot.index;
    options.machine.restore(state);
    this.#tickLater();
  }

  get view(): Raft['view'] {
    return this.#raft.view;
  }

  // What is asked

  /** Resolves with what the state machine made of it, once it is committed. Refused with a `RaftRefusal`. */
  propose(data: Uint8Array): Promise<unknown> {
    if (this.#isStopped) return Promise.reject(new RaftRefusal('stopped', 0));
    return new Promise((resolve, reject) => {
      this.#commands.push({ data, resolve, reject });
      this.#proposeSoon();
    });
  }

  /** Resolves when the new members are agreed on; more than one other voter takes a second change, which follows by itself. */
  async changeMembers(change: ConfigurationChange): Promise<void> {
    await this.#ask((id) => ({ type: 'proposeConfiguration', id, change }));
  }

  /** Resolves when the state machine has everything that was acknowledged to anybody before the call. */
  async read(): Promise<void> {
    await this.#ask((id) => ({ type: 'read', id }));
  }

  transferTo(to: NodeId): void {
    this.#step({ type: 'transfer', to });
  }

  /** The connection to this node has closed. */
  forgetLeader(suspect: NodeId): void {
    this.#step({ type: 'forgetLeader', suspect });
  }

  /** With the next write, or in the next turn of the loop when there is none. */
  #proposeSoon(): void {
    if (this.#isProposing || this.#commands.length === 0 || this.#queue.isBusy) return;
    this.#isProposing = true;
    setImmediate(() => {
      this.#isProposing = false;
      this.#proposeAll();
    });
  }

  #proposeAll(): void {
    while (this.#commands.length > 0 && !this.#isStopped) {
      const batch = this.#commands.splice(0, batchMax);
      const id = this.#nextId++;
      this.#batches.set(id, batch);
      this.#step({ type: 'propose', id, data: batch.map(({ data }) => data) });
    }
  }

  #ask(inputOf: (id: number) => Input): Promise<unknown> {
    if (this.#isStopped) return Promise.reject(new RaftRefusal('stopped', 0));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#step(inputOf(id));
    });
  }

  /** A packet of another node. Throws `DamagedRecord` for what is none: the connection that brought it is not to be believed. */
  receive(bytes: Uint8Array): void {
    const packet = decodePacket(bytes);
    if (this.#isStopped) return;
    if (packet.kind === 'message') this.#step({ type: 'message', message: packet.message });
    else if (packet.kind === 'chunk') this.#snapshots.arrived(packet.chunk, this.#raft.view.term);
    else this.#snapshots.answered(packet.answer);
  }

  // What the core says

  #step(input: Input): void {
    if (this.#isStopped) return;
    invariant(!this.#isStepping, 'a step is taken within another');
    this.#isStepping = true;
    try {
      this.#do(this.#raft.step(input));
    } catch (cause) {
      this.#fail(cause);
    } finally {
      this.#isStepping = false;
    }
  }

  #do(output: Output): void {
    if (output.write) this.#write(output.write);
    for (const message of output.sendNow) this.#send(message.to, { kind: 'message', message });
    if (output.sendAfter.length > 0) this.#promises.push({ afterSeq: output.afterSeq, messages: output.sendAfter });
    this.#release();
    for (const { id, index, term } of output.accepted) {
      const waiting = this.#asked.get(id);
      const batch = waiting ? [waiting] : (this.#batches.get(id) ?? []);
      // What had these places before, in an earlier term, was removed with it.
      this.#supersede((taken) => taken >= index);
      batch.forEach((one, at) => {
        this.#accepted.set(index + at, { ...one, term });
      });
      this.#asked.delete(id);
      this.#batches.delete(id);
    }
    for (const { id, reason, leader } of output.refused) this.#settle(id, (waiting) => waiting.reject(new RaftRefusal(reason, leader)));
    for (const entry of output.committed) this.#apply(entry);
    for (const { id } of output.reads) this.#settle(id, (waiting) => waiting.resolve(undefined));
    for (const to of output.sendSnapshot) this.#snapshots.begin(to, this.#raft.view.term);
    this.#compact();
  }

  #settle(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.#asked.get(id);
    const batch = waiting ? [waiting] : (this.#batches.get(id) ?? []);
    this.#asked.delete(id);
    this.#batches.delete(id);
    for (const one of batch) how(one);
  }

  #write(write: Write): void {
    if (write.snapshot) {
      this.#options.machine.restore(this.#snapshots.install());
      this.#applied = write.snapshot.index;
      this.#supersede((index) => index <= this.#applied);
    }
    const last = write.entries.at(-1);
    const done = (): void => {
      if (this.#isStopped) return;
      this.#durableSeq = write.seq;
      this.#release();
      this.#step({ type: 'stored', seq: write.seq, through: last?.index ?? 0, term: last?.term ?? 0 });
    };
    this.#queue.push({ step: this.#storage.write(write), isWrite: true, done });
  }

  #release(): void {
    while ((this.#promises[0]?.afterSeq ?? Number.POSITIVE_INFINITY) <= this.#durableSeq)
      for (const message of this.#promises.shift()?.messages ?? []) this.#send(message.to, { kind: 'message', message });
  }

  #send(to: NodeId, packet: Packet): void {
    if (!this.#isStopped) this.#options.send(to, encodePacket(packet));
  }

  #apply(entry: Entry): void {
    const result = this.#options.machine.apply(entry);
    this.#applied = entry.index;
    const waiting = this.#accepted.get(entry.index);
    this.#accepted.delete(entry.index);
    if (waiting?.term === entry.term) waiting.resolve(result);
    else waiting?.reject(new RaftRefusal('superseded', this.#raft.view.leader));
  }

  #supersede(isGone: (index: Index) => boolean): void {
    for (const [index, waiting] of this.#accepted) {
      if (!isGone(index)) continue;
      this.#accepted.delete(index);
      waiting.reject(new RaftRefusal('superseded', this.#raft.view.leader));
    }
  }

  #compact(): void {
    const { snapshotEntries, entriesKept, machine } = this.#options;
    const index = this.#applied;
    const term = this.#raft.view.log.termAt(index);
    if (this.#isCompacting || term === undefined || index < this.#storage.manifest.index + snapshotEntries) return;
    this.#isCompacting = true;
    const state = machine.save();
    const steps = this.#storage.compact({ index, term, configuration: this.#raft.view.configurationAt(index) }, state, entriesKept);
    this.#snapshots.keep(state);
    steps.forEach((step, at) => {
      const done = (): void => {
        if (at === 1) this.#step({ type: 'compact', index, keep: entriesKept });
        if (at === steps.length - 1) this.#isCompacting = false;
      };
      this.#queue.push({ step, isWrite: false, done });
    });
  }

  // Time

  /** After a stall, what has come meanwhile is read before the clock goes on, by one tick: it may hold the heartbeats that were missed. */
  #tickLater(): void {
    const { tickMs } = this.#options;
    const due = performance.now() + tickMs;
    this.#timer = setTimeout(() => {
      const tick = (): void => {
        this.#step({ type: 'tick' });
        if (!this.#isStopped) this.#tickLater();
      };
      if (performance.now() - due > 2 * tickMs) setImmediate(tick);
      else tick();
    }, tickMs);
  }

  /** Ends in order: what is being written is finished, what waits is told. */
  async stop(): Promise<void> {
    this.#halt();
    await this.#queue.drained();
    await this.#disk.close();
  }

  #halt(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#snapshots.stop();
    const waiting = [...this.#asked.values(), ...this.#accepted.values(), ...this.#commands, ...[...this.#batches.values()].flat()];
    for (const { reject } of waiting) reject(new RaftRefusal('stopped', 0));
    this.#asked.clear();
    this.#batches.clear();
    this.#commands = [];
    this.#accepted.clear();
  }

  #fail(cause: unknown): void {
    if (this.#isStopped) return;
    this.#halt();
    this.#options.failed(cause);
  }
}
