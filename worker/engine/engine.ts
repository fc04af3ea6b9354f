import type { Fields, InputEvent, OutputEvent } from '../../shared/events/event.ts';
import type { InvalidEvent, ValidEvent } from '../../shared/events/schema.ts';
import type { StoredValue } from '../../shared/events/stored-value.ts';
import type { Value } from '../../shared/events/value.ts';
import type { EventEntries } from './fusion/event-entry.ts';
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
  /**
   * Nothing has come for so long (ms) from the sources with these ids, or nothing with a field of theirs (`fieldSource`). What they were given as the time, in a field or otherwise, goes on
   * from there as fast as the silence lasts; repeated with the whole of it while it does. One that was given nothing yet follows those for which streams wait beside it.
   * `partitions`: by source, those of its broker's that are idle; repeated as well. Its time does not wait for them until something comes.
   */
  passSilence(silentMs: ReadonlyMap<string, number>, partitions?: ReadonlyMap<string, readonly string[]>): void;
  /** Events of these partitions of the source's broker are on their way: its time waits for them. */
  awaitPartitions(source: string, partitions: readonly string[]): void;
  /**
   * What, since the last call, events have given a time that are not simply those of a source: fields from which streams take theirs
   * (`.watermark(on: f)`), where a source may go on with events that have none; and silent sources, by events of their types from elsewhere.
   */
  takeHeard(): readonly HeardSource[];
  /** The partitions of brokers that time waits for, by the ids of sources and of their fields. */
  partitions(): ReadonlyMap<string, readonly string[]>;
  /** No clock completes anything before it has gone on by so much, ms; Infinity: nothing waits for time. Asked between two inputs. */
  dueInMs(): number;
  /** The finite input has ended: time goes to infinity, upstream first. */
  end(): void;
  /**
   * The answer to a question of `EngineHost.lookup` or `.score`: an input like an event, so a replay hands it in at the same
   * place. Answers may come in any order, also behind `end`. False when nobody waits for it: unknown, or answered before.
   */
  answer(answer: Answer): boolean;
  /** What comes from here on is another input to the host: see `EngineHost.suspend`. */
  divide(): void;
  /**
   * Everything the engine remembers at this moment, as JSON-safe data. The call itself is short, also with many keys: what
   * takes time is reading `state` for the first time, whenever that is. `format`: of states; an earlier one for an earlier version of cep.
   */
  snapshot(format?: number): EngineSnapshot;
  /**
   * Takes over what the snapshot has for operators this program still has; an engine that was not yet pushed to. What rows
   * were waiting for is asked again, under new numbers.
   * @throws CepError `checkpoint_corrupt`, which names the member, or `checkpoint_too_new`; the engine is of no use then
   */
  restore(snapshot: EngineSnapshot): RestoreReport;
  /**
   * Why a stream gave what it gave, or nothing. `key`: the values of its partition key (in a join, of the equality) as text,
   * with `, ` between them; absent = of the key that came furthest. What came and did not fit is known only to an engine made
   * with `explain`. Changes nothing. @throws CepError `validation_error` when the program has no such stream.
   */
  explain(stream: string, key?: string): Explanation;
  counters(): EngineCounters;
  /** `counters().eventsLate`, for who asks with every request. */
  readonly eventsLate: number;
  /** The same of `eventsUntimed`. */
  readonly eventsUntimed: number;
  /** The same of `time`. */
  readonly time: EngineCounters['time'];
  /** Fast paths in for events whose values a reader has found in the bytes: the effects of `push`, without an event made. */
  readonly entries: EventEntries;
}

/** A source, or a field of one by the id that `fieldSource` makes of both, and the broker's partition of the event. */
export interface HeardSource {
  readonly id: string;
  readonly partition: string | null;
}

/** What became of an event. Of one that was taken: its time, and what it should have had. */
export type Admission = Omit<ValidEvent, 'fields'> | InvalidEvent;

/** What the engine hands to its host, in order, while a call runs. */
export interface EngineHost {
  /** `causes`: the events behind it, of an engine that remembers them (`EngineOptions.causes`). */
  output(event: OutputEvent, causes?: Causes): void;
  /** `.to(connector)` and `.alert(..)`. */
  deliver?(delivery: Delivery): void;
  /** `.print`, `.log`, `.tap(e)`, and failures under `on_error`. */
  log?(entry: LogEntry): void;
  /** Rows that failed in a stream with `.on_error(dlq)`. */
  deadLetter?(letter: DeadLetter): void;
  /**
   * A row of `.enrich` needs this. The host answers at once, or later by `Engine.answer`; never by calling the engine from
   * here. Absent: every look-up fails, and the log says so once for each operator.
   */
  lookup?(request: LookupRequest): Answered | undefined;
  /** Rows of `.score` need this, in batches; answered as look-ups are. Absent: a program with `.score` is refused. */
  score?(request: ScoreRequest): Answered | undefined;
  /**
   * Something begins to wait for an answer. When it goes on what it gave is called, once, with what is done then: all that the input at hand, as
   * `Engine.divide` parts them, would have caused now if the answer had been there. Absent: nobody asks what came of which.
   */
  suspend?(): Resume;
  /** Set only when the program is traced; absent costs nothing. */
  trace?: Tracer;
}

export type Resume = (goOn: () => void) => void;

/**
 * The events that an output was made from, as far as they are remembered, in order of arrival. `match`: those that the steps of the
 * pattern took. `join`: one of each side that has one. `window`: those of the window, or of a running aggregate. `events`: any other.
 */
export interface Causes {
  readonly kind: 'match' | 'join' | 'window' | 'events';
  /** How many there were, kept or not; null when the engine no longer remembers where they begin. */
  readonly count: number | null;
  /** Of more than `limits.alertCausesMax` the first and the last. */
  readonly events: readonly Cause[];
}

export interface Cause {
  /** Alias of the step, else its type; name of the side of a join; null for any other. */
  readonly step: string | null;
  readonly type: string;
  readonly time: number;
  readonly fields: Fields;
}

/** What is looked up for a row of `.enrich`. */
export interface LookupRequest {
  /** Numbers questions of both kinds in the order in which they are asked. */
  readonly id: number;
  readonly stream: string;
  readonly connector: string;
  /** Never null. */
  readonly key: Value;
  /** What of the answer is used; empty = all of it. */
  readonly fields: readonly string[];
  /** The host answers `timeout` when it takes longer than this, ms. */
  readonly timeoutMs: number;
}

/** Rows that wait for a model. */
export interface ScoreRequest {
  readonly id: number;
  readonly stream: string;
  readonly model: string;
  readonly inputNames: readonly string[];
  readonly outputs: readonly string[];
  /** One array per row, in the order of `inputNames`; never null. */
  readonly rows: readonly (readonly Value[])[];
  /** `gpu`, `device_id`: hints. */
  readonly parameters: ReadonlyMap<string, Value>;
}

/**
 * How a question ended. The value of a look-up is a map of fields (or one value, where one field is asked for); that of a
 * model one array per row, with one value per output.
 */
export type Result =
  | { readonly status: 'ok'; readonly value: Value }
  | { readonly status: 'error'; readonly message: string }
  | { readonly status: 'timeout' };

export interface Answered {
  readonly result: Result;
  /** How long it took, ms; null in a replay. */
  readonly latencyMs: number | null;
}

export interface Answer extends Answered {
  readonly id: number;
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
  decided(decision: TracedDecision): void;
  pattern(stream: string, activeRuns: number, completed: number): void;
  emitted(stream: string, event: OutputEvent): void;
}

/** What an operator, or a step of a pattern, has made of a row. */
export interface TracedDecision {
  readonly stream: string;
  /** The row's key in the stream, its values as text with `, ` between them; '' without one. */
  readonly key: string;
  /** As written. */
  readonly operator: string;
  /**
   * `LATE`: a window, or the runs or rows that it could have been with, had ended. `HELD`: it waits until time has come to it
   * (`out_of_order`). `ENDED`: a run of the pattern is over, without a match.
   */
  readonly verdict: 'PASS' | 'BLOCK' | 'LATE' | 'HELD' | 'ENDED';
  /** What decided: fields and aliases as `name=value`, a condition that did not hold. */
  readonly why: readonly string[];
}

export interface EngineCounters {
  /** External events processed; invalid ones are not. */
  readonly eventsProcessed: number;
  readonly eventsInvalid: number;
  readonly eventsIncomplete: number;
  readonly outputs: number;
  /** Events that came too late for the window, run or join they belong to, in one stream or several. */
  readonly eventsLate: number;
  /** Events whose time nothing but their arrival, or the offset in a file, said. */
  readonly eventsUntimed: number;
  /** Events of types that no stream reads, and of the first hundred such types how many came of each. */
  readonly eventsUnread: number;
  readonly unreadTypes: ReadonlyMap<string, number>;
  /** Where event time stands: the highest time of an event, or a tick, on any source; null before the first. */
  readonly time: number | null;
  /** Questions to the host without an answer. */
  readonly questionsOpen: number;
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
  /** Rows that wait for answers: a host that sees many takes in less until there are fewer. */
  rowsWaiting: number;
  /** By reason: `max_runs`, `max_closure`, `subsets_limit`. */
  runsDropped: ReadonlyMap<string, number>;
  /** `.tap(counter:)`: by name and labels in text form. */
  taps: ReadonlyMap<string, number>;
}

export interface EngineSnapshot {
  readonly version: 1;
  /** Encoded when it is first read. Until then whoever pushes pays for what changes; a snapshot that nobody reads costs nothing. */
  readonly state: StoredValue;
}

/** By stream name: what was kept, what had to start afresh. */
export interface RestoreReport {
  /** They mean what they meant. */
  readonly preserved: readonly string[];
  /** They mean something else; operators that did not change have their state. */
  readonly changed: readonly string[];
  /** Nothing of the state that they may have had is left. */
  readonly reset: readonly string[];
  /** Of those that changed or were reset: the ones that had state which the new program has no place for, if only a part of it. */
  readonly lostState: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}
