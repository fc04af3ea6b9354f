import { setTimeout as sleep } from 'node:timers/promises';
import { type TraceContext, type Tracer, traceparentOf } from '../../../shared/telemetry/tracing.ts';
import { DeliveryFailure, type Outcome, type Sink, type SinkMessage } from '../connector.ts';
import { inTime } from '../in-time.ts';
import { BatchSize } from './batch-size.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { DeadLetter, DeadLetters, FailedAgain } from './dead-letters.ts';
import { Ledger, type SavedLedger } from './ledger.ts';
import { LetterReports } from './letter-reports.ts';
import { type Burial, circuitOpen, givenUp, letterOf, messageOf, messageOfLetter, type OutgoingEvent } from './outgoing-event.ts';
import { newSinkTally, type SinkTally } from './sink-tallies.ts';

export interface SinkQueueOptions {
  readonly pipelineId: string;
  /** The connector's name, as dead letters have it. */
  readonly name: string;
  readonly sink: Sink;
  readonly deadLetters: DeadLetters;
  /** Requests after the first. */
  readonly retries: number;
  readonly failureThreshold: number;
  readonly resetTimeoutMs: number;
  /** How long a batch waits for more, ms. @default it does not wait */
  readonly lingerMs?: number;
  readonly report: (report: {
    readonly level: 'info' | 'warn' | 'error';
    readonly message: string;
    readonly fields: Record<string, string | number | boolean>;
  }) => void;
  /** Something changed that others may look at: the breaker, or how much is pending. */
  readonly onChange: () => void;
  /** Takes secrets out of what the sink says went wrong. */
  readonly redact: (text: string) => string;
  readonly tracer?: Tracer | undefined;
  /** Asked before each request; while it says no, everything stays pending, and `resume` says that it may have changed. @default always */
  readonly mayDeliver?: (() => boolean) | undefined;
  /** What is pushed now is not sent before a checkpoint has it, or this is over. @default never */
  readonly isHeld?: (() => boolean) | undefined;
  /** Where it counts on. @default it begins with nothing */
  readonly tally?: SinkTally;
  /** Tests put in what suits them. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const BACKOFF_MS = 200;
/** Where a sink is to be tried for long, it is tried often enough that one that is back does not wait. */
const BACKOFF_MS_MAX = 2_000;
/** Of what the other side says of when to come again. */
const PAUSE_MS_MAX = 60_000;
/** How long to wait before a dead letter that cannot be written is tried again, ms. */
const LETTER_RETRY_MS = 1_000;
/** How long a sink may take to close, ms: one that is about to connect hears of nothing before its server answers, or does not. */
const CLOSE_MS_MAX = 1_000;

const changes = { open: 'Circuit breaker opened', half_open: 'Circuit breaker half-open', closed: 'Circuit breaker closed' } as const;

/**
 * The way of events to one sink, in order. Each ends delivered or as a dead letter; until then it is pending. A sink that takes batches gets
 * them while its circuit is closed: what one did not take is a batch again after a while, and a smaller one where nobody says which event is
 * to blame. How often an event is tried, what the breaker counts and what becomes a dead letter is as if each was sent alone, in its turn.
 */
export class SinkQueue {
  readonly name: string;
  readonly #options: SinkQueueOptions;
  readonly #now: () => number;
  readonly #breaker: CircuitBreaker;
  readonly #batchSize: BatchSize;
  /** The last failure that the breaker counted. */
  #lastFailure = '';
  #pending: OutgoingEvent[] = [];
  #pushed = 0;
  /** Up to this one they may leave, whatever has come behind them. */
  #kept = 0;
  #bytes = 0;
  /** Requests made for events that are under way. */
  readonly #attempts = new Map<OutgoingEvent, number>();
  /** Those whose failure the breaker has counted. */
  readonly #counted = new WeakSet<OutgoingEvent>();
  /** Dead letters that are to be sent again, each between two steps: a sink is asked for one thing at a time. */
  readonly #replays: (() => Promise<void>)[] = [];
  #working: Promise<void> | undefined;
  readonly #end = new AbortController();
  #idle: (() => void)[] = [];
  readonly tally: SinkTally;
  readonly #letterReports: LetterReports;
  /** Of a sink that awaits checkpoints. */
  readonly #ledger: Ledger | undefined;

  constructor(options: SinkQueueOptions) {
    this.name = options.name;
    this.#options = options;
    this.#now = options.now ?? ((): number => performance.now());
    this.tally = options.tally ?? newSinkTally();
    this.#letterReports = new LetterReports(options);
    this.#batchSize = new BatchSize(options.sink.batching?.messages ?? 1);
    this.#ledger = options.sink.awaitsCheckpoint ? new Ledger() : undefined;
    const { failureThreshold, resetTimeoutMs } = options;
    this.#breaker = new CircuitBreaker({
      failureThreshold,
      resetTimeoutMs,
      now: this.#now,
      onChange: (state) => {
        this.tally.transitions[state]++;
        const fields = { connector: options.name, pipeline: options.pipelineId, failures: failureThreshold };
        const isOpen = state === 'open';
        options.report({
          level: isOpen ? 'warn' : 'info',
          message: changes[state],
          fields: isOpen ? { ...fields, reason: this.#lastFailure } : fields,
        });
        options.onChange();
      },
    });
  }

  get state(): CircuitBreaker['state'] {
    return this.#breaker.state;
  }

  /** Why nothing is sent for now, without secrets; null while the circuit is closed. */
  get problem(): string | null {
    return this.state === 'closed' ? null : this.#lastFailure;
  }

  get pending(): readonly OutgoingEvent[] {
    return this.#pending;
  }

  get pendingBytes(): number {
    return this.#bytes;
  }

  /** How many there have been. */
  get pushed(): number {
    return this.#pushed;
  }

  /** So many of all that were pushed are in a checkpoint that counts. */
  kept(pushed: number): void {
    this.#kept = Math.max(this.#kept, pushed);
    this.#begin();
  }

  push(event: OutgoingEvent): void {
    this.#pushed++;
    if (this.#options.isHeld?.() !== true) this.#kept = this.#pushed;
    this.#pending.push(this.#ledger?.placed(event) ?? event);
    this.#bytes += event.fieldsJson.length;
    this.#begin();
  }

  /** Something waits for a checkpoint that has it. */
  get awaitsCheckpoint(): boolean {
    const last = this.#pending.at(-1);
    return last !== undefined && !this.#isSafe(last);
  }

  saveLedger(): SavedLedger | undefined {
    return this.#ledger?.save();
  }

  /** Before anything is pushed. */
  loadLedger(saved: SavedLedger): void {
    this.#ledger?.load(saved);
  }

  /** A checkpoint is safe that has this. */
  checkpointed(saved: SavedLedger): void {
    this.#ledger?.safe(saved);
    this.#begin();
  }

  /** Of the pending ones, from the first on, which nothing holds. When some have gone before their turn it counts fewer, until the next checkpoint. */
  get #free(): number {
    return this.#options.isHeld?.() === true ? this.#kept - (this.#pushed - this.#pending.length) : Number.POSITIVE_INFINITY;
  }

  #isSafe(event: OutgoingEvent): boolean {
    return this.#ledger?.isSafe(event) ?? true;
  }

  /** The first may be sent. */
  get #isReady(): boolean {
    const [first] = this.#pending;
    return first !== undefined && this.#isSafe(first) && this.#free > 0 && !this.#isHeld;
  }

  #begin(): void {
    if (this.#working !== undefined || !(this.#isReady || this.#replays.length > 0)) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      this.#begin();
    });
  }

  /** Resolves when nothing is pending. */
  idle(): Promise<void> {
    return this.#pending.length === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  get #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  /** Nothing is to be sent now. */
  get #isHeld(): boolean {
    return this.#isClosed || this.#options.mayDeliver?.() === false;
  }

  /** Goes on after a time in which nothing could be delivered. */
  resume(): void {
    this.#begin();
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Ends what is under way, which stays pending like everything behind it. Waits for no answer. */
  async close(): Promise<void> {
    await this.#ended();
    await this.#closeSink();
  }

  async #ended(): Promise<void> {
    this.#end.abort();
    await this.#working;
    this.#letterReports.close();
  }

  /** One that takes longer is left to itself. */
  #closeSink(): Promise<void> {
    return inTime(this.#options.sink.close(), CLOSE_MS_MAX).catch(() => undefined);
  }

  /** Closes; what is pending becomes dead letters. They are handed over at once, so that they are written even if nobody waits for it. */
  async giveUp(): Promise<void> {
    await this.#ended();
    await Promise.all([this.#closeSink(), this.#buryPending()]);
  }

  async #buryPending(): Promise<void> {
    const events = this.#pending.splice(0);
    this.#bytes = 0;
    if (events.length === 0) return;
    const letters = events.map((event) => this.#letterOf(event, givenUp));
    const written = await Promise.allSettled(letters.map((letter) => this.#options.deadLetters.add(letter)));
    const failures = written.filter((outcome) => outcome.status === 'rejected');
    this.#letterCounted(givenUp, events.length - failures.length);
    if (failures[0] !== undefined) this.#letterFailed(failures[0].reason, failures.length);
    this.#letterReports.close();
  }

  async #work(): Promise<void> {
    while (this.#isReady || this.#replays.length > 0) {
      const replay = this.#replays.shift();
      if (replay !== undefined) await replay();
      if (!this.#isReady) continue;
      const before = this.#pending.length;
      await this.#step();
      if (this.#pending.length !== before) this.#options.onChange();
    }
    if (this.#pending.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Brings one event or one batch through, if it can: when not even a dead letter could be kept, all of it is tried again. */
  async #step(): Promise<void> {
    const [event] = this.#pending as [OutgoingEvent];
    const permission = this.#breaker.ask();
    if (permission === 'reject') return this.#bury([event], circuitOpen);
    this.#attempts.delete(event);
    if (permission === 'probe') await this.#probe(event);
    else if (this.#mayBatch) await this.#deliverBatch();
    else await this.#deliver(event);
  }

  get #mayBatch(): boolean {
    const { sink, lingerMs = 0 } = this.#options;
    return sink.batching !== undefined && (this.#pending.length > 1 || lingerMs > 0);
  }

  async #deliverBatch(): Promise<void> {
    const { sink, lingerMs = 0 } = this.#options;
    if (lingerMs > 0 && this.#pending.length < (sink.batching?.messages ?? 1)) await this.#pause(lingerMs);
    if (this.#isHeld) return;
    const events = this.#safePart(this.#batchSize.of(this.#pending));
    for (const event of events) this.#attempts.delete(event);
    const ends = new Map<OutgoingEvent, End>();
    for (let settled = 0; settled < events.length && this.#breaker.state === 'closed'; ) {
      const waitMs = await this.#try(
        events.filter((event) => !ends.has(event)),
        ends,
      );
      settled = await this.#settle(events, ends, settled);
      if (waitMs === undefined || this.#isHeld || isStuck(events, ends, settled)) break;
      if (waitMs > 0 && settled < events.length && this.#breaker.state === 'closed') await this.#pause(waitMs);
    }
    // What was taken is through, whatever stands before it.
    const taken = events.filter((event) => ends.get(event) === 'taken' && this.#attempts.has(event));
    this.tally.delivered += taken.length;
    this.#remove(taken);
  }

  /**
   * One request for as many of the events as fit, which come to their end there or are left for the next. How long to wait before that, ms;
   * undefined when it was given up.
   */
  async #try(events: readonly OutgoingEvent[], ends: Map<OutgoingEvent, End>): Promise<number | undefined> {
    const part = this.#batchSize.of(events);
    const outcomes = await this.#request(part);
    if (outcomes === undefined) return undefined;
    if (outcomes.includes('alone')) this.#batchSize.failed();
    else this.#batchSize.taken();
    let waitMs = 0;
    for (const [at, event] of part.entries()) {
      const outcome = outcomes[at] ?? 'alone';
      if (outcome === 'alone') continue;
      const attempts = (this.#attempts.get(event) ?? 0) + 1;
      this.#attempts.set(event, attempts);
      if (outcome === 'taken' || outcome.isPermanent || attempts > this.#options.retries) ends.set(event, outcome);
      else waitMs = Math.max(waitMs, outcome.retryAfterMs ?? this.#backoffMs(attempts));
    }
    return waitMs;
  }

  /** Of events whose end is known and before which all are through; how many of all are through then. */
  async #settle(events: readonly OutgoingEvent[], ends: ReadonlyMap<OutgoingEvent, End>, from: number): Promise<number> {
    const known = events.map((event) => ends.get(event));
    let at = from;
    while (known[at] !== undefined && this.#breaker.state === 'closed') {
      const run = takenFrom(known, at);
      if (run > 0) this.#taken(events.slice(at, at + run));
      else if (!(await this.#buryFailed(events[at] as OutgoingEvent, known[at] as DeliveryFailure))) break;
      at += Math.max(1, run);
    }
    return at;
  }

  /** False when it could not be kept, and stays where it is. */
  async #buryFailed(event: OutgoingEvent, { code, message, isPermanent }: DeliveryFailure): Promise<boolean> {
    const burial: Burial = { code, message: this.#options.redact(message), isPermanent };
    if (!isPermanent) this.#failedOnce(event, burial);
    await this.#bury([event], burial);
    return this.#pending[0] !== event;
  }

  /** Those at the front that may be sent. `from`: where they begin among the pending ones. */
  #safePart(events: readonly OutgoingEvent[], from = 0): readonly OutgoingEvent[] {
    const free = Math.max(0, this.#free - from);
    const end = this.#ledger === undefined ? -1 : events.findIndex((event) => !this.#isSafe(event));
    return end < 0 && free >= events.length ? events : events.slice(0, end < 0 ? free : Math.min(end, free));
  }

  /** Undefined when it was given up, so that nobody knows. One event is sent alone, so that what is wrong with it is told. */
  async #request(events: readonly OutgoingEvent[]): Promise<readonly Outcome[] | undefined> {
    const { sink, tracer } = this.#options;
    const { signal } = this.#end;
    const startedAtMs = performance.now();
    const contexts = events.map(({ trace }) => trace && tracer?.child(trace));
    const messages = events.map((event, at) => messageOf(event, traceparentText(contexts[at])));
    const [message] = messages;
    const sending =
      messages.length === 1 && message !== undefined
        ? this.#sendOnce(message).then((failure) => [failure ?? 'taken'] as const)
        : (sink.batching?.send(messages, signal) ?? Promise.resolve([]));
    const outcomes = await unless(signal, sending).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    if (signal.aborted) return undefined;
    for (const [at, event] of events.entries()) {
      const outcome = outcomes?.[at];
      this.#record(event, contexts[at], startedAtMs, outcome instanceof DeliveryFailure ? outcome.code : undefined);
    }
    return outcomes;
  }

  async #deliver(event: OutgoingEvent): Promise<void> {
    const failure = await this.#attempt(event, this.#options.retries);
    if (failure === undefined) return this.#taken([event]);
    if (this.#isHeld || failure === heldBack) return;
    if (!failure.isPermanent) this.#failedOnce(event, failure);
    await this.#bury([event], failure);
  }

  /** An event that is sent again because not even its dead letter could be kept is one failure all the same. */
  #failedOnce(event: OutgoingEvent, failure: Burial): void {
    if (this.#counted.has(event)) return;
    this.#counted.add(event);
    this.#failed(failure);
  }

  #failed({ message }: Burial): void {
    this.#lastFailure = message;
    this.#breaker.failed();
  }

  #taken(events: readonly OutgoingEvent[]): void {
    this.#breaker.succeeded();
    this.tally.delivered += events.length;
    this.#remove(events);
  }

  /** These are through. */
  #remove(events: readonly OutgoingEvent[]): void {
    for (const event of events) {
      this.#bytes -= event.fieldsJson.length;
      this.#attempts.delete(event);
    }
    if (events.length === 1 && events[0] === this.#pending[0]) this.#pending.shift();
    else if (events.every((event, at) => this.#pending[at] === event)) this.#pending.splice(0, events.length);
    else {
      const gone = new Set(events);
      this.#pending = this.#pending.filter((event) => !gone.has(event));
    }
  }

  /** One event says whether the sink is back. What comes meanwhile waits behind it: it is sent when the sink has taken that one, and given up when it has not. */
  async #probe(event: OutgoingEvent): Promise<void> {
    const failure = await this.#attempt(event, 0);
    if (failure === undefined) return this.#taken([event]);
    if (this.#isHeld || failure === heldBack) return this.#breaker.undecided();
    if (failure.isPermanent) {
      this.#breaker.undecided();
      return this.#bury([event], failure);
    }
    const others = this.#safePart(this.#pending.slice(1), 1);
    this.#failed(failure);
    await this.#bury([event], failure);
    if (this.#pending[0] !== event) await this.#bury(others, circuitOpen);
  }

  /** Sends it, again as often as allowed, and records how long that took. Undefined when it was taken. */
  async #attempt(event: OutgoingEvent, retries: number): Promise<Burial | undefined> {
    const context = event.trace && this.#options.tracer?.child(event.trace);
    const startedAtMs = performance.now();
    const failure = await this.#send(event, messageOf(event, traceparentText(context)), retries);
    this.#record(event, context, startedAtMs, failure?.code);
    return failure;
  }

  #record({ stream }: OutgoingEvent, context: TraceContext | undefined, startedAtMs: number, code: string | undefined): void {
    if (context === undefined) return;
    const attributes = { 'cep.connector': this.name, 'cep.stream': stream, ...(code === undefined ? {} : { 'error.type': code }) };
    this.#options.tracer?.end({ context, name: 'deliver output', kind: 'client', startedAtMs, attributes, isError: code !== undefined });
  }

  async #send(event: OutgoingEvent, message: SinkMessage, retries: number): Promise<Burial | undefined> {
    for (let attempts = 1; ; attempts++) {
      if (this.#isHeld) return heldBack;
      this.#attempts.set(event, attempts);
      const failure = await this.#sendOnce(message);
      if (failure === undefined) return undefined;
      const { code, isPermanent, retryAfterMs } = failure;
      if (isPermanent || attempts > retries || this.#isHeld) return { code, message: this.#options.redact(failure.message), isPermanent };
      await this.#pause(retryAfterMs ?? this.#backoffMs(attempts));
    }
  }

  async #sendOnce(message: SinkMessage): Promise<DeliveryFailure | undefined> {
    try {
      await unless(this.#end.signal, this.#options.sink.send(message, this.#end.signal));
      return undefined;
    } catch (error) {
      return error instanceof DeliveryFailure ? error : new DeliveryFailure('failed', textOf(error), { cause: error });
    }
  }

  /** Exponential with full jitter. */
  #backoffMs(attempt: number): number {
    return (this.#options.random ?? Math.random)() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1));
  }

  /** Ends when the queue is closed, however much time is left. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#end;
    const { pause = (time: number): Promise<unknown> => sleep(time, undefined, { signal }) } = this.#options;
    await unless(signal, pause(Math.min(ms, PAUSE_MS_MAX))).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** Events that have their letter are through. One that cannot be written holds up everything behind it: nothing is lost. */
  async #bury(events: readonly OutgoingEvent[], burial: Burial): Promise<void> {
    const buried: OutgoingEvent[] = [];
    try {
      for (const event of events) {
        await this.#options.deadLetters.add(this.#letterOf(event, burial));
        buried.push(event);
      }
    } catch (error) {
      this.#letterFailed(error, events.length - buried.length);
      await this.#pause(LETTER_RETRY_MS);
    }
    this.#letterCounted(burial, buried.length);
    this.#remove(buried);
  }

  #letterCounted({ code, message }: Burial, events: number): void {
    if (events === 0) return;
    this.tally.deadLetters += events;
    this.#letterReports.count({ connector: this.name, code, error: message }, events);
  }

  #letterFailed(error: unknown, events: number): void {
    const fields = { connector: this.name, pipeline: this.#options.pipelineId, reason: textOf(error), events };
    this.#options.report({ level: 'error', message: 'DLQ cannot be written', fields });
  }

  #letterOf(event: OutgoingEvent, burial: Burial): DeadLetter {
    const { pipelineId } = this.#options;
    return letterOf(event, { connector: this.name, pipelineId, burial, attempts: this.#attempts.get(event) ?? 0 });
  }

  /**
   * Sends a dead letter again as it was sent first, once; while the circuit is open it is the probe. Else than `taken`: how it stands with it
   * now, or that the queue has ended.
   */
  replay(letter: DeadLetter): Promise<'taken' | 'ended' | FailedAgain> {
    return new Promise((resolve) => {
      this.#replays.push(() => this.#replay(letter).then(resolve));
      this.#begin();
    });
  }

  async #replay(letter: DeadLetter): Promise<'taken' | 'ended' | FailedAgain> {
    if (this.#isClosed) return 'ended';
    const isProbe = this.#breaker.askNow() === 'probe';
    const failure = await this.#sendOnce(messageOfLetter(letter));
    if (failure === undefined) {
      if (isProbe) this.#breaker.succeeded();
      this.tally.delivered++;
      return 'taken';
    }
    const { code, isPermanent } = failure;
    const burial: Burial = { code, message: this.#options.redact(failure.message), isPermanent };
    if (isProbe) await this.#replayProbed(burial);
    // What was given up with the queue says nothing of the letter.
    return this.#isClosed ? 'ended' : { attempts: letter.attempts + 1, error: burial.message, code };
  }

  /** The letter that was the probe was not taken: what came meanwhile waited for that. */
  async #replayProbed(failure: Burial): Promise<void> {
    if (failure.isPermanent || this.#isClosed) return this.#breaker.undecided();
    this.#failed(failure);
    if (this.#isReady) await this.#bury(this.#safePart([...this.#pending]), circuitOpen);
  }
}

/** How many in a row were taken. */
function takenFrom(ends: readonly (End | undefined)[], start: number): number {
  let end = start;
  while (ends[end] === 'taken') end++;
  return end - start;
}

/** The first that is not through has come to its end, and could not be given up. */
function isStuck(events: readonly OutgoingEvent[], ends: ReadonlyMap<OutgoingEvent, End>, settled: number): boolean {
  const first = events[settled];
  return first !== undefined && ends.has(first);
}

/** What became of an event of a batch. */
type End = 'taken' | DeliveryFailure;

/** It was not sent, and stays pending. */
const heldBack: Burial = { code: 'held_back', message: 'nothing may be delivered', isPermanent: false };

/** What the promise gives, unless the signal comes first: then what becomes of it is no longer asked for. */
function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new DeliveryFailure('given_up', 'it was given up'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

function traceparentText(context: TraceContext | undefined): string | undefined {
  return context === undefined ? undefined : traceparentOf(context);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
