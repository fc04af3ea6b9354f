import { setTimeout as sleep } from 'node:timers/promises';
import { type TraceContext, type Tracer, traceparentOf } from '../../../shared/telemetry/tracing.ts';
import { DeliveryFailure, type Sink } from '../connector.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { DeadLetter, DeadLetters } from './dead-letters.ts';
import { payloadOf } from './payload.ts';
import { newSinkTally, type SinkTally } from './sink-tallies.ts';

/** Something on its way to a sink; JSON-safe, so that it can be kept in a checkpoint. */
export interface OutgoingEvent {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fieldsJson: string;
  readonly message: string | null;
  readonly topic: string | null;
  readonly format: 'envelope' | 'flat';
  readonly omitNull: boolean;
  /** The part of a trace that made it, where that is recorded. */
  readonly trace?: Pick<TraceContext, 'traceId' | 'spanId'>;
}

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
  /** Where it counts on. @default it begins with nothing */
  readonly tally?: SinkTally;
  /** Tests put in what suits them. */
  readonly now?: () => number;
  readonly random?: () => number;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const BACKOFF_MS = 200;
const BACKOFF_MS_MAX = 10_000;
/** How long to wait before a dead letter that cannot be written is tried again, ms. */
const LETTER_RETRY_MS = 1_000;

/** The way of events to one sink, in order, one at a time. Each ends delivered or as a dead letter; until then it is pending. */
export class SinkQueue {
  readonly name: string;
  readonly #options: SinkQueueOptions;
  readonly #breaker: CircuitBreaker;
  #pending: OutgoingEvent[] = [];
  #bytes = 0;
  /** Requests made for the event that is under way. */
  #attempts = 0;
  #working: Promise<void> | undefined;
  readonly #end = new AbortController();
  #idle: (() => void)[] = [];
  readonly tally: SinkTally;

  constructor(options: SinkQueueOptions) {
    this.name = options.name;
    this.#options = options;
    this.tally = options.tally ?? newSinkTally();
    const { failureThreshold, resetTimeoutMs } = options;
    this.#breaker = new CircuitBreaker({
      failureThreshold,
      resetTimeoutMs,
      now: options.now ?? ((): number => performance.now()),
      onChange: (state) => {
        this.tally.transitions[state]++;
        const message = { open: 'Circuit breaker opened', half_open: 'Circuit breaker half-open', closed: 'Circuit breaker closed' }[state];
        const level = state === 'open' ? 'warn' : 'info';
        options.report({ level, message, fields: { connector: options.name, pipeline: options.pipelineId, failures: failureThreshold } });
        options.onChange();
      },
    });
  }

  get state(): CircuitBreaker['state'] {
    return this.#breaker.state;
  }

  get pending(): readonly OutgoingEvent[] {
    return this.#pending;
  }

  get pendingBytes(): number {
    return this.#bytes;
  }

  push(event: OutgoingEvent): void {
    this.#pending.push(event);
    this.#bytes += event.fieldsJson.length;
    this.#begin();
  }

  #begin(): void {
    if (this.#working !== undefined || this.#isHeld || this.#pending.length === 0) return;
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
    this.#end.abort();
    await this.#working;
    await this.#options.sink.close().catch(() => undefined);
  }

  /** Closes; what is pending becomes dead letters. They are handed over at once, so that they are written even if nobody waits for it. */
  async giveUp(): Promise<void> {
    await this.close();
    const events = this.#pending.splice(0);
    this.#bytes = 0;
    if (events.length === 0) return;
    const letters = events.map((event, at) => this.#letterOf(event, { ...givenUp, attempts: at === 0 ? this.#attempts : 0 }));
    const written = await Promise.allSettled(letters.map((letter) => this.#options.deadLetters.add(letter)));
    const failures = written.filter((outcome) => outcome.status === 'rejected');
    this.#letterCounted(givenUp, events.length - failures.length);
    if (failures[0] !== undefined) this.#letterFailed(failures[0].reason, failures.length);
  }

  async #work(): Promise<void> {
    for (let event = this.#pending[0]; event !== undefined && !this.#isHeld; event = this.#pending[0]) {
      this.#attempts = 0;
      const done = await this.#deliver(event);
      for (const { fieldsJson } of this.#pending.splice(0, done)) this.#bytes -= fieldsJson.length;
      if (done > 0) this.#options.onChange();
    }
    if (this.#pending.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** How many of the pending ones are through; 0 when not even a dead letter could be kept, so that all of it is tried again. */
  async #deliver(event: OutgoingEvent): Promise<number> {
    const permission = this.#breaker.ask();
    if (permission === 'reject') return this.#bury([event], circuitOpen);
    if (permission === 'probe') return this.#probe(event);
    const failure = await this.#attempt(event, this.#options.retries);
    if (failure === undefined) return this.#taken();
    if (this.#isHeld || failure === heldBack) return 0;
    if (!failure.isPermanent) this.#breaker.failed();
    return this.#bury([event], failure);
  }

  #taken(): number {
    this.#breaker.succeeded();
    this.tally.delivered++;
    return 1;
  }

  /** One event says whether the sink is back. What comes meanwhile waits behind it: it is sent when the sink has taken that one, and given up when it has not. */
  async #probe(event: OutgoingEvent): Promise<number> {
    const failure = await this.#attempt(event, 0);
    if (failure === undefined) return this.#taken();
    if (this.#isHeld || failure === heldBack) {
      this.#breaker.undecided();
      return 0;
    }
    if (failure.isPermanent) {
      this.#breaker.undecided();
      return this.#bury([event], failure);
    }
    const others = this.#pending.slice(1);
    this.#breaker.failed();
    const buried = await this.#bury([event], failure);
    return buried === 0 ? 0 : 1 + (await this.#bury(others, circuitOpen));
  }

  /** Sends it, again as often as allowed, and records how long that took. Undefined when it was taken. */
  async #attempt(event: OutgoingEvent, retries: number): Promise<Burial | undefined> {
    const { tracer } = this.#options;
    const context = event.trace && tracer?.child(event.trace);
    if (tracer === undefined || context === undefined) return this.#send(event, retries);
    const startedAtMs = performance.now();
    const failure = await this.#send(event, retries, traceparentOf(context));
    const attributes = { 'cep.connector': this.name, 'cep.stream': event.stream, ...(failure ? { 'error.type': failure.code } : {}) };
    tracer.end({ context, name: 'deliver output', kind: 'client', startedAtMs, attributes, isError: failure !== undefined });
    return failure;
  }

  async #send(event: OutgoingEvent, retries: number, traceparent?: string): Promise<Burial | undefined> {
    const message = { id: event.id, topic: event.topic, payload: payloadOf(event, event), ...(traceparent ? { traceparent } : {}) };
    for (let attempt = 1; ; attempt++) {
      if (this.#isHeld) return heldBack;
      this.#attempts = attempt;
      try {
        await unless(this.#end.signal, this.#options.sink.send(message, this.#end.signal));
        return undefined;
      } catch (error) {
        const failure = error instanceof DeliveryFailure ? error : new DeliveryFailure('failed', messageOf(error), { cause: error });
        const { code, isPermanent } = failure;
        const message = this.#options.redact(failure.message);
        if (isPermanent || attempt > retries || this.#isHeld) return { code, message, isPermanent, attempts: attempt };
        await this.#pause(failure.retryAfterMs ?? this.#backoffMs(attempt));
      }
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
    await unless(signal, pause(Math.min(ms, BACKOFF_MS_MAX))).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }

  /** How many of the events have their letter. One that cannot be written holds up everything behind it: nothing is lost. */
  async #bury(events: readonly OutgoingEvent[], burial: Burial): Promise<number> {
    let buried = 0;
    try {
      for (const event of events) {
        await this.#options.deadLetters.add(this.#letterOf(event, burial));
        buried++;
      }
    } catch (error) {
      this.#letterFailed(error, events.length - buried);
      await this.#pause(LETTER_RETRY_MS);
    }
    this.#letterCounted(burial, buried);
    return buried;
  }

  #letterCounted({ code, message }: Burial, events: number): void {
    if (events === 0) return;
    this.tally.deadLetters += events;
    const fields = { connector: this.name, pipeline: this.#options.pipelineId, code, error: message, events };
    this.#options.report({ level: 'warn', message: 'DLQ write', fields });
  }

  #letterFailed(error: unknown, events: number): void {
    const fields = { connector: this.name, pipeline: this.#options.pipelineId, reason: messageOf(error), events };
    this.#options.report({ level: 'error', message: 'DLQ cannot be written', fields });
  }

  #letterOf(event: OutgoingEvent, { code, message, attempts }: Burial): DeadLetter {
    const { id, stream, type, time, fieldsJson, topic } = event;
    const isUsual = event.format === 'envelope' && !event.omitNull && event.message === null;
    return {
      timestamp: new Date().toISOString(),
      connector: this.name,
      error: message,
      event: { event_type: type, timestamp: time, data: JSON.parse(fieldsJson) },
      id,
      pipeline_id: this.#options.pipelineId,
      stream,
      attempts,
      code,
      ...(topic === null ? {} : { topic }),
      ...(isUsual ? {} : { payload: payloadOf(event, event) }),
    };
  }

  /** Sends a dead letter again as it was sent first, once. @throws DeliveryFailure */
  async replay({ id, topic, payload, event }: DeadLetter): Promise<void> {
    const { event_type: type, timestamp: time, data } = event;
    const usual = (): string =>
      payloadOf({ id, type, time, fieldsJson: JSON.stringify(data), message: null }, { format: 'envelope', omitNull: false });
    await this.#options.sink.send({ id, topic: topic ?? null, payload: payload ?? usual() });
    this.tally.delivered++;
  }
}

/** What the promise gives, unless the signal comes first: then what becomes of it is no longer asked for. */
function unless<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new DeliveryFailure('given_up', 'it was given up'));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

const givenUp: Burial = {
  code: 'given_up',
  message: 'the pipeline was deleted before this was delivered',
  attempts: 0,
  isPermanent: false,
};

/** It was not sent, and stays pending. */
const heldBack: Burial = { code: 'held_back', message: 'nothing may be delivered', attempts: 0, isPermanent: false };

const circuitOpen: Burial = { code: 'circuit_open', message: 'the circuit breaker is open', attempts: 0, isPermanent: false };

interface Burial {
  readonly code: string;
  readonly message: string;
  readonly attempts: number;
  readonly isPermanent: boolean;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
