import type { Entry, Index, Input, Message, NodeId, Output, Term, Write } from '../../coordinator/raft/core/messages.ts';
import { Raft } from '../../coordinator/raft/core/raft.ts';
import { raftDefaults } from '../../coordinator/raft/core/state.ts';
import type { Identity } from '../../coordinator/raft/storage/codec.ts';
import { firstStep, type LogStorage, type SnapshotLayout, type Step } from '../../coordinator/raft/storage/log-storage.ts';
import { openLog } from '../../coordinator/raft/storage/open-log.ts';
import { chunkAt, type SnapshotChunk, SnapshotReceiver } from '../../coordinator/raft/storage/snapshot-transfer.ts';
import { sealWitness } from '../../coordinator/raft/storage/witness.ts';
import { WriteAhead } from '../../coordinator/raft/storage/write-ahead.ts';
import type { Packet, SnapshotAnswer } from '../../coordinator/raft/transport/packet.ts';
import { SimulatedDisk } from './disk.ts';
import { Violation } from './invariants.ts';
import { StateMachine } from './state-machine.ts';

/** Shorter than in production, so that more happens in as many steps. */
export const electionTicks = 8;
const chunkBytes = 48;
/** After so long at most the database gets what only the witness has. */
export const saveMs = 5;
/** Of a witness beside its batch: small, so that some batches fit and others do not. */
const witnessBytesMax = 512;
/** As long as a few commands. */
const narrow = { inflightBytesMax: 256, uncommittedBytesMax: 512 };

/** The world as a node's driver sees it. */
export interface Surroundings {
  readonly random: (bound: number) => number;
  readonly later: (delayMs: number, run: () => void) => void;
  readonly send: (from: NodeId, to: NodeId, packet: Packet) => void;
  readonly syncMs: () => number;
  /** Until the core hears that a write is durable. */
  readonly reportMs: () => number;
  readonly failsToWrite: () => boolean;
  /** Of a witness that is acknowledged before the database has its batch; 0 when none is. */
  readonly aheadBytesMax: number;
  /** Windows and queues hold a few commands only. */
  readonly isNarrow: boolean;
  readonly stepped: (node: SimulatedNode, raft: Raft, output: Output) => void;
  readonly applied: (node: SimulatedNode, entry: Entry, machine: StateMachine) => void;
  /** The node stopped because its disk failed. */
  readonly stopped: (node: SimulatedNode) => void;
}

interface Queued {
  readonly step: Step;
  /** Several of these may become one batch, as in the driver's queue. */
  readonly isWrite: boolean;
  readonly done: () => void;
}

/** What is on its way to the disk, and which of it has not arrived. */
interface Writing {
  operations: Step['operations'];
  witness: Uint8Array | undefined;
  readonly taken: readonly Queued[];
  isBatching: boolean;
  isWitnessing: boolean;
}

/** A snapshot on its way to one follower. */
interface Sending {
  readonly manifest: LogStorage['manifest'];
  readonly state: Uint8Array;
  offset: number;
  answeredAt: number;
}

/** The core with a driver by the rules of `Raft` and `LogStorage`, and a state machine, over a simulated disk. */
export class SimulatedNode {
  readonly id: NodeId;
  readonly disk = new SimulatedDisk();
  readonly identity: Identity;
  readonly #world: Surroundings;
  raft: Raft | undefined;
  machine = new StateMachine(new Uint8Array(0), 0);
  /** Why it may not start any more. */
  refusal: string | undefined;
  /** Of the process: what was asked of an earlier one does not concern it. */
  incarnation = 0;
  storage: LogStorage | undefined;
  /** The terms of the entries on its disk, which has a snapshot of what is before them or has done with that. */
  #durable: { readonly base: Index; readonly terms: readonly Term[] } = { base: 0, terms: [] };
  /** What was acknowledged in a message: the term of the entry in its log at that time, unless that was in a snapshot. */
  readonly #acknowledged = new WeakMap<Message, Term | undefined>();
  /** Where the log ended at the last write that was done. Whatever was acknowledged is in it. */
  #promised = { index: 0, term: 0 };
  #queue: Queued[] = [];
  #writing: Writing | undefined;
  #ahead = new WriteAhead(0);
  /** On their way to the database, which only the witness has so far. */
  #saving: Step['operations'] | undefined;
  #isSaveDue = false;
  /** Begins when they have arrived. */
  #afterSaving: (() => void) | undefined;
  #storedSeq = 0;
  #waiting: { readonly afterSeq: number; readonly messages: readonly Message[] }[] = [];
  #receiver = new SnapshotReceiver();
  /** The bytes of the snapshot that was put aside last. */
  #arrived: Uint8Array = new Uint8Array(0);
  #arriving: SnapshotLayout | undefined;
  #state: Uint8Array = new Uint8Array(0);
  readonly #sending = new Map<NodeId, Sending>();

  constructor(id: NodeId, voters: readonly NodeId[], world: Surroundings) {
    this.id = id;
    this.#world = world;
    this.identity = { clusterId: 'simulated', nodeId: id, incarnation: 1, voters };
  }

  start(): void {
    this.incarnation++;
    this.#queue = [];
    this.#writing = undefined;
    this.#ahead = new WriteAhead(this.#world.aheadBytesMax);
    this.#saving = undefined;
    this.#isSaveDue = false;
    this.#afterSaving = undefined;
    this.#storedSeq = 0;
    this.#waiting = [];
    this.#receiver = new SnapshotReceiver();
    this.#sending.clear();
    const opened = this.#open();
    if (opened === undefined) return;
    const { recovered, state, storage } = opened;
    this.storage = storage;
    this.#durable = { base: recovered.snapshot.index, terms: recovered.entries.map(({ term }) => term) };
    if (recovered.recovering === undefined) this.#keepsPromise(storage);
    this.#state = state;
    this.machine = new StateMachine(state, recovered.snapshot.index);
    const { random, isNarrow } = this.#world;
    const limits = { entriesPerMessageMax: 4, inflightMessagesMax: 4, readsWaitingMax: 16, ...(isNarrow && narrow) };
    this.raft = new Raft({ ...raftDefaults, ...limits, electionTicks, heartbeatTicks: 2, id: this.id, random }, recovered);
  }

  /** A node that does not know that it has forgotten something has what it has written. */
  #keepsPromise({ last }: LogStorage): void {
    const { index, term } = this.#promised;
    const isAsLate = last.term > term || (last.term === term && last.index >= index);
    if (!isAsLate) throw new Violation(`node ${this.id} starts with a log to ${last.index} and does not know that it had one to ${index}`);
  }

  /** Opens what is on disk, now and then with another crash in the middle of repairing it. */
  #open() {
    for (;;) {
      const opened = openLog(this.disk.image(), { clusterId: this.identity.clusterId, nodeId: this.id }, chunkBytes);
      if (opened.kind === 'absent') {
        this.#perform(firstStep(this.identity, new Uint8Array(0), chunkBytes));
        this.disk.identity = identityBytes(this.identity);
        continue;
      }
      const isForgetful = opened.kind === 'refused' || opened.recovered.recovering !== undefined;
      if (isForgetful && !this.disk.wasDamaged) {
        const found = opened.kind === 'refused' ? opened.reason : opened.problems.join('; ');
        throw new Violation(`node ${this.id} has a disk that only crashed, and yet: ${found}`);
      }
      if (opened.kind === 'refused') {
        this.refusal = opened.reason;
        return undefined;
      }
      if (this.#world.random(3) > 0) {
        for (const step of opened.repair) this.#perform(step);
        return opened;
      }
      this.#breakOff(opened.repair);
    }
  }

  #breakOff(steps: readonly Step[]): void {
    const { random } = this.#world;
    const whole = random(steps.length);
    for (const step of steps.slice(0, whole)) this.#perform(step);
    const torn = steps[whole];
    if (torn === undefined || random(2) === 0) return;
    if (torn.operations.length > 0) this.disk.batch(torn.operations);
    if (torn.witness) this.disk.tearWitness(sealWitness(torn.witness, []).bytes, random);
  }

  #perform({ operations, witness }: Step): void {
    this.disk.batch(operations);
    if (witness) this.disk.writeWitness(sealWitness(witness, []).bytes);
  }

  /** What is on its way to the disk arrives or does not, and a file may be torn. With `tears`, so may a batch. */
  crash(tears: boolean): void {
    const { random } = this.#world;
    const { witness, operations, isBatching = false, isWitnessing = false } = this.#writing ?? { operations: [] };
    if (witness && isWitnessing) {
      const arrives = random(3);
      if (arrives === 0) this.disk.tearWitness(witness, random);
      if (arrives === 1) this.disk.writeWitness(witness);
    }
    const batch = isBatching ? operations : this.#saving;
    if (batch && random(2) === 0) {
      if (tears) this.disk.tearBatch(batch, random);
      else this.disk.batch(batch);
    }
    this.#writing = undefined;
    this.#saving = undefined;
    this.raft = undefined;
  }

  step(input: Input): void {
    const { raft } = this;
    if (raft === undefined) return;
    const output = raft.step(input);
    for (const message of [...output.sendNow, ...output.sendAfter])
      if (message.type === 'appendResponse') this.#acknowledged.set(message, raft.view.log.termAt(message.index));
    this.#world.stepped(this, raft, output);
    const { write } = output;
    if (write?.snapshot) {
      this.#state = this.#arrived;
      this.machine = new StateMachine(this.#arrived, write.snapshot.index);
    }
    if (write && this.storage) {
      const last = write.entries.at(-1);
      const { index } = { index: 0, ...last };
      const term = last?.term ?? 0;
      const step = this.storage.write(write);
      const { last: end } = this.storage;
      this.#enqueue(
        step,
        () => {
          this.#storedSeq = write.seq;
          this.#isWritten(write);
          this.#promised = { index: end.index, term: end.term };
          this.#release();
          const { incarnation } = this;
          this.#world.later(this.#world.reportMs(), () => {
            if (this.incarnation === incarnation) this.step({ type: 'stored', seq: write.seq, through: index, term });
          });
        },
        true,
      );
    }
    for (const entry of output.committed) this.#world.applied(this, entry, this.machine);
    for (const message of output.sendNow) this.#send(message);
    if (output.sendAfter.length > 0) this.#waiting.push({ afterSeq: output.afterSeq, messages: output.sendAfter });
    for (const to of output.sendSnapshot) this.#sendSnapshot(to);
    this.#release();
  }

  #isWritten({ from, entries, snapshot }: Write): void {
    const { base, terms } = snapshot ? { base: snapshot.index, terms: [] } : this.#durable;
    this.#durable = { base, terms: [...terms.slice(0, from - base - 1), ...entries.map(({ term }) => term)] };
  }

  /** What it acknowledges is on its disk: not merely as many entries, but these. */
  isDurable(message: Message): boolean {
    if (message.type !== 'appendResponse') return true;
    const term = this.#acknowledged.get(message);
    const { base, terms } = this.#durable;
    return term === undefined || message.index <= base ? message.index <= base + terms.length : terms[message.index - base - 1] === term;
  }

  #send(message: Message): void {
    this.#world.send(this.id, message.to, { kind: 'message', message });
  }

  #release(): void {
    while (this.#waiting.length > 0 && (this.#waiting[0]?.afterSeq ?? 0) <= this.#storedSeq)
      for (const message of this.#waiting.shift()?.messages ?? []) this.#send(message);
  }

  // Disk

  #enqueue(step: Step, done: () => void, isWrite = false): void {
    this.#queue.push({ step, isWrite, done });
    this.#writeNext();
  }

  /** As in the driver's queue. */
  #enqueueEach(steps: Iterator<Step>, done: () => void) {
    const next = steps.next();
    if (next.done) return done();
    this.#enqueue(next.value, () => this.#enqueueEach(steps, done));
  }

  /** Behind what is being written: the witness alone, when it has all that the database lacks; otherwise both. */
  #writeNext() {
    if (this.#writing || this.#queue.length === 0) return;
    const taken = this.#take();
    const operations = taken.flatMap(({ step }) => step.operations);
    const witness = taken.findLast(({ step }) => step.witness !== undefined)?.step.witness;
    const ahead = witness && this.#ahead.seal(witness, operations);
    const writing: Writing = { operations, witness: ahead, taken, isBatching: false, isWitnessing: false };
    this.#writing = writing;
    if (ahead !== undefined) return this.#witness(writing);
    if (this.#saving === undefined) return this.#writeAll(writing, witness);
    this.#afterSaving = () => this.#writeAll(writing, witness);
  }

  /** The witness at the same time as the batch only when that is in it. */
  #writeAll(writing: Writing, witness: Step['witness']): void {
    writing.operations = [...this.#ahead.operations, ...writing.operations];
    const sealed = witness && sealWitness(witness, writing.operations, witnessBytesMax);
    writing.witness = sealed?.bytes;
    writing.isBatching = true;
    this.#afterSync(this.incarnation, () => {
      this.disk.batch(writing.operations);
      this.#ahead.saved(this.#ahead.operations.length);
      writing.isBatching = false;
      if (sealed && !sealed.hasBatch) this.#witness(writing);
      this.#finish(writing);
    });
    if (sealed?.hasBatch) this.#witness(writing);
  }

  #saveSoon(): void {
    if (this.#isSaveDue || this.#saving || this.#ahead.operations.length === 0) return;
    this.#isSaveDue = true;
    const { incarnation } = this;
    this.#world.later(saveMs, () => {
      if (this.incarnation === incarnation) this.#save();
    });
  }

  /** Meanwhile the next witness may be written. */
  #save(): void {
    this.#isSaveDue = false;
    const { operations } = this.#ahead;
    if (this.raft === undefined || this.#writing?.isBatching || operations.length === 0) return;
    this.#saving = operations;
    this.#afterSync(this.incarnation, () => {
      this.disk.batch(operations);
      this.#ahead.saved(operations.length);
      this.#saving = undefined;
      const next = this.#afterSaving;
      this.#afterSaving = undefined;
      if (next) next();
      else this.#saveSoon();
    });
  }

  #take(): readonly Queued[] {
    const end = this.#queue.findIndex(({ isWrite }) => !isWrite);
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end));
  }

  #witness(writing: Writing): void {
    writing.isWitnessing = true;
    this.#afterSync(this.incarnation, () => {
      this.disk.writeWitness(writing.witness as Uint8Array);
      writing.isWitnessing = false;
      this.#finish(writing);
    });
  }

  #afterSync(incarnation: number, run: () => void): void {
    this.#world.later(this.#world.syncMs(), () => {
      if (this.raft === undefined || this.incarnation !== incarnation) return;
      if (!this.#world.failsToWrite()) return run();
      this.crash(false);
      this.#world.stopped(this);
    });
  }

  #finish(writing: Writing): void {
    if (writing.isBatching || writing.isWitnessing) return;
    this.#writing = undefined;
    const { incarnation } = this;
    this.#saveSoon();
    for (const { done } of writing.taken) if (this.incarnation === incarnation) done();
    this.#writeNext();
  }

  /** A snapshot of what is applied, when that is all that is committed. */
  compact(keep: number): void {
    const { raft, storage, machine } = this;
    if (raft === undefined || storage === undefined) return;
    const { index } = { index: machine.applied };
    const term = raft.view.log.termAt(index);
    if (index !== raft.view.log.commit || index <= storage.manifest.index || term === undefined) return;
    const state = machine.save();
    const layout = storage.layOut({ index, term, configuration: raft.view.configurationAt(index) }, state);
    this.#enqueueEach(this.#compaction(storage, layout, { index, state, keep }), () => undefined);
  }

  *#compaction(
    storage: LogStorage,
    layout: SnapshotLayout,
    { index, state, keep }: { readonly index: Index; readonly state: Uint8Array; readonly keep: number },
  ): Generator<Step> {
    for (const step of layout.steps()) {
      yield step;
      if (index <= storage.manifest.index) return yield layout.discard();
    }
    const { pointer, drop } = storage.compact(layout, keep);
    this.#state = state;
    yield pointer;
    this.step({ type: 'compact', index, keep });
    yield drop;
  }

  // Snapshots to others

  #sendSnapshot(to: NodeId): void {
    const { storage } = this;
    if (storage === undefined) return;
    this.#sending.set(to, { manifest: storage.manifest, state: this.#state, offset: 0, answeredAt: 0 });
    this.#sendChunk(to, 0);
  }

  /** The next part, and the same again when nothing is heard; after some tries the core is told that it did not work. */
  #sendChunk(to: NodeId, tries: number) {
    const sending = this.#sending.get(to);
    const { raft, incarnation } = this;
    if (sending === undefined || raft === undefined || raft.view.role !== 'leader') return;
    if (tries > 4) return this.#endSending(to, false);
    const sender = { from: this.id, term: raft.view.term };
    this.#world.send(this.id, to, { kind: 'chunk', chunk: chunkAt(sender, sending.manifest, sending.state, sending.offset, chunkBytes) });
    const { offset } = sending;
    this.#world.later(200, () => {
      if (this.incarnation === incarnation && this.#sending.get(to) === sending && sending.offset === offset)
        this.#sendChunk(to, tries + 1);
    });
  }

  #endSending(to: NodeId, succeeded: boolean): void {
    this.#sending.delete(to);
    this.step({ type: 'snapshotSent', to, succeeded });
  }

  chunkAnswered({ from, index, offset }: SnapshotAnswer) {
    const sending = this.#sending.get(from);
    if (sending?.manifest.index !== index) return;
    if (offset >= sending.manifest.size) return this.#endSending(from, true);
    if (offset === sending.offset) return;
    sending.offset = offset;
    this.#sendChunk(from, 0);
  }

  chunkArrived(chunk: SnapshotChunk) {
    const { raft, storage, incarnation } = this;
    if (raft === undefined || storage === undefined || chunk.term < raft.view.term) return;
    const { next, complete } = this.#receiver.receive(chunk);
    const { manifest, from, term } = chunk;
    const answer: Packet = { kind: 'chunkAnswer', answer: { from: this.id, term, index: manifest.index, offset: next } };
    const { index, term: metaTerm, configuration } = manifest;
    const meta = { index, term: metaTerm, configuration };
    const install = (): void => this.step({ type: 'message', message: { type: 'installSnapshot', from, to: this.id, term, meta } });
    if (complete === undefined) {
      this.#world.send(this.id, from, answer);
      if (next === manifest.size) install();
      return;
    }
    this.#arriving = storage.layOut(meta, complete, manifest.chain);
    this.#enqueueEach(this.#putAside(storage, this.#arriving, complete), () => {
      this.#world.send(this.id, from, answer);
      if (this.incarnation !== incarnation || !storage.hasStaged(meta)) return;
      this.#receiver.kept(manifest);
      install();
    });
  }

  *#putAside(storage: LogStorage, layout: SnapshotLayout, state: Uint8Array): Generator<Step> {
    for (const step of layout.steps()) {
      yield step;
      if (this.#arriving !== layout) return yield layout.discard();
    }
    this.#arrived = state;
    yield storage.stage(layout);
  }
}

function identityBytes(identity: Identity): Uint8Array {
  const found = firstStep(identity, new Uint8Array(0)).operations.find(({ key }) => key === 'm');
  if (found?.type !== 'put') throw new Error('a new node writes no identity');
  return found.value;
}
