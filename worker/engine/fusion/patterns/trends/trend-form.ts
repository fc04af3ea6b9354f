import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { PatternPlan, PlanExpression, StreamPlan, TrendAggregatePlan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { noteReads } from '../../../patterns/expression-reads.ts';
import { originsOf } from '../../../streams/routes.ts';
import { CannotFuse, type Representation, representationOf } from '../../typed.ts';
import { type HeldSlot, heldSlots } from './held-slots.ts';
import { TrendStates } from './trend-states.ts';

/** A number that is kept of the trends in each state, and of the completed ones. */
export interface TrendColumn {
  readonly kind: 'events' | 'sum' | 'min' | 'max';
  readonly slot: number;
  /** Null: every event of the step counts. */
  readonly argument: PlanExpression | null;
  readonly as: Representation;
}

/** Up to here whole numbers, and what is added up from a few of them, are exact in doubles. */
export const LARGEST = 2 ** 50;

/** Numbers in front of the columns of a state: how many trends stand there, and since which event some do. */
const HEADER = 2;

/** What is known of one stream's trends before the program runs. */
export class TrendForm {
  readonly stream: StreamPlan;
  readonly pattern: PatternPlan;
  readonly plan: TrendAggregatePlan;
  readonly states: TrendStates;
  readonly columns: readonly TrendColumn[];
  /** The origins of its events, all of them event types. */
  readonly origins: readonly string[];
  /** What is kept of the last events of steps; null = nothing behind reads any. */
  readonly held: readonly HeldSlot[] | null;
  /** By call, positions of its columns. */
  readonly #callColumns: readonly Partial<Record<TrendColumn['kind'], number>>[];

  /** @throws CannotFuse */
  constructor(stream: StreamPlan) {
    const [plan] = stream.operators;
    const { source } = stream;
    if (source.kind !== 'pattern' || plan?.kind !== 'trend_aggregate') throw new CannotFuse('it counts no trends');
    this.stream = stream;
    this.pattern = source.pattern;
    this.plan = plan;
    requirePlain(this.pattern, plan, stream);
    this.states = new TrendStates(this.pattern);
    this.origins = [...originsOf(this.pattern.steps.map(({ input }) => input)).keys()];
    if (!this.origins.every((origin) => origin.startsWith('event:'))) throw new CannotFuse('a step takes rows of a stream');
    this.held = heldSlots(stream);
    const columns = new Map<string, TrendColumn>();
    this.#callColumns = plan.calls.map((call) => columnsOf(call, columns));
    this.columns = [...columns.values()];
  }

  /** How many numbers are kept of a state. */
  get stride(): number {
    return HEADER + this.columns.length;
  }

  /** Where the numbers of the completed trends begin. */
  get completed(): number {
    return this.states.counted.length * this.stride;
  }

  /** Position of a column, behind the first number of a state. */
  at(column: number): number {
    return HEADER + column;
  }

  /** The numbers of a window without events. */
  get empty(): Float64Array {
    const numbers = new Float64Array(this.completed + this.stride);
    return numbers.map((_, at) => (this.isExtreme(at) ? Number.NaN : 0));
  }

  /** Whether the number at a position of a window is a least or greatest value. */
  isExtreme(at: number): boolean {
    const kind = this.columns[(at % this.stride) - HEADER]?.kind;
    return kind === 'min' || kind === 'max';
  }

  /** The column of a call; undefined = it has none of the kind. */
  columnOf(call: number, kind: TrendColumn['kind']): number | undefined {
    return this.#callColumns[call]?.[kind];
  }
}

/** @throws CannotFuse where more than steps and conditions on single events say what a trend is */
function requirePlain(pattern: PatternPlan, { windowMs }: TrendAggregatePlan, { partition, time }: StreamPlan): void {
  let readsCaptures = pattern.monotone !== null;
  for (const { where } of pattern.steps) {
    noteReads(where, () => {
      readsCaptures = true;
    });
  }
  const isPlain =
    !readsCaptures &&
    pattern.cancels.length === 0 &&
    (pattern.withinMs === null || pattern.withinMs >= windowMs) &&
    pattern.steps.every(({ input, withinMs }) => input.operators.length === 0 && withinMs === null) &&
    partition.expireMs === null &&
    time.outOfOrderMs === 0 &&
    time.on === null;
  if (!isPlain) throw new CannotFuse('more than steps and their conditions decides about the trends');
}

/** @throws CannotFuse for values that are no numbers */
function columnsOf(call: TrendCall, columns: Map<string, TrendColumn>): Partial<Record<TrendColumn['kind'], number>> {
  const { slot, argument } = call;
  if (slot === null) return {};
  const as = argument === null ? 'number' : representationOf(argument.type);
  const isSum = call.function === 'sum_trends' || call.function === 'avg_trends';
  if ((as !== 'number' && as !== 'duration' && as !== 'timestamp') || (isSum && as === 'timestamp'))
    throw new CannotFuse('an aggregated value is no number');
  const column = (kind: TrendColumn['kind']): number => {
    const key = `${kind} ${slot} ${fingerprint(argument)}`;
    if (!columns.has(key)) columns.set(key, { kind, slot, argument, as });
    return [...columns.keys()].indexOf(key);
  };
  switch (call.function) {
    case 'count_trends':
      return {};
    case 'count_events':
      return { events: column('events') };
    case 'sum_trends':
      return { sum: column('sum') };
    case 'avg_trends':
      return { events: column('events'), sum: column('sum') };
    case 'min_trends':
      return { min: column('min') };
    case 'max_trends':
      return { max: column('max') };
  }
}
