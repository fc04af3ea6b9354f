import type { Fields } from '../../../shared/events/event.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { WindowView } from './views.ts';

/**
 * Why a stream gave what it gave, or nothing: what it holds, what it waits for, and what kept the last events back. Times are
 * event times in epoch milliseconds; null stands for never.
 */
export interface Explanation {
  readonly stream: string;
  /** The key it is about, its values as text with `, ` between them; null where it is about no one key. */
  readonly key: string | null;
  /** The stream's watermark; null before the first event. */
  readonly time: number | null;
  /** Rows that reached the stream and results that left it, over all keys. */
  readonly eventsIn: number;
  readonly eventsOut: number;
  /** Why there is nothing to say; null when there is. */
  readonly nothing: string | null;
  /** Events that wait until time has come to them, as `out_of_order` has it; null when none does. */
  readonly heldBack: HeldBackExplanation | null;
  readonly pattern: PatternExplanation | null;
  readonly join: JoinExplanation | null;
  readonly windows: readonly WindowExplanation[];
  /** How far the last event came, and behind a window or a pattern the last result. Only recorded with `explain`. */
  readonly attempts: readonly Attempt[];
  /** The attempt that went through most operators of all before one held it back. Only recorded with `explain`. */
  readonly furthest: Attempt | null;
}

export interface ExplainedEvent {
  readonly type: string;
  readonly time: number;
  readonly fields: Fields;
}

export interface HeldBackExplanation {
  readonly count: number;
  /** The time of the one that is seen first, and of the one that is seen last. */
  readonly first: number;
  readonly until: number;
  /** The last that came. */
  readonly event: ExplainedEvent;
}

export interface PatternExplanation {
  /** Its trends are counted, in place of matches: it has windows, and no runs. */
  readonly isTrend: boolean;
  /** Open runs of the key, or of all keys. */
  readonly openRuns: number;
  /** The open run that has taken most steps, then most events, then the oldest; null when none is open. */
  readonly furthest: RunExplanation | null;
  /** What a run begins with. Told when none is open. */
  readonly begins: readonly WaitingStep[];
  /** The run that ended last; of several that were open together the one that had come furthest. Only recorded with `explain`. */
  readonly ended: EndedRunExplanation | null;
  /** The run that ended last of all, where that is another one. Only recorded with `explain`. */
  readonly endedLast: EndedRunExplanation | null;
}

export interface RunExplanation {
  readonly key: string | null;
  /** Steps taken, and steps of the pattern, without its `NOT`s. */
  readonly stepsTaken: number;
  readonly steps: number;
  readonly held: readonly HeldStep[];
  /** In the order in which they are asked. */
  readonly waitsFor: readonly WaitingStep[];
}

export interface HeldStep {
  /** The step's alias, else its type. */
  readonly name: string;
  /** Events that a closure holds; 1 for any other step. */
  readonly count: number;
  /** The last of them. */
  readonly event: HeldEvent;
}

/** What a run keeps of an event: without `explain` the fields that are read later, and the time where it is needed. */
export interface HeldEvent extends Omit<ExplainedEvent, 'time'> {
  readonly time: number | null;
}

/** A step that would take the next event, or a `NOT` in force. */
export interface WaitingStep {
  /** As written. */
  readonly step: string;
  readonly isAbsence: boolean;
  /** Of a closure: how many events it has, and how many it needs; null for any other step. */
  readonly closure: { readonly taken: number; readonly least: number } | null;
  /** The last time that fits; of a `NOT` the time at which it has matched. */
  readonly deadline: number | null;
  readonly leftMs: number | null;
  /** Events that came for it and did not fit, nearest first. Only recorded with `explain`. */
  readonly candidates: readonly Candidate[];
  /** Events that came for it besides and are not remembered; null = perhaps some, it is not known how many. */
  readonly forgotten: number | null;
}

export interface Candidate {
  readonly event: ExplainedEvent;
  /** What was against it: a condition, or that it came too late. */
  readonly problem: string;
  readonly values: ReadonlyMap<string, Value>;
}

export interface EndedRunExplanation extends RunExplanation {
  readonly end: RunEnd;
  readonly time: number;
  /** One clause: why it ended. */
  readonly reason: string;
  /** The event that ended it; null when time did. */
  readonly event: ExplainedEvent | null;
}

/**
 * How a run ended: with a match, by an event of a `NOT`, by a `.not(..)`, at a deadline, by an event that broke `.strict()` or
 * a monotone closure, because another match counted, for the state budget, or because its key expired.
 */
export type RunEnd = 'matched' | 'forbidden' | 'cancelled' | 'deadline' | 'broken' | 'skipped' | 'dropped' | 'expired';

export interface JoinExplanation {
  readonly sides: readonly JoinSideExplanation[];
  /** Why events that wait on different sides found no common result. */
  readonly problems: readonly Candidate[];
}

export interface JoinSideExplanation {
  readonly name: string;
  /** Events of the key that have come and are yet to be joined: time has not come to them (`out_of_order`). */
  readonly heldBack: number;
  /** Events of the key that wait, in order of arrival. */
  readonly waiting: readonly { readonly event: ExplainedEvent; readonly isMatched: boolean; readonly until: number | null }[];
  /** What came last on this side, of whatever key. Only recorded with `explain`. */
  readonly last: { readonly event: ExplainedEvent; readonly key: string } | null;
}

export interface WindowExplanation extends Omit<WindowView, 'last'> {
  /** The operator as written. */
  readonly operator: string;
  readonly key: string | null;
}

export interface Attempt {
  /** `result`: a window, a pattern or a join gave it. */
  readonly kind: 'event' | 'result';
  readonly event: ExplainedEvent;
  readonly decisions: readonly Decision[];
}

export interface Decision {
  /** As written. */
  readonly operator: string;
  /** `HELD`: it stays in a window. `LATE`: its window had ended. `FAIL`: the operator could not evaluate it. */
  readonly verdict: 'PASS' | 'BLOCK' | 'HELD' | 'LATE' | 'FAIL';
  /** What decided, in words; empty when there is nothing to add. */
  readonly why: string;
  readonly values: ReadonlyMap<string, Value>;
}
