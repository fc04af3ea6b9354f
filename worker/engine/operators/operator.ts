import type { Value } from '../../../shared/events/value.ts';
import type { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { OperatorPlan, PlanExpression, StreamPlan, WindowPredicate } from '../../../shared/language/plan/plan.ts';
import type { Tracer } from '../engine.ts';
import type { WatermarkHold } from '../time/watermark-hold.ts';
import type { WindowView } from '../trace/views.ts';
import type { Evaluate, Row } from './row.ts';

/** Why partial matches are given up. */
export const runDropReasons = ['max_runs', 'max_closure', 'subsets_limit'] as const;
export type RunDropReason = (typeof runDropReasons)[number];

/**
 * One operator at work in a stream's chain. Rows come in by `process` and leave by `next.process`, at once and in order.
 *
 * Time: the stream calls `advance(watermark)` on each operator, upstream first, when its watermark has moved to or past
 * the operator's `deadline`; the operator then completes all that is due (deadline <= watermark), in the order the
 * language gives. The end of a finite input is `advance(Infinity)`.
 *
 * A closed window hands on its rows one by one and then calls `next.endWindow(frame)`: operators that act per window
 * (`order_by`, `last`, `limit` and `distinct` of extent `window`) finish there; all others pass it on.
 *
 * State: `save` gives a value (null when stateless), `load` takes it back into a fresh operator. A codec makes both
 * (`state/codec.ts`); `Engine.snapshot` makes the value JSON-safe.
 */
export interface Operator {
  process(row: Row): void;
  endWindow(frame: WindowFrame): void;
  /** Smallest watermark at which `advance` has something to do; Infinity when none. */
  deadline(): number;
  advance(watermark: number): void;
  save(): Value;
  /** @throws DamagedState */
  load(saved: Value): void;
  /**
   * `save` put off, for state of many keys: takes a snapshot of this moment at next to no cost, and makes the value when it is
   * called, once. What happens in between does not show, and nothing changes what it gave. Absent = `save` is cheap.
   */
  capture?(): () => Value;
  /**
   * Tells its saved state from that of another operator which may stand for the same plan; one cannot load the other's. Absent
   * = there is but one.
   */
  readonly stateForm?: string;
  /** Where it holds rows back for answers from outside; operators behind it see no time beyond. Absent = it never does. */
  readonly holds?: readonly WatermarkHold[];
  /** The windows that are open, for explanations. Absent = it has none. */
  openWindows?(): readonly WindowView[];
}

/** The bounds and marks of a window that closed, or of its interim result. */
export interface WindowFrame {
  /** Time of the result, ms. */
  readonly time: number;
  readonly start: number;
  readonly end: number;
  readonly isFinal: boolean;
  /** What `rate()` divides by, ms. */
  readonly lengthMs: number;
}

/** The end of a chain, or the next operator. */
export interface Next {
  process(row: Row): void;
  endWindow(frame: WindowFrame): void;
}

/** What a stream offers to the operators in it. */
export interface OperatorEnvironment {
  readonly stream: StreamPlan;
  /** An expression ready to run. Under `.on_error(null)` a failure inside counts and gives null; else it throws. */
  evaluator(expression: PlanExpression): Evaluate;
  /** Canonical text of the row's partition key; '' without a partition. */
  partition(row: Row): string;
  /** The row's partition key values under their names, in written order. */
  partitionFields(row: Row): readonly (readonly [string, Value])[];
  /**
   * Where several engines share the events: what is handed on next is due at `time`, among all that is then by `rank`, a number of arrival;
   * NaN: it has none that means anything to the others.
   */
  readonly completes?: ((time: number, rank: number) => void) | undefined;
  /** The stream's watermark, ms; -Infinity before the first event. */
  watermark(): number;
  /** Whether the watermark may have passed a time. It costs less than `watermark`; false = it has not. */
  mayHavePassed(time: number): boolean;
  /** Arrival number of the last external event: the `order` of rows that time alone makes. */
  order(): number;
  /** Counts a row that came too late for this operator and hands it to `<Stream>.late`; null = nobody asks for it. */
  late(row: Row | null): void;
  /** Counts and logs an evaluation failure; the row is dropped from this stream. */
  fail(error: EvaluationError, row: Row, operator: OperatorPlan | null): void;
  /** Counts rows held back by `.dedupe`, `.throttle`, `.distinct`, `.limit`. */
  suppressed(count?: number): void;
  runsDropped(reason: RunDropReason, count?: number): void;
  /** A window has ended whose events (as local 0) do not fit a condition. Absent = nobody wants to know. */
  windowRefused?(last: Row, predicate: WindowPredicate, events: Value): void;
  readonly tracer: Tracer | null;
}
