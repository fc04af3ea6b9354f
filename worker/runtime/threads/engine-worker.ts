import { parentPort, workerData } from 'node:worker_threads';
import { decodeValue, encodeValue } from '../../../shared/events/stored-value.ts';
import type { Value } from '../../../shared/events/value.ts';
import { sentError } from '../../../shared/threads/sent-error.ts';
import type { LookupRequest } from '../../engine/engine.ts';
import { RequestReader } from '../requests/request-reader.ts';
import { Heartbeat } from './heartbeat.ts';
import {
  type AnswerMessage,
  BODY_PADDING_BYTES,
  type CountersReply,
  type FromThread,
  type QuietResult,
  type RecordResult,
  type SlotCall,
  type ToThread,
  type WorkMessage,
} from './messages.ts';
import { Slot } from './slot.ts';

/** How old the counters may be that the API thread knows, ms. */
const COUNTERS_AGE_MS = 250;
/** Results wait for others at most this long, ms. */
const RESULTS_AGE_MS = 2;

/** What runs on an engine thread: takes messages in order, answers in batches. Begins at the end of this file. */
class EngineWorker {
  readonly #port: NonNullable<typeof parentPort>;
  readonly #heartbeat: Heartbeat;
  readonly #reader = new RequestReader();
  readonly #slots = new Map<number, Slot>();
  #results: (RecordResult | QuietResult)[] = [];
  #resultsSince = 0;
  #isFlushDue = false;
  readonly #touched = new Set<number>();
  #countersAt = 0;
  #countersLater: NodeJS.Timeout | undefined;
  /** What the API thread was asked and has not answered. */
  readonly #questions = new Map<number, { readonly resolve: (value: Value) => void; readonly reject: (error: Error) => void }>();
  #asked = 0;

  constructor(port: NonNullable<typeof parentPort>, heartbeat: Heartbeat) {
    this.#port = port;
    this.#heartbeat = heartbeat;
  }

  start(): void {
    this.#port.on('message', (message: ToThread) => this.#take(message));
    this.#post({ kind: 'ready' });
  }

  #take(message: ToThread): void {
    switch (message.kind) {
      case 'work':
        this.#work(message);
        break;
      case 'settle':
        this.#slot(message.slot).schedule(() => this.#slot(message.slot).settle(message.accepted));
        break;
      case 'answer':
        this.#answered(message);
        break;
      case 'unload':
        this.#slot(message.slot).schedule(() => {
          this.#slot(message.slot).unload();
          this.#slots.delete(message.slot);
        });
        break;
      default:
        this.#slot(message.slot).schedule(() => this.#reply(message, () => this.#slot(message.slot).answer(message)));
    }
  }

  #slot(number: number): Slot {
    let slot = this.#slots.get(number);
    if (slot === undefined) {
      slot = new Slot(number, {
        reader: this.#reader,
        heartbeat: this.#heartbeat,
        result: (of, result) => this.#result(of, result),
        lookup: (of, request) => this.#ask(of, request),
      });
      this.#slots.set(number, slot);
    }
    return slot;
  }

  /** Connections are the API thread's. It answers in time, also that it could not. */
  #ask(slot: number, { connector, key, timeoutMs }: LookupRequest): Promise<Value> {
    const question = ++this.#asked;
    this.#post({ kind: 'question', slot, question, connector, key: encodeValue(key), timeoutMs });
    return new Promise((resolve, reject) => this.#questions.set(question, { resolve, reject }));
  }

  /** Not in its turn: what the slot is busy with waits for it. */
  #answered({ question, found }: AnswerMessage): void {
    const asker = this.#questions.get(question);
    this.#questions.delete(question);
    if ('value' in found) asker?.resolve(decodeValue(found.value));
    else asker?.reject(new Error(found.problem));
  }

  #work({ arena, records }: WorkMessage): void {
    let at = 0;
    for (const record of records) {
      const body = record.length < 0 ? null : arena.subarray(at, at + record.length);
      if (body !== null) at += record.length + BODY_PADDING_BYTES;
      this.#slot(record.slot).take(record, body);
    }
    this.#flush();
  }

  /** Results of records that had to wait come outside of any message, so they see to their own flush. */
  #result(slot: number, result: RecordResult | QuietResult): void {
    const now = performance.now();
    if (this.#results.length === 0) this.#resultsSince = now;
    this.#results.push(result);
    this.#touched.add(slot);
    if (now - this.#resultsSince > RESULTS_AGE_MS) this.#flush();
    else this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#results.length === 0) return;
    const results = this.#results;
    this.#results = [];
    this.#post({ kind: 'results', results, counters: this.#dueCounters() });
  }

  #dueCounters(): (readonly [number, CountersReply])[] {
    const now = performance.now();
    if (now - this.#countersAt < COUNTERS_AGE_MS) {
      this.#countersLater ??= setTimeout(() => this.#sendCounters(), COUNTERS_AGE_MS);
      return [];
    }
    this.#countersAt = now;
    const due = [...this.#touched].flatMap((number) => {
      const counters = this.#slots.get(number)?.counters();
      return counters === undefined ? [] : [[number, counters] as const];
    });
    this.#touched.clear();
    return due;
  }

  /** Behind the last results nothing else would bring the counters. */
  #sendCounters(): void {
    this.#countersLater = undefined;
    this.#countersAt = 0;
    const counters = this.#dueCounters();
    if (counters.length > 0) this.#post({ kind: 'results', results: [], counters });
  }

  /** Answers a call, whatever becomes of it. Results that came before it go out before it. */
  #reply(call: SlotCall, action: () => unknown): void | Promise<void> {
    try {
      const value = action();
      if (value instanceof Promise)
        return value.then((known) => this.#succeed(call.id, known)).catch((error) => this.#fail(call.id, error));
      this.#succeed(call.id, value);
    } catch (error) {
      this.#fail(call.id, error);
    }
  }

  #succeed(id: number, value: unknown): void {
    this.#flush();
    this.#post({ kind: 'reply', id, result: { ok: true, value } });
  }

  #fail(id: number, error: unknown): void {
    this.#flush();
    this.#post({ kind: 'reply', id, result: { ok: false, error: sentError(error) } });
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

if (parentPort !== null) {
  new EngineWorker(parentPort, new Heartbeat((workerData as { readonly heartbeat: SharedArrayBuffer }).heartbeat)).start();
}
