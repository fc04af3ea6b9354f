import { CepError, InvariantError } from '../../../shared/errors/error.ts';
import { limits } from '../../../shared/limits.ts';
import type { TraceContext } from '../../../shared/telemetry/tracing.ts';
import type { InjectFormat, InjectResult } from '../service.ts';
import type { EnginePool } from '../threads/engine-pool.ts';
import type { EngineThread, NewCall, SlotOwner } from '../threads/engine-thread.ts';
import type { Beat } from '../threads/heartbeat.ts';
import type {
  AnswerMessage,
  CountersReply,
  LoadReply,
  QuestionMessage,
  RecordResult,
  RecordSource,
  SaveReply,
} from '../threads/messages.ts';
import type { LoadedProgram, WarmEngine } from '../threads/warm-engine.ts';
import { Fifo } from './fifo.ts';
import { ANSWER_OUTPUTS_MAX } from './record-answer.ts';
import type { SourceMark } from './runtime-storage.ts';

/** Records that a pipeline has on its thread at a time; the others wait here, so that no pipeline fills the thread's queue. */
const WINDOW_RECORDS = 256;
const WINDOW_BYTES = 4 * 1_048_576;
/** What an entry counts for besides its bytes. */
const ENTRY_BYTES = 64;

/** One input of a pipeline: a request with events, or a tick. Inputs are numbered; they are worked through in that order. */
export interface Entry {
  readonly sequence: number;
  /** Null: a tick. */
  readonly format: InjectFormat | null;
  /** Name of the field that says when an event happened; null = none is named. */
  readonly timeField: string | null;
  readonly bytes: Uint8Array | null;
  /** Epoch ms. */
  readonly time: number;
  /** Somebody waits for an answer that holds its outputs. */
  readonly isAnswered: boolean;
  readonly idempotencyKey: string | null;
  /** Where the source stood behind it; null: it came from elsewhere. */
  readonly source: SourceMark | null;
  /** The source gives it again to whoever goes on from a state that lacks it, and it arrives anew then. */
  readonly isGivenAgain: boolean;
  /** The part of a trace that its work is. */
  readonly trace: TraceContext | null;
  /** As `performance.now`. */
  readonly acceptedAt: number;
  /** Indexes of events that were given up. */
  readonly skip: number[];
  /** False while it is not yet on disk, where it has to be. */
  isReady: boolean;
  /** It was refused after all: nothing is done with it. */
  isDropped: boolean;
  /** Its result has been seen; it is worked through again because the thread was lost. */
  isReplay: boolean;
  /** It is in the log from before this process: its sender was told that it is kept. */
  readonly isRecovered: boolean;
  /** Of whoever waits for its answer. Null once that is given: it would hold the answer for as long as the entry is kept, which is until a state has it. */
  settle: { readonly resolve: (result: InjectResult) => void; readonly reject: (error: Error) => void } | null;
}

/** What the pipeline is told. */
export interface IntakeOwner {
  /** Somebody takes each output: none may be left out. @default nobody does */
  readonly takesOutputs?: boolean;
  /** Each entry once, in order, also those that nobody waits for. */
  result(entry: Entry, result: RecordResult): void;
  counters(counters: CountersReply): void;
  question(question: QuestionMessage, answer: (found: AnswerMessage['found']) => void): void;
  /** The thread is gone. `culprit`: the entry it hung at, and the index of the event. Everything accepted is still here. */
  lost(culprit: { readonly entry: Entry | undefined; readonly index: number } | undefined, reason: string): void;
}

export interface IntakeBase {
  readonly sequence: number;
  /** Null: a new engine, or one whose state the storage has. */
  readonly state: Uint8Array | null;
  /** When the last tick came of those without effect that came behind the state. */
  readonly ticked?: number | undefined;
}

/**
 * The inputs of one pipeline from acceptance to result, and the way to its thread. Keeps what was worked through since the last
 * saved state, so that a new thread can be brought to where the old one was.
 */
export class Intake implements SlotOwner {
  readonly #owner: IntakeOwner;
  readonly #pool: EnginePool;
  readonly #waiting = new Fifo<Entry>();
  readonly #sent = new Fifo<Entry>();
  #done: Entry[] = [];
  #base: IntakeBase;
  #queuedBytes = 0;
  #sentBytes = 0;
  #doneBytes = 0;
  #lastSent: number;
  #thread: EngineThread | undefined;
  #slot = 0;
  /** Reasons for which nothing new is sent. */
  #holds = 0;
  #isOpening = false;
  /** It was refused what it had: what stays is not worked on before it is opened again. */
  #isGivenUp = false;
  #hungAtOpening = false;
  #drained: { readonly upTo: number; readonly resolve: () => void }[] = [];
  #repeated: (() => void)[] = [];
  /** Of the program that is opened first. */
  #warm: WarmEngine | undefined;

  constructor(owner: IntakeOwner, pool: EnginePool, base: IntakeBase, warm?: WarmEngine) {
    this.#owner = owner;
    this.#pool = pool;
    this.#base = base;
    this.#lastSent = base.sequence;
    this.#warm = warm;
  }

  get base(): IntakeBase {
    return this.#base;
  }

  /** Bytes that a new thread would have to work through again. */
  get doneBytes(): number {
    return this.#doneBytes;
  }

  /** Whether anything came through since the base. */
  get isChanged(): boolean {
    return this.#done.length > 0;
  }

  /** The sequence of what came through last; that of the base when nothing has. */
  get doneUpTo(): number {
    return this.#done.at(-1)?.sequence ?? this.#base.sequence;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** The sequence of what was accepted last. */
  get acceptedUpTo(): number {
    return this.#waiting.last?.sequence ?? this.#sent.last?.sequence ?? this.doneUpTo;
  }

  get hasWork(): boolean {
    return this.#waiting.length + this.#sent.length > 0;
  }

  /** Whether something is not through that was accepted up to a sequence. */
  hasWorkUpTo(sequence: number): boolean {
    const next = this.#sent.first ?? this.#waiting.first;
    return next !== undefined && next.sequence <= sequence;
  }

  /** Whether the newest entry is a tick that has not been sent. */
  get lastIsWaitingTick(): boolean {
    return this.#waiting.last?.format === null;
  }

  /** @throws CepError `queue_full` */
  requireRoom(bytes: number): void {
    const records = this.#waiting.length + this.#sent.length;
    const isFull = this.#queuedBytes + bytes > limits.pipelineQueueBytesMax && records > 0;
    if (!isFull && records < limits.pipelineQueueRequestsMax) return;
    throw new CepError(
      'queue_full',
      `the pipeline has ${records} requests with ${this.#queuedBytes} bytes to work through, and takes no more`,
      {
        hint: 'send the same request again in a moment',
        retryAfterSeconds: 1,
      },
    );
  }

  accept(entry: Entry): void {
    this.#waiting.push(entry);
    this.#queuedBytes += sizeOf(entry);
    this.pump();
  }

  /** The entry may go on, or is dropped. */
  release(entry: Entry, isKept: boolean): void {
    entry.isReady = true;
    entry.isDropped = !isKept;
    this.pump();
  }

  /** Sends what may be sent. */
  pump(): void {
    const thread = this.#openThread;
    while (thread !== undefined) {
      const entry = this.#waiting.first;
      if (entry === undefined || !entry.isReady || (this.#holds > 0 && !entry.isReplay)) break;
      const size = sizeOf(entry);
      const isFull = this.#sent.length >= WINDOW_RECORDS || this.#sentBytes + size > WINDOW_BYTES;
      if (!entry.isDropped && isFull && this.#sent.length > 0) break;
      this.#waiting.shift();
      if (entry.isDropped) this.#queuedBytes -= size;
      else this.#send(thread, entry, size);
    }
    this.#tellDrained();
    this.#tellRepeated();
  }

  /** The one that has the engine of this pipeline. */
  get #openThread(): EngineThread | undefined {
    return this.#isOpening ? undefined : this.#thread;
  }

  #send(thread: EngineThread, entry: Entry, size: number): void {
    const { sequence, format, timeField, bytes, time, skip } = entry;
    const source = entry.source === null ? undefined : cameBy(entry.source);
    this.#sent.push(entry);
    this.#sentBytes += size;
    this.#lastSent = sequence;
    const outputsMax = entry.isReplay ? 0 : this.#outputsMaxOf(entry);
    const isEnvelopeOpen = entry.isRecovered || entry.source !== null;
    thread.send({ slot: this.#slot, sequence, format, timeField, source, isEnvelopeOpen, time, outputsMax, skip }, bytes);
  }

  #outputsMaxOf({ isAnswered }: Entry): number | null {
    if (this.#owner.takesOutputs === true) return null;
    return isAnswered ? ANSWER_OUTPUTS_MAX : limits.outputRingEventsMax;
  }

  result(result: RecordResult): void {
    const entry = this.#sent.shift();
    if (entry === undefined || entry.sequence !== result.sequence) throw new InvariantError('results come in the order of the records');
    const size = sizeOf(entry);
    this.#sentBytes -= size;
    this.#queuedBytes -= size;
    if (result.failure !== null) {
      this.#break(entry, result.failure);
      return;
    }
    this.#done.push(entry);
    this.#doneBytes += size;
    if (!entry.isReplay) this.#owner.result(entry, result);
    this.pump();
  }

  /** The engine broke: it goes the way of one whose thread was lost. */
  #break(entry: Entry, { index, message }: NonNullable<RecordResult['failure']>): void {
    if (!entry.skip.includes(index)) entry.skip.push(index);
    this.#queuedBytes += sizeOf(entry);
    this.#sent.putBack([entry]);
    this.close();
    this.#owner.lost({ entry, index }, message);
  }

  counters(counters: CountersReply): void {
    this.#owner.counters(counters);
  }

  question(...asked: Parameters<SlotOwner['question']>): void {
    this.#owner.question(...asked);
  }

  /** Puts the pipeline on a thread, with the state of the base. @throws CepError when the program does not start */
  async open(
    load: LoadedProgram,
    options: { readonly tenantId: string; readonly isSuspect: boolean; readonly state: Uint8Array | null },
  ): Promise<LoadReply> {
    this.#putBack();
    this.#isGivenUp = false;
    const { state } = options;
    const { ticked } = this.#base;
    const warm = options.isSuspect ? undefined : this.#warm?.take(this, load);
    this.#leaveWarm();
    const thread = warm?.thread ?? this.#pool.place(options);
    this.#isOpening = true;
    this.#hungAtOpening = false;
    this.#thread = thread;
    const slot = warm?.slot ?? thread.attach(this);
    this.#slot = slot;
    try {
      const reply = await thread.call<LoadReply>(
        warm !== undefined ? { kind: 'fill', slot, state, ticked } : { kind: 'load', slot, state, ticked, ...load },
      );
      this.#lastSent = this.#base.sequence;
      this.#owner.counters(reply.counters);
      return reply;
    } catch (error) {
      this.#leave(thread);
      throw error;
    } finally {
      this.#isOpening = false;
      this.pump();
    }
  }

  #leaveWarm(): void {
    this.#warm?.leave();
    this.#warm = undefined;
  }

  /** The thread was lost at the last `open`, and because of this program. */
  get hungAtOpening(): boolean {
    return this.#hungAtOpening;
  }

  /** Leaves the thread; what has not been worked through stays. */
  close(): void {
    this.#leaveWarm();
    if (this.#thread === undefined) return;
    this.#leave(this.#thread);
    this.#putBack();
    this.#tellRepeated();
  }

  #leave(thread: EngineThread): void {
    thread.detach(this.#slot);
    this.#thread = undefined;
  }

  lost(beat: Beat | undefined, reason: string): void {
    this.#thread = undefined;
    if (this.#isOpening) {
      this.#hungAtOpening = beat !== undefined;
      return; // The call that loads the program has been refused, which says so.
    }
    const entry = beat && this.#sentEntry(beat.record);
    if (entry && !entry.skip.includes(beat.event)) entry.skip.push(beat.event);
    this.#putBack();
    this.#tellRepeated();
    this.#owner.lost(beat && { entry, index: beat.event }, reason);
  }

  #sentEntry(record: number): Entry | undefined {
    for (const entry of this.#sent) if ((entry.sequence & 0x7fff_ffff) === record) return entry;
    return undefined;
  }

  /** What the lost engine had worked through or begun comes again, in order. */
  #putBack(): void {
    const sent = this.#sent.takeAll();
    for (const entry of this.#done) {
      entry.isReplay = true;
      this.#queuedBytes += sizeOf(entry);
    }
    this.#waiting.putBack([...this.#done, ...sent]);
    this.#done = [];
    this.#doneBytes = 0;
    this.#sentBytes = 0;
  }

  /** Nothing is sent until `resume`, but for what comes again: it brings the engine to where it was, and makes nothing that somebody had to take. */
  pause(): void {
    this.#holds++;
  }

  resume(): void {
    this.#holds--;
    this.pump();
  }

  /** Asks the engine behind everything sent so far. */
  call<T, R = T>(call: (slot: number) => NewCall, take?: (value: T) => R): Promise<R> {
    if (this.#openThread === undefined) {
      return Promise.reject(
        new CepError('not_ready', 'the pipeline is being moved to another thread: try again', { retryAfterSeconds: 1 }),
      );
    }
    return this.#openThread.call<T, R>(call(this.#slot), take);
  }

  /** The state behind everything sent so far; it becomes the base. `take` sees it before anything behind it comes through. `format`: of states. */
  save<R>(
    take: (saved: { readonly sequence: number; readonly state: Uint8Array; readonly durationMs: number }) => R,
    format?: number,
  ): Promise<R> {
    if (this.#isBehind) return this.repeated().then(() => this.save(take, format));
    const sequence = this.#lastSent;
    return this.call<SaveReply, R>(
      (slot) => ({ kind: 'save', slot, format }),
      ({ state, durationMs }) => {
        this.rebase({ sequence, state });
        return take({ sequence, state, durationMs });
      },
    );
  }

  /** The engine has not been sent all that a lost one had worked through: its state would lack what counts, answers and sources have. */
  get #isBehind(): boolean {
    if (this.#openThread === undefined) return false;
    for (const { isReplay, isDropped } of this.#waiting) {
      if (!isReplay) return false; // What comes again comes first.
      if (!isDropped) return true;
    }
    return false;
  }

  /** Resolves when the next call finds the engine behind nothing that came through, or there is no engine to call. */
  async repeated(): Promise<void> {
    while (this.#isBehind) await new Promise<void>((resolve) => this.#repeated.push(resolve));
  }

  #tellRepeated(): void {
    if (this.#repeated.length > 0 && !this.#isBehind) for (const resolve of this.#repeated.splice(0)) resolve();
  }

  /** Of what the engine has, and has not given a result of: in order. */
  get sentMarks(): readonly SourceMark[] {
    return Array.from(this.#sent).flatMap(({ source }) => (source === null ? [] : [source]));
  }

  /** The sequence of what was sent last: what the engine will have worked through when it answers the next call. */
  get lastSent(): number {
    return this.#lastSent;
  }

  /** A state that stands for everything up to its sequence. */
  rebase(base: IntakeBase): void {
    if (base.sequence < this.#base.sequence) return; // A newer one came meanwhile.
    this.#base = base;
    // A thread was lost since: what the state stands for is not to be done again.
    for (const entry of this.#waiting) if (entry.isReplay && entry.sequence <= base.sequence) entry.isDropped = true;
    const kept = this.#done.filter(({ sequence }) => sequence > base.sequence);
    for (const entry of this.#done) if (entry.sequence <= base.sequence) this.#doneBytes -= sizeOf(entry);
    this.#done = kept;
  }

  /** The storage has the state of the base, so it need not be kept here. */
  forgetState(sequence: number): void {
    if (this.#base.sequence === sequence) this.#base = { ...this.#base, state: null };
  }

  settle(accepted: boolean): void {
    this.#thread?.settle(this.#slot, accepted);
  }

  /**
   * Resolves when everything that was accepted up to a sequence is through, or given up; at once when nobody works on it. Without a sequence
   * what comes meanwhile is waited for, too.
   */
  drained(upTo = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push({ upTo, resolve });
      this.#tellDrained();
    });
  }

  #tellDrained(): void {
    if (this.#drained.length === 0) return;
    const isDone = ({ upTo }: { readonly upTo: number }): boolean => this.#isGivenUp || !this.hasWorkUpTo(upTo);
    const done = this.#drained.filter(isDone);
    if (done.length === 0) return;
    this.#drained = this.#drained.filter((one) => !isDone(one));
    for (const { resolve } of done) resolve();
  }

  /**
   * Refuses everything that was accepted and has no result yet; gives it back. What came from sources stays, and what the log holds from
   * before: nobody would send it again.
   * `isGone`: nobody will ever work on it here, so nothing stays.
   */
  refuseAll(error: CepError, { isGone = false } = {}): readonly Entry[] {
    const all = this.#waiting.takeAll();
    const stays = ({ source, isReplay, isRecovered, isDropped }: Entry): boolean => {
      const isOfSource = source !== null && source.answer === undefined;
      return !isGone && (isOfSource || isRecovered) && !isReplay && !isDropped;
    };
    this.#waiting.putBack(all.filter(stays));
    const entries = all.filter((entry) => !stays(entry));
    const refused = entries.filter((entry) => !entry.isReplay && !entry.isDropped);
    for (const entry of entries) {
      this.#queuedBytes -= sizeOf(entry);
      if (entry.isReplay) {
        this.#done.push(entry);
        this.#doneBytes += sizeOf(entry);
      }
    }
    for (const entry of refused) entry.settle?.reject(error);
    // Whoever waits for what stays would wait for ever: nobody works on it now.
    this.#isGivenUp = true;
    this.#tellDrained();
    return refused;
  }
}

function cameBy({ id, partition, awaited, answer }: SourceMark): RecordSource {
  return { id, partition, awaited, isConnector: answer === undefined };
}

function sizeOf({ bytes }: Entry): number {
  return ENTRY_BYTES + (bytes?.byteLength ?? 0);
}
