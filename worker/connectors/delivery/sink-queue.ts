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
  #isWorking = false;
  #isClosed = false;
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
    if (!this.#isWorking && !this.#isClosed) void this.#work();
  }

  /** Resolves when nothing is pending. */
  idle(): Promise<void> {
    return this.#pending.length === 0 ? Promise.resolve() : new Promise((resolve) => this.#idle.push(resolve));
  }

  /** What is pending stays so. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.sink.close().catch(() => undefined);
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let event = this.#pending[0]; event !== undefined && !this.#isClosed; event = this.#pending[0]) {
      const done = await this.#deliver(event);
      for (const { fieldsJson } of this.#pending.splice(0, done)) this.#bytes -= fieldsJson.length;
      if (done > 0) this.#options.onChange();
    }
    this.#isWorking = false;
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
    if (this.#isClosed) return 0;
    if (!failure.isPermanent) this.#breaker.failed();
    return this.#bury([event], failure);
  }

  #taken(): number {
    this.#breaker.succeeded();
    this.tally.delivered++;
    return 1;
  }

  /** One event says whether the sink is back. What comes meanwhile is rejected, as it was before. */
  async #probe(event: OutgoingEvent): Promise<number> {
    const failure = await this.#attempt(event, 0);
    const others = this.#pending.slice(1);
    if (failure !== undefined && this.#isClosed) return 0;
    if (failure === undefined) this.#taken();
    else if (failure.isPermanent) this.#breaker.undecided();
    else this.#breaker.failed();
    const buried = failure === undefined ? 1 : await this.#bury([event], failure);
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
      try {
        await this.#options.sink.send(message);
        return undefined;
      } catch (error) {
        const failure = error instanceof DeliveryFailure ? error : new DeliveryFailure('failed', messageOf(error), { cause: error });
        const { code, isPermanent } = failure;
        const message = this.#options.redact(failure.message);
        if (isPermanent || attempt > retries || this.#isClosed) return { code, message, isPermanent, attempts: attempt };
        await this.#pause(failure.retryAfterMs ?? this.#backoffMs(attempt));
      }
    }
  }

  /** Exponential with full jitter. */
  #backoffMs(attempt: number): number {
    return (this.#options.random ?? Math.random)() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** (attempt - 1));
  }

  #pause(ms: number): Promise<unknown> {
    return (this.#options.pause ?? ((time: number): Promise<unknown> => sleep(time)))(Math.min(ms, BACKOFF_MS_MAX));
  }

  /** A letter that cannot be written holds up everything behind it: nothing is lost. */
  async #bury(events: readonly OutgoingEvent[], burial: Burial): Promise<number> {
    if (events.length === 0) return 0;
    const { deadLetters, report, pipelineId } = this.#options;
    try {
      for (const event of events) await deadLetters.add(this.#letterOf(event, burial));
    } catch (error) {
      report({
        level: 'error',
        message: 'DLQ cannot be written',
        fields: { connector: this.name, pipeline: pipelineId, reason: messageOf(error) },
      });
      await this.#pause(LETTER_RETRY_MS);
      return 0;
    }
    this.tally.deadLetters += events.length;
    report({
      level: 'warn',
      message: 'DLQ write',
      fields: { connector: this.name, pipeline: pipelineId, code: burial.code, error: burial.message, events: events.length },
    });
    return events.length;
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
