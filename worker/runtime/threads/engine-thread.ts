import type { Worker } from 'node:worker_threads';
import { CepError } from '../../../shared/errors/error.ts';
import { receivedError } from '../../../shared/threads/sent-error.ts';
import { spawnThread } from '../../../shared/threads/spawn.ts';
import { type Beat, Heartbeat } from './heartbeat.ts';
import {
  type AnswerMessage,
  BODY_PADDING_BYTES,
  type CountersReply,
  type FromThread,
  type QuestionMessage,
  type RecordResult,
  type SlotCall,
  type ToThread,
  type WorkRecord,
} from './messages.ts';
import { fullResult } from './record-outcome.ts';

/** What a thread tells the pipeline of a slot. */
export interface SlotOwner {
  /** Results come in the order in which the records were sent, and before replies to calls that were made later. */
  result(result: RecordResult): void;
  counters(counters: CountersReply): void;
  /** `answer` is called once. */
  question(question: QuestionMessage, answer: (found: AnswerMessage['found']) => void): void;
  /** The thread is gone, and everything on it; calls under way have been refused. `culprit`: what it was busy with, if it was this slot. */
  lost(culprit: Beat | undefined, reason: string): void;
}

type DistributedOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type NewCall = DistributedOmit<SlotCall, 'id'>;

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One engine thread as the API thread sees it. It never blocks the caller, whatever runs on it. */
export class EngineThread {
  readonly name: string;
  /** The thread ended, by itself or by `kill`; owners are told before. */
  onEnd: (() => void) | undefined;
  readonly #worker: Worker;
  readonly #heartbeat = new Heartbeat();
  readonly #owners = new Map<number, SlotOwner>();
  readonly #calls = new Map<number, PendingCall>();
  #nextSlot = 1;
  #nextCall = 1;
  #records: WorkRecord[] = [];
  #bytes: Uint8Array[] = [];
  #byteLength = 0;
  #isFlushDue = false;
  #isReady = false;
  #isEnded = false;
  #queueBytes = 0;

  constructor(name: string, heapMb: number) {
    this.name = name;
    this.#worker = spawnThread('worker/runtime/threads/engine-worker.ts', {
      name,
      data: { heartbeat: this.#heartbeat.shared },
      limits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#end(`the engine thread ended: ${error.message}`));
    this.#worker.on('exit', () => this.#end('the engine thread ended'));
  }

  get pipelines(): number {
    return this.#owners.size;
  }

  /** Of records sent and not yet answered. */
  get queueBytes(): number {
    return this.#queueBytes;
  }

  /** What the thread is busy with now; undefined while it starts, and when it is idle. */
  get beat(): Beat | undefined {
    return this.#isReady ? this.#heartbeat.read() : undefined;
  }

  /** It has come to life. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  attach(owner: SlotOwner): number {
    const slot = this.#nextSlot++;
    this.#owners.set(slot, owner);
    return slot;
  }

  /** What the thread says of the slot is told to another owner. */
  handOver(slot: number, owner: SlotOwner): void {
    if (this.#owners.has(slot)) this.#owners.set(slot, owner);
  }

  /** The pipeline of the slot leaves; what is still under way for it is dropped. */
  detach(slot: number): void {
    if (!this.#owners.delete(slot) || this.#isEnded) return;
    this.#post({ kind: 'unload', slot });
  }

  /** Sends a record behind everything that was sent before, together with others of this turn. */
  send(record: Omit<WorkRecord, 'length'>, bytes: Uint8Array | null): void {
    if (this.#isEnded) return;
    this.#queueBytes += bytes?.byteLength ?? 0;
    // Member by member: to copy those that one does not name takes a microsecond.
    const { slot, sequence, format, timeField, source, isEnvelopeOpen, time, outputsMax, skip } = record;
    const length = bytes === null ? -1 : bytes.byteLength;
    this.#records.push({ slot, sequence, format, timeField, source, isEnvelopeOpen, length, time, outputsMax, skip });
    if (bytes !== null) {
      this.#bytes.push(bytes);
      this.#byteLength += bytes.byteLength + BODY_PADDING_BYTES;
    }
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => this.#flush());
  }

  /**
   * `take` sees the answer before anything else that the thread says comes in.
   * @throws CepError what the thread answered; `not_ready` when it was lost meanwhile
   */
  call<T, R = T>(call: NewCall, take?: (value: T) => R): Promise<R> {
    if (this.#isEnded) return Promise.reject(threadLost());
    const id = this.#nextCall++;
    this.#post({ ...call, id } as SlotCall);
    return new Promise<R>((resolve, reject) => {
      this.#calls.set(id, { resolve: (value) => resolve(take ? take(value as T) : (value as R)), reject });
    });
  }

  settle(slot: number, accepted: boolean): void {
    if (!this.#isEnded) this.#post({ kind: 'settle', slot, accepted });
  }

  /** Ends the thread at once, in the middle of whatever it does. */
  kill(reason: string): void {
    this.#end(reason);
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    this.#refuseCalls();
    await this.#worker.terminate();
  }

  #refuseCalls(): void {
    for (const call of this.#calls.values()) call.reject(threadLost());
    this.#calls.clear();
  }

  #post(message: ToThread): void {
    this.#flush();
    this.#worker.postMessage(message);
  }

  #flush(): void {
    this.#isFlushDue = false;
    if (this.#records.length === 0 || this.#isEnded) return;
    const arena = new Uint8Array(this.#byteLength);
    let at = 0;
    for (const bytes of this.#bytes) {
      arena.set(bytes, at);
      at += bytes.byteLength + BODY_PADDING_BYTES;
    }
    const message: ToThread = { kind: 'work', arena, records: this.#records };
    this.#records = [];
    this.#bytes = [];
    this.#byteLength = 0;
    this.#worker.postMessage(message, [arena.buffer]);
  }

  #take(message: FromThread): void {
    if (this.#isEnded) return;
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        break;
      case 'results':
        for (const each of message.results) {
          const result = 'slot' in each ? each : fullResult(each);
          this.#queueBytes -= result.length;
          this.#owners.get(result.slot)?.result(result);
        }
        for (const [slot, counters] of message.counters) this.#owners.get(slot)?.counters(counters);
        break;
      case 'question':
        this.#owners.get(message.slot)?.question(message, (found) => {
          if (!this.#isEnded) this.#post({ kind: 'answer', question: message.question, found });
        });
        break;
      case 'reply': {
        const call = this.#calls.get(message.id);
        this.#calls.delete(message.id);
        if (message.result.ok) call?.resolve(message.result.value);
        else call?.reject(receivedError(message.result.error));
      }
    }
  }

  #end(reason: string): void {
    if (this.#isEnded) return;
    const beat = this.#heartbeat.read();
    this.#isEnded = true;
    void this.#worker.terminate();
    this.#refuseCalls();
    this.onEnd?.();
    const owners = [...this.#owners];
    this.#owners.clear();
    for (const [slot, owner] of owners) owner.lost(beat?.slot === slot ? beat : undefined, reason);
  }
}

function threadLost(): CepError {
  return new CepError('not_ready', 'the engine thread ended while it worked on this: try again', { retryAfterSeconds: 1 });
}
