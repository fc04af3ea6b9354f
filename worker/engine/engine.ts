import type { InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { Admission } from '../../shared/events/schema.ts';
import type { Value } from '../../shared/events/value.ts';
import type { Explanation } from './trace/explanation.ts';

/**
 * What an engine does for a host. It is pure: it reads no clock, does no I/O and knows no randomness, so the same calls
 * give the same outputs, byte for byte. All times are epoch milliseconds.
 */
export interface Engine {
  /**
   * Takes one external event to its end: time moves, what is due completes, the event is delivered, and everything it
   * causes is through before the call returns. An invalid event changes nothing.
   */
  push(event: InputEvent): Admission;
  /** A tick of the host: the clock of `source` (default: every source whose newest event has arrival time) reached `time`. */
  advance(time: number, source?: string): void;
  /** The finite input has ended: time goes to infinity, upstream first. */
  end(): void;
  /** Everything the engine remembers, as JSON-safe data. */
  snapshot(): EngineSnapshot;
  /** Takes over what the snapshot has for operators this program still has; an engine that was not yet pushed to. */
  restore(snapshot: EngineSnapshot): RestoreReport;
  /**
   * Why a stream gave what it gave, or nothing. `key`: the values of its partition key (in a join, of the equality) as text,
   * with `, ` between them; absent = of the key that came furthest. What came and did not fit is known only to an engine made
   * with `explain`. Changes nothing. @throws CepError `validation_error` when the program has no such stream.
   */
  explain(stream: string, key?: string): Explanation;
  counters(): EngineCounters;
}

/** What the engine hands to its host, in order, while a call runs. */
export interface EngineHost {
  output(event: OutputEvent): void;
  /** `.to(connector)` and `.alert(..)`. */
  deliver?(delivery: Delivery): void;
  /** `.print`, `.log`, `.tap(e)`, and failures under `on_error`. */
  log?(entry: LogEntry): void;
  /** Rows that failed in a stream with `.on_error(dlq)`. */
  deadLetter?(letter: DeadLetter): void;
  /** Set only when the program is traced; absent costs nothing. */
  trace?: Tracer;
}

export interface Delivery {
  readonly connector: string | null;
  readonly url: string | null;
  readonly topic: string | null;
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fields: ReadonlyMap<string, Value>;
  /** `.alert(message: ..)`, rendered. */
  readonly message: string | null;
  readonly parameters: ReadonlyMap<string, Value>;
}

/** A row that a stream could not evaluate, as it reached the operator that failed. */
export interface DeadLetter {
  readonly stream: string;
  readonly type: string;
  readonly time: number;
  readonly fields: ReadonlyMap<string, Value>;
  readonly reason: string;
}

export interface LogEntry {
  readonly stream: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly kind: 'print' | 'log' | 'tap' | 'failure' | 'counter';
  readonly message: string;
  readonly data: Value;
}

/** Called while an event runs, for `--trace`. */
export interface Tracer {
  matched(stream: string, type: string): void;
  /** `values` are the fields and aliases that decided, as `name=value`. */
  operator(stream: string, text: string, verdict: 'PASS' | 'BLOCK', values: readonly string[]): void;
  pattern(stream: string, activeRuns: number, completed: number): void;
  emitted(stream: string, event: OutputEvent): void;
}

export interface EngineCounters {
  /** External events processed; invalid ones are not. */
  readonly eventsProcessed: number;
  readonly eventsInvalid: number;
  readonly eventsIncomplete: number;
  readonly outputs: number;
  /** By stream name. */
  readonly streams: ReadonlyMap<string, StreamCounters>;
}

export interface StreamCounters {
  eventsIn: number;
  eventsOut: number;
  late: number;
  /** Evaluation failures. */
  failures: number;
  /** By `.dedupe`, `.throttle`, `.distinct`, `.limit`. */
  suppressed: number;
  runsActive: number;
  /** By reason: `max_runs`, `max_closure`, `subsets_limit`. */
  runsDropped: Map<string, number>;
  /** `.tap(counter:)`: by name and labels in text form. */
  taps: Map<string, number>;
}

export interface EngineSnapshot {
  readonly version: 1;
  readonly state: Value;
}

/** By stream name: what was kept, what had to start afresh. */
export interface RestoreReport {
  readonly preserved: readonly string[];
  readonly changed: readonly string[];
  readonly reset: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}
