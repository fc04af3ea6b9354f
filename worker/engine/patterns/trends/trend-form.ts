import type { PatternPlan, StreamPlan, TrendAggregatePlan } from '../../../../shared/language/plan/plan.ts';
import type { Given } from '../../fusion/patterns/pattern-input.ts';
import { originsOf } from '../../streams/routes.ts';
import type { StateSpace } from '../state-space.ts';
import { type Relevance, relevanceOf } from '../watch.ts';
import type { TrendNumbers } from './trend-numbers.ts';
import type { SharedForm } from './trend-panes.ts';
import { spaceOf } from './trend-states.ts';
import { TrendColumns } from './trend-totals.ts';
import type { TrendWindow } from './trend-window.ts';

/** Takes an event into a window. Gives whether trends came to other states (1) or not (0), or that it has done nothing (2). */
export type TakeStep = (window: TrendWindow, order: number, ...given: unknown[]) => number;

/** Takes events of a burst. Gives how many are left, which are to be taken one by one. */
export type RepeatStep = (window: TrendWindow, times: number) => number;

/** Hands on the result of a window: a function for all streams that do it alike, which reads off its first argument what differs. */
export interface Close {
  readonly x0: (close: Close, window: TrendWindow, type: string, last: number, start: number, end: number) => void;
}

/** What is known of the trends of a stream before the program runs. */
export interface Trends {
  readonly stream: StreamPlan;
  readonly pattern: PatternPlan;
  readonly plan: TrendAggregatePlan;
  readonly columns: TrendColumns;
  readonly space: StateSpace;
}

/** The same, and what generated code and the kernel of the stream agree on. */
export interface TrendForm extends Trends {
  /** How generated code counts; null = there is none. */
  readonly numbers: TrendNumbers | null;
  readonly shared: SharedForm;
  /** Among those that share. */
  readonly position: number;
  /** Inputs that this stream reads. */
  readonly inputs: readonly number[];
  /** By input, what of the pattern its events may concern. */
  readonly relevances: readonly (Relevance | null)[];
  /** Classes of bursts that it takes part in, with the step that takes their events. */
  readonly classes: readonly { readonly at: number; readonly slot: number }[];
  /** By input, where this stream's kernel is the one that takes its rows: what the function is given of each. */
  readonly given: ReadonlyMap<number, readonly Given[]>;
  /** Fields that are the parts of the key. */
  readonly keyFields: readonly string[];
  /** Positions of the streams that count the same trends, in order; this one is among them. */
  readonly equals: readonly number[];
  /** Some operator acts when a window ends. */
  readonly endsMatter: boolean;
  /** By slot, the fields that generated code keeps of the last event that a trend took there. */
  readonly heldFields: ReadonlyMap<number, readonly string[]>;
}

/** Where no generated code counts: rows are counted in groups. */
export function formOfRows(stream: StreamPlan, pattern: PatternPlan, plan: TrendAggregatePlan): TrendForm {
  const origins = [...originsOf(pattern.steps.map(({ input }) => input)).keys()];
  return {
    stream,
    pattern,
    plan,
    columns: new TrendColumns(plan.calls),
    space: spaceOf(pattern),
    numbers: null,
    shared: {
      streams: [0],
      inputs: origins.map((origin) => ({ origin, type: '', streams: [0], isOpening: true })),
      classes: [],
      windowMs: plan.windowMs,
      allowedLatenessMs: stream.time.allowedLatenessMs,
      isKeyed: true,
    },
    position: 0,
    inputs: origins.map((_, at) => at),
    relevances: origins.map((origin) => relevanceOf(pattern, origin)),
    classes: [],
    given: new Map(),
    keyFields: [],
    equals: [0],
    endsMatter: true,
    heldFields: new Map(),
  };
}
