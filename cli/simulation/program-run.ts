import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { LineDiagnostic, ReadEvent, ReadResult } from '../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../shared/events/schema.ts';
import type { Plan } from '../../shared/language/plan/plan.ts';
import { createEngine } from '../../worker/engine/create-engine.ts';
import type { DeadLetter, Delivery, Engine, EngineCounters, EngineHost, LogEntry } from '../../worker/engine/engine.ts';
import type { EventShare } from '../../worker/engine/sharing/event-share.ts';
import type { FastPath } from '../event-files/event-reading.ts';
import { streamsWithOtherResults } from '../explaining/missing-alerts.ts';
import type { InvalidEvent } from './event-problems.ts';

/** Takes what comes of the events of a file, in the order in which it comes. */
export interface RunSink {
  /** An event that is about to be delivered. `number` counts from 1; `time` is its event time, unless a stream says otherwise. */
  event?(event: InputEvent, number: number, time: number): void;
  output(event: OutputEvent): void;
  deliver(delivery: Delivery): void;
  deadLetter(letter: DeadLetter): void;
  log(entry: LogEntry): void;
  invalid(event: InvalidEvent): void;
  unreadable(diagnostic: LineDiagnostic): void;
  /** An event of this type that was taken although it lacks these fields. */
  incomplete(type: string, fields: readonly string[], line: number): void;
  /** Members of an event that mean nothing. */
  unknownMembers(names: readonly string[]): void;
}

export interface RunCounts {
  /** Those taken, invalid ones included. */
  events: number;
  processed: number;
  outputs: number;
}

export interface ProgramRunOptions {
  readonly plan: Plan;
  /** Incomplete events are invalid. */
  readonly strict: boolean;
  /** Somebody sees each event, so all must be made. */
  readonly isWatched: boolean;
  /** What answers questions of the program, and a trace. */
  readonly host?: Pick<EngineHost, 'lookup' | 'score' | 'trace'>;
  /** It is one of several that share the events. @default all are its own */
  readonly share?: EventShare;
}

/** A program at work on what is read of an event file. */
export class ProgramRun {
  readonly engine: Engine;
  /** May be another one between two events. */
  sink: RunSink;
  counts: RunCounts = { events: 0, processed: 0, outputs: 0 };
  /** Alerts of the streams whose results are something else. */
  readonly alerts: Map<string, number>;
  /** Of the events of the reader, those that took the fast path. */
  #entered = 0;
  /** Results of reading that are no events. */
  #others = 0;
  readonly #share: EventShare | undefined;
  readonly #schemas: EventSchemas;
  readonly #isWatched: boolean;

  /** @throws CepError when the program cannot begin */
  constructor({ plan, strict, isWatched, host = {}, share }: ProgramRunOptions, sink: RunSink) {
    this.sink = sink;
    this.#schemas = new EventSchemas(plan.events);
    this.#isWatched = isWatched;
    this.alerts = new Map(streamsWithOtherResults(plan).map((name) => [name, 0]));
    this.engine = createEngine(plan, { ...host, ...this.#host() }, { strictEvents: strict, ...(share && { share }) });
    this.#share = share;
  }

  /** Where nobody needs to see each event, those that have the expected layout need not be made. */
  get fastPath(): FastPath | undefined {
    const { entries } = this.engine;
    return this.#isWatched || entries.entries.length === 0 ? undefined : { entries, take: (result) => this.take(result) };
  }

  /** Those of the engine, where `eventsOut` of a stream that emits are its alerts. */
  counters(): EngineCounters {
    const counters = this.engine.counters();
    if (this.alerts.size === 0) return counters;
    const streams = Array.from(counters.streams, ([name, stream]) => {
      return [name, { ...stream, eventsOut: this.alerts.get(name) ?? stream.eventsOut }] as const;
    });
    return { ...counters, streams: new Map(streams) };
  }

  /** The next file has a reader of its own, which counts from 0. */
  beginFile(): void {
    this.#entered = 0;
  }

  take(result: ReadResult): void {
    if (result.kind === 'event') this.#push(result);
    else this.#takeProblem(result);
  }

  /** Results of reading so far, of a run whose counts begin with the first one. */
  get seen(): number {
    return (this.#share?.events ?? this.counts.events) + this.#others;
  }

  #takeProblem(result: Exclude<ReadResult, ReadEvent>): void {
    this.#others++;
    if (result.kind === 'invalid') this.sink.invalid(result);
    else this.sink.unreadable(result.diagnostic);
  }

  /** What a reader gives; of its events so far, `entered` have taken the fast path. */
  takeAll(results: readonly ReadResult[], entered: number): void {
    this.countEntered(entered);
    for (const result of results) this.take(result);
  }

  /** Events that take the fast path are valid and complete. */
  countEntered(entered: number): void {
    this.counts.events += entered - this.#entered;
    this.counts.processed += entered - this.#entered;
    this.#entered = entered;
  }

  #host(): EngineHost {
    return {
      output: (event) => {
        this.counts.outputs++;
        if (this.alerts.size > 0) this.#countAlert(event.stream);
        this.sink.output(event);
      },
      deliver: (delivery) => this.sink.deliver(delivery),
      deadLetter: (letter) => this.sink.deadLetter(letter),
      log: (entry) => this.sink.log(entry),
    };
  }

  #countAlert(stream: string): void {
    const alerts = this.alerts.get(stream);
    if (alerts !== undefined) this.alerts.set(stream, alerts + 1);
  }

  #push({ event, line, unknownMembers }: ReadEvent): void {
    const { sink } = this;
    this.counts.events++;
    sink.event?.(event, this.counts.events, this.#timeOf(event));
    const admission = this.engine.push(event);
    if (admission.status === 'invalid') {
      sink.invalid({ line, type: event.type, field: admission.field, message: admission.message });
      return;
    }
    this.counts.processed++;
    if (unknownMembers !== undefined) sink.unknownMembers(unknownMembers);
    if (admission.incomplete.length > 0) sink.incomplete(event.type, admission.incomplete, line);
  }

  #timeOf({ type, fields, timestamp, fallbackTime }: InputEvent): number {
    return timestamp ?? this.#schemas.ownTime(type, fields) ?? fallbackTime;
  }
}
