import { configurationOf } from '../../coordinator/raft/core/configuration.ts';
import type { Entry, HardState, Index, Input, Message, NodeId, Output, SnapshotMeta, Write } from '../../coordinator/raft/core/messages.ts';
import { Raft } from '../../coordinator/raft/core/raft.ts';
import { raftDefaults } from '../../coordinator/raft/core/state.ts';

/** Shorter than in production, so that more happens in as many steps. */
export const electionTicks = 8;

/** What survives a crash. */
interface Disk {
  hardState: HardState;
  snapshot: SnapshotMeta;
  entries: Entry[];
}

/** The world as a node's driver sees it. */
export interface Surroundings {
  readonly random: (bound: number) => number;
  readonly later: (delayMs: number, run: () => void) => void;
  readonly send: (message: Message) => void;
  readonly syncMs: () => number;
  readonly stepped: (node: SimulatedNode, raft: Raft, output: Output) => void;
}

/** The core with a driver by the rules of `Raft`, over a disk that does one write after another and loses what is not done in a crash. */
export class SimulatedNode {
  readonly id: NodeId;
  readonly #world: Surroundings;
  readonly #disk: Disk;
  raft: Raft | undefined;
  /** Of the process: what was asked of an earlier one does not concern it. */
  incarnation = 0;
  #applied: Index = 0;
  #writes: Write[] = [];
  #storedSeq = 0;
  #waiting: { readonly afterSeq: number; readonly messages: readonly Message[] }[] = [];

  constructor(id: NodeId, voters: readonly NodeId[], world: Surroundings) {
    this.id = id;
    this.#world = world;
    const snapshot = { index: 0, term: 0, configuration: configurationOf(voters) };
    this.#disk = { hardState: { term: 0, vote: 0, commit: 0 }, snapshot, entries: [] };
  }

  get durableIndex(): Index {
    return this.#disk.entries.at(-1)?.index ?? this.#disk.snapshot.index;
  }

  start(): void {
    this.incarnation++;
    this.#writes = [];
    this.#storedSeq = 0;
    this.#waiting = [];
    const { random } = this.#world;
    const { hardState, snapshot, entries } = this.#disk;
    this.#applied = snapshot.index;
    this.raft = new Raft(
      {
        ...raftDefaults,
        electionTicks,
        heartbeatTicks: 2,
        id: this.id,
        random,
        entriesPerMessageMax: 4,
        inflightMessagesMax: 4,
        readsWaitingMax: 16,
      },
      // Nothing may depend on the commit index that was written.
      {
        hardState: { ...hardState, commit: 0 },
        snapshot,
        entries: entries.filter(({ index }) => index > snapshot.index),
        recovering: undefined,
      },
    );
  }

  /** The writes on their way reach the disk up to one of them, or none does; nobody is told. */
  crash(): void {
    for (const write of this.#writes.slice(0, this.#world.random(this.#writes.length + 1))) this.#persist(write);
    this.raft = undefined;
  }

  step(input: Input): void {
    const { raft } = this;
    if (raft === undefined) return;
    const output = raft.step(input);
    this.#applied = output.committed.at(-1)?.index ?? output.write?.snapshot?.index ?? this.#applied;
    this.#world.stepped(this, raft, output);
    if (output.write) this.#write(output.write);
    for (const message of output.sendNow) this.#world.send(message);
    if (output.sendAfter.length > 0) this.#waiting.push({ afterSeq: output.afterSeq, messages: output.sendAfter });
    for (const to of output.sendSnapshot) this.#sendSnapshot(to, raft);
    this.#release();
  }

  #write(write: Write): void {
    this.#writes.push(write);
    if (this.#writes.length === 1) this.#finishWriteLater();
  }

  #finishWriteLater(): void {
    const { incarnation } = this;
    this.#world.later(this.#world.syncMs(), () => {
      if (this.raft === undefined || this.incarnation !== incarnation) return;
      const write = this.#writes.shift() as Write;
      this.#persist(write);
      this.#storedSeq = write.seq;
      if (this.#writes.length > 0) this.#finishWriteLater();
      const last = write.entries.at(-1);
      this.#release();
      this.step({ type: 'stored', seq: write.seq, through: last?.index ?? 0, term: last?.term ?? 0 });
    });
  }

  #persist({ hardState, snapshot, from, entries }: Write): void {
    const disk = this.#disk;
    disk.hardState = hardState;
    if (snapshot) {
      disk.snapshot = snapshot;
      disk.entries = [];
    }
    disk.entries = [...disk.entries.filter(({ index }) => index < from), ...entries];
  }

  #release(): void {
    while (this.#waiting.length > 0 && (this.#waiting[0]?.afterSeq ?? 0) <= this.#storedSeq)
      for (const message of this.#waiting.shift()?.messages ?? []) this.#world.send(message);
  }

  #sendSnapshot(to: NodeId, raft: Raft): void {
    const { incarnation } = this;
    const { term } = raft.view;
    this.#world.later(20 + this.#world.random(200), () => {
      if (this.incarnation !== incarnation || raft.view.term !== term || raft.view.role !== 'leader') return;
      this.#world.send({ type: 'installSnapshot', from: this.id, to, term, meta: this.#disk.snapshot });
      this.step({ type: 'snapshotSent', to, succeeded: this.#world.random(4) > 0 });
    });
  }

  /** A snapshot of what is applied, once that is all that is committed; only between writes, so that the log on disk reaches it. */
  compact(keep: number): void {
    if (this.raft === undefined || this.#writes.length > 0) return;
    const { log } = this.raft.view;
    if (this.#applied !== log.commit || log.commit <= this.#disk.snapshot.index) return;
    this.#disk.snapshot = {
      index: log.commit,
      term: log.termAt(log.commit) as number,
      configuration: this.raft.view.configurationAt(log.commit),
    };
    this.step({ type: 'compact', index: log.commit, keep });
  }
}
