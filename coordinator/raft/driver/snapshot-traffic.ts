import type { Index, Input, NodeId, Term } from '../core/messages.ts';
import type { Progress } from '../core/progress.ts';
import type { Manifest } from '../storage/codec.ts';
import { chunkBytesDefault, type LogStorage, type SnapshotLayout, type Step } from '../storage/log-storage.ts';
import { chunkAt, type SnapshotChunk, SnapshotReceiver } from '../storage/snapshot-transfer.ts';
import type { Packet, SnapshotAnswer } from '../transport/packet.ts';

/** Of one part, until the core is told that the follower cannot be given the snapshot now. */
const triesMax = 5;
/** Of the wait for an answer, from one try to the last; it doubles. */
const growthMax = 4;
const repeatMsMax = 30_000;

interface Surroundings {
  readonly id: NodeId;
  readonly storage: LogStorage;
  readonly send: (to: NodeId, packet: Packet) => void;
  /** Writes, each step made when the one before it is durable, and says when all are. */
  readonly write: (steps: Iterator<Step>, done: () => void) => void;
  readonly step: (input: Input) => void;
  /** Time after which a part without an answer is sent again, at least. */
  readonly repeatMs: number;
}

interface Sending {
  readonly manifest: Manifest;
  readonly state: Uint8Array;
  readonly term: Term;
  offset: number;
  timer: NodeJS.Timeout | undefined;
  /** When the part at `offset` was sent first. */
  sinceMs: number;
  /** Twice what the answer to the part before took: on a slow link parts that are sent again stand in the way of the next ones. */
  repeatMs: number;
}

/** Snapshots on their way to followers, one part at a time each, and the one that comes from a leader. */
export class SnapshotTraffic {
  readonly #world: Surroundings;
  readonly #sending = new Map<NodeId, Sending>();
  /** Where the log of each follower will end that is being given a snapshot, until it has come to take entries behind that. */
  readonly #awaited = new Map<NodeId, Index>();
  readonly #receiver = new SnapshotReceiver();
  /** The bytes of the current snapshot. */
  #state: Uint8Array = new Uint8Array(0);
  /** Those of the one that was put aside last. */
  #arrived: Uint8Array = new Uint8Array(0);
  /** Of a leader, on its way to the disk. */
  #arriving: SnapshotLayout | undefined;

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** This node has a newer snapshot of its own. */
  keep(state: Uint8Array): void {
    this.#state = state;
  }

  /** The state that is put aside becomes the current one. */
  install(): Uint8Array {
    this.#state = this.#arrived;
    return this.#state;
  }

  begin(to: NodeId, term: Term): void {
    this.#forget(to);
    const { manifest } = this.#world.storage;
    const { repeatMs } = this.#world;
    const sending: Sending = { manifest, state: this.#state, term, offset: 0, timer: undefined, sinceMs: 0, repeatMs };
    this.#sending.set(to, sending);
    this.#awaited.set(to, manifest.index);
    this.#sendFirst(to, sending);
  }

  /** The entries behind it are still to be sent to one of these. */
  oldestAwaited(followers: ReadonlyMap<NodeId, Progress> | undefined): Index | undefined {
    for (const id of [...this.#awaited.keys()]) if ((followers?.get(id)?.state ?? 'replicate') === 'replicate') this.#awaited.delete(id);
    return this.#awaited.size === 0 ? undefined : Math.min(...this.#awaited.values());
  }

  #sendFirst(to: NodeId, sending: Sending): void {
    sending.sinceMs = performance.now();
    this.#sendPart(to, sending, 1);
  }

  #sendPart(to: NodeId, sending: Sending, tries: number) {
    clearTimeout(sending.timer);
    if (tries > triesMax) return this.#end(to, false);
    const { manifest, state, term, offset } = sending;
    const chunk = chunkAt({ from: this.#world.id, term }, manifest, state, offset, chunkBytesDefault);
    this.#world.send(to, { kind: 'chunk', chunk });
    const waitMs = sending.repeatMs * Math.min(2 ** (tries - 1), growthMax);
    sending.timer = setTimeout(() => this.#sendPart(to, sending, tries + 1), waitMs);
  }

  answered({ from, term, index, offset }: SnapshotAnswer) {
    const sending = this.#sending.get(from);
    if (sending === undefined || sending.manifest.index !== index || sending.term !== term) return;
    if (offset >= sending.manifest.size) return this.#end(from, true);
    if (offset === sending.offset) return;
    sending.offset = offset;
    const tookMs = performance.now() - sending.sinceMs;
    sending.repeatMs = Math.min(Math.max(this.#world.repeatMs, 2 * tookMs), repeatMsMax);
    this.#sendFirst(from, sending);
  }

  #end(to: NodeId, succeeded: boolean): void {
    this.#forget(to);
    if (!succeeded) this.#awaited.delete(to);
    this.#world.step({ type: 'snapshotSent', to, succeeded });
  }

  #forget(to: NodeId): void {
    clearTimeout(this.#sending.get(to)?.timer);
    this.#sending.delete(to);
  }

  /** A part of a snapshot of a leader. `ownTerm` is the newest that this node knows: those of older leaders are nothing any more. */
  arrived(chunk: SnapshotChunk, ownTerm: Term) {
    if (chunk.term < ownTerm) return;
    const { id, storage } = this.#world;
    const { next, complete } = this.#receiver.receive(chunk);
    const { manifest, from, term } = chunk;
    const { index, term: ofEntry, configuration } = manifest;
    const meta = { index, term: ofEntry, configuration };
    const answer = (): void => this.#world.send(from, { kind: 'chunkAnswer', answer: { from: id, term, index, offset: next } });
    const install = (): void => this.#world.step({ type: 'message', message: { type: 'installSnapshot', from, to: id, term, meta } });
    if (complete === undefined) {
      answer();
      // It is there, and the leader has not heard so.
      if (next === manifest.size) install();
      return;
    }
    this.#arriving = storage.layOut(meta, complete, manifest.chain);
    this.#world.write(this.#putAside(this.#arriving, complete), () => {
      answer();
      if (!storage.hasStaged(meta)) return;
      this.#receiver.kept(manifest);
      install();
    });
  }

  /** Until a later one is whole. */
  *#putAside(layout: SnapshotLayout, state: Uint8Array): Generator<Step> {
    for (const step of layout.steps()) {
      yield step;
      if (this.#arriving !== layout) return yield layout.discard();
    }
    this.#arrived = state;
    yield this.#world.storage.stage(layout);
  }

  stop(): void {
    this.#arriving = undefined;
    for (const to of [...this.#sending.keys()]) this.#forget(to);
  }
}
