import { Duration, Timestamp, type Value } from '../../../../../shared/events/value.ts';
import { fingerprint } from '../../../../../shared/language/plan/fingerprint.ts';
import type { PatternPlan, PlanExpression, StreamPlan, TrendAggregatePlan, TrendCall } from '../../../../../shared/language/plan/plan.ts';
import { noteReads } from '../../../patterns/expression-reads.ts';
import { DyadicSum } from '../../../patterns/trends/dyadic-sum.ts';
import { type CallTotal, TrendTotals } from '../../../patterns/trends/trend-totals.ts';
import { originsOf } from '../../../streams/routes.ts';
import { CannotFuse, type Representation, representationOf } from '../../typed.ts';
import { ExactTrends } from './exact-trends.ts';
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
    if (source.kind !== 'pattern' || plan?.kind !== 'trend_aggregate') throw new CannotFuse();
    this.stream = stream;
    this.pattern = source.pattern;
    this.plan = plan;
    requirePlain(this.pattern, plan, stream);
    this.states = new TrendStates(this.pattern);
    this.origins = [...originsOf(this.pattern.steps.map(({ input }) => input)).keys()];
    if (!this.origins.every((origin) => origin.startsWith('event:'))) throw new CannotFuse();
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
    return numbers.map((_, at) => (this.#isExtreme((at % this.stride) - HEADER) ? Number.NaN : 0));
  }

  #isExtreme(column: number): boolean {
    const kind = this.columns[column]?.kind;
    return kind === 'min' || kind === 'max';
  }

  /** The column of a call; undefined = it has none of the kind. */
  columnOf(call: number, kind: TrendColumn['kind']): number | undefined {
    return this.#callColumns[call]?.[kind];
  }

  /** The trends that the numbers of a window stand for. */
  exact(numbers: Float64Array): ExactTrends {
    const live = this.states.counted.filter(({ id }) => (numbers[id * this.stride] as number) > 0);
    live.sort((a, b) => (numbers[a.id * this.stride + 1] as number) - (numbers[b.id * this.stride + 1] as number));
    const groups = live.map((state) => ({ state, totals: this.#totals(numbers, state.id * this.stride) }));
    return this.trends(groups, this.#totals(numbers, this.completed));
  }

  trends(groups: ExactTrends['groups'], completed: TrendTotals): ExactTrends {
    return new ExactTrends(this.states.initial, this.plan.calls.length, groups, completed);
  }

  #totals(numbers: Float64Array, base: number): TrendTotals {
    const read = (call: number, kind: TrendColumn['kind']): number => {
      const column = this.columnOf(call, kind);
      return column === undefined ? Number.NaN : (numbers[base + this.at(column)] as number);
    };
    const whole = (value: number): bigint => BigInt(Number.isNaN(value) ? 0 : value);
    const calls = this.plan.calls.map((_, call): CallTotal => {
      const extreme = (kind: 'min' | 'max'): Value => valueAs(read(call, kind), this.columns[this.columnOf(call, kind) ?? 0]?.as);
      const sum = DyadicSum.ZERO.plus(1, whole(read(call, 'sum')));
      return { events: whole(read(call, 'events')), sum, min: extreme('min'), max: extreme('max') };
    });
    return new TrendTotals(whole(numbers[base] as number), calls);
  }

  /** Puts trends into the numbers of a window. False where doubles do not hold them. */
  write({ groups, completed }: ExactTrends, numbers: Float64Array): boolean {
    const written = this.empty;
    const isWritten = groups.every(({ state, totals }, at) => {
      written[state.id * this.stride + 1] = at - groups.length;
      return this.#write(totals, written, state.id * this.stride);
    });
    if (!isWritten || !this.#write(completed, written, this.completed)) return false;
    numbers.set(written);
    return true;
  }

  #write(totals: TrendTotals, numbers: Float64Array, base: number): boolean {
    if (totals.count > LARGEST) return false;
    numbers[base] = Number(totals.count);
    return this.plan.calls.every((_, call) => {
      const { events, sum, min, max } = totals.of(call);
      const values = { events, sum: sum.whole(), min: numberOf(min), max: numberOf(max) };
      return (['events', 'sum', 'min', 'max'] as const).every((kind) => {
        const column = this.columnOf(call, kind);
        if (column === undefined) return true;
        const value = values[kind];
        numbers[base + this.at(column)] = Number(value);
        return typeof value === 'number' || (value !== undefined && value <= LARGEST && value >= -LARGEST);
      });
    });
  }
}

function valueAs(value: number, as: Representation | undefined): Value {
  if (Number.isNaN(value)) return null;
  if (as === 'timestamp') return new Timestamp(value);
  return as === 'duration' ? new Duration(value) : value;
}

function numberOf(value: Value): number {
  if (value instanceof Timestamp || value instanceof Duration) return value.ms;
  return typeof value === 'number' ? value : Number.NaN;
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
  if (!isPlain) throw new CannotFuse();
}

/** @throws CannotFuse for values that are no numbers */
function columnsOf(call: TrendCall, columns: Map<string, TrendColumn>): Partial<Record<TrendColumn['kind'], number>> {
  const { slot, argument } = call;
  if (slot === null) return {};
  const as = argument === null ? 'number' : representationOf(argument.type);
  const isSum = call.function === 'sum_trends' || call.function === 'avg_trends';
  if ((as !== 'number' && as !== 'duration' && as !== 'timestamp') || (isSum && as === 'timestamp')) throw new CannotFuse();
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
