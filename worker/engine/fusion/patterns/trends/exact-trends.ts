import { Duration, Timestamp, type Value } from '../../../../../shared/events/value.ts';
import { DyadicSum, decompose } from '../../../patterns/trends/dyadic-sum.ts';
import { type CallTotal, TrendTotals } from '../../../patterns/trends/trend-totals.ts';
import { LARGEST, type TrendColumn, type TrendForm } from './trend-form.ts';
import type { TrendOffer, TrendState } from './trend-states.ts';
import { greaterOf, lesserOf } from './trend-vocabulary.ts';

/** An event, as far as trends are concerned. */
export interface ExactEvent {
  /** Whether it fits the step or `NOT` of a slot. */
  readonly fits: (slot: number) => boolean;
  /** Its value for a column, null = none: of numbers, times and durations as milliseconds. */
  readonly valueFor: (column: number) => number | null;
}

/** What is added up, as whole numbers; extremes as doubles, NaN = none. */
type Exact = bigint | number;

/**
 * The trends of one window, exact however many they are: what generated code falls back upon where doubles end. Its numbers
 * stand as in the window (`TrendForm`), sums as whole numbers over one power of two.
 */
export class ExactTrends {
  readonly #form: TrendForm;
  /** States with trends, oldest first. */
  order: readonly TrendState[];
  readonly #values: Exact[];
  /** Sums are what their numbers say over 2 to this power. */
  #scale = 0;

  private constructor(form: TrendForm, order: readonly TrendState[], values: Exact[]) {
    this.#form = form;
    this.order = order;
    this.#values = values;
  }

  /** The trends that the numbers of a window stand for. */
  static of(form: TrendForm, numbers: Float64Array): ExactTrends {
    const { stride } = form;
    const live = form.states.counted.filter(({ id }) => (numbers[id * stride] as number) > 0);
    live.sort((a, b) => (numbers[a.id * stride + 1] as number) - (numbers[b.id * stride + 1] as number));
    const values = Array.from(numbers, (value, at): Exact => (form.isExtreme(at) ? value : BigInt(value)));
    return new ExactTrends(form, live, values);
  }

  static load(
    form: TrendForm,
    groups: readonly { readonly state: TrendState; readonly totals: TrendTotals }[],
    completed: TrendTotals,
  ): ExactTrends {
    const trends = ExactTrends.of(form, form.empty);
    trends.order = groups.map(({ state }) => state);
    const all = [...groups.map(({ state, totals }) => [state.id * form.stride, totals] as const), [form.completed, completed] as const];
    for (const [, totals] of all) for (const [call] of form.plan.calls.entries()) trends.#refine(totals.of(call).sum.scale);
    for (const [base, totals] of all) trends.#loadTotals(base, totals);
    return trends;
  }

  #loadTotals(base: number, totals: TrendTotals): void {
    this.#values[base] = totals.count;
    this.#form.plan.calls.forEach((_, call) => {
      const { events, sum, min, max } = totals.of(call);
      const values = { events, sum: sum.at(this.#scale), min: numberOf(min), max: numberOf(max) };
      for (const kind of ['events', 'sum', 'min', 'max'] as const) {
        const column = this.#form.columnOf(call, kind);
        if (column !== undefined) this.#values[base + this.#form.at(column)] = values[kind];
      }
    });
  }

  /** What the numbers of a state say of each call. */
  totals(base: number): TrendTotals {
    const read = (call: number, kind: TrendColumn['kind']): Exact | undefined => {
      const column = this.#form.columnOf(call, kind);
      return column === undefined ? undefined : this.#values[base + this.#form.at(column)];
    };
    const calls = this.#form.plan.calls.map((_, call): CallTotal => {
      const as = this.#form.columns[this.#form.columnOf(call, 'min') ?? this.#form.columnOf(call, 'max') ?? 0]?.as;
      const extreme = (kind: 'min' | 'max'): Value => valueAs(Number(read(call, kind) ?? Number.NaN), as);
      const sum = new DyadicSum(BigInt(read(call, 'sum') ?? 0), this.#scale);
      return { events: BigInt(read(call, 'events') ?? 0), sum, min: extreme('min'), max: extreme('max') };
    });
    return new TrendTotals(this.#values[base] as bigint, calls);
  }

  /** Puts the trends into the numbers of a window. False where doubles do not hold them. */
  write(numbers: Float64Array): boolean {
    const { stride } = this.#form;
    if (this.#scale > 0) return false;
    for (const value of this.#values) if (typeof value === 'bigint' && (value > LARGEST || value < -LARGEST)) return false;
    for (let at = 0; at < numbers.length; at++) numbers[at] = Number(this.#values[at]);
    this.order.forEach(({ id }, at) => {
      numbers[id * stride + 1] = at - this.order.length;
    });
    return true;
  }

  /** The oldest states give up their trends. */
  drop(states: number): void {
    for (const { id } of this.order.slice(0, states)) this.#clear(id * this.#form.stride);
    this.order = this.order.slice(states);
  }

  /** Takes an event. Gives the slots by which some trend takes it. */
  take(event: ExactEvent): readonly number[] {
    const { states, stride, completed } = this.#form;
    const { fits } = event;
    const values = this.#valuesOf(event);
    const old = this.#values.slice();
    const kept = this.order.flatMap((from): readonly Kept[] => {
      this.#clear(from.id * stride);
      const left = afterViolations(from, event);
      return left === null ? [] : [{ base: from.id * stride, left }];
    });
    const order: TrendState[] = [];
    const taken: number[] = [];
    const add = (target: TrendState, adding: Adding): void => {
      if (!order.includes(target)) order.push(target);
      this.#add(target.id * stride, adding);
    };
    const extend = (offers: readonly TrendOffer[], base: number | null): void => {
      for (const { slot, target } of offers) {
        if (!fits(slot)) continue;
        if (!taken.includes(slot)) taken.push(slot);
        const adding = { old, base, slot, values };
        if (target.isComplete) this.#add(completed, adding);
        if (!target.isComplete || target.offers.length > 0) add(target, adding);
      }
    };
    for (const { base, left } of kept) add(left, { old, base, slot: null, values });
    for (const { base, left } of kept) extend(left.offers, base);
    extend(states.initial, null);
    this.order = order;
    return taken;
  }

  /** By column, the event's value as it is added up; null = none. */
  #valuesOf({ fits, valueFor }: ExactEvent): readonly (Exact | null)[] {
    const found = this.#form.columns.map(({ slot, argument }, column) => (argument === null || !fits(slot) ? null : valueFor(column)));
    const exact = found.map((value, column) => (value === null || this.#form.columns[column]?.kind !== 'sum' ? null : decompose(value)));
    for (const one of exact) if (one !== null) this.#refine(-one.exponent);
    return found.map((value, column) => {
      const one = exact[column] ?? null;
      return one === null ? value : one.mantissa << BigInt(one.exponent + this.#scale);
    });
  }

  /** From now on sums are whole numbers over 2 to this power, or to a higher one. */
  #refine(scale: number): void {
    if (scale <= this.#scale) return;
    const by = BigInt(scale - this.#scale);
    this.#scale = scale;
    const { stride } = this.#form;
    this.#form.columns.forEach(({ kind }, column) => {
      if (kind !== 'sum') return;
      for (let at = this.#form.at(column); at < this.#values.length; at += stride) this.#values[at] = (this.#values[at] as bigint) << by;
    });
  }

  #clear(base: number): void {
    for (let at = base; at < base + this.#form.stride; at++) this.#values[at] = typeof this.#values[at] === 'bigint' ? 0n : Number.NaN;
  }

  /** Adds trends to those that begin at `into`. */
  #add(into: number, { old, base, slot, values }: Adding): void {
    const all = this.#values;
    const count = base === null ? 1n : (old[base] as bigint);
    all[into] = (all[into] as bigint) + count;
    const { columns } = this.#form;
    for (let column = 0; column < columns.length; column++) {
      const { kind, argument, slot: own } = columns[column] as TrendColumn;
      const at = this.#form.at(column);
      const value = own === slot ? (values[column] ?? null) : null;
      if (kind === 'min' || kind === 'max') {
        const better = kind === 'min' ? lesserOf : greaterOf;
        const carried = base === null ? Number.NaN : (old[base + at] as number);
        all[into + at] = better(all[into + at] as number, value === null ? carried : better(carried, value as number));
        continue;
      }
      const carried = base === null ? 0n : (old[base + at] as bigint);
      const isCounted = own === slot && (argument === null || value !== null);
      const more = !isCounted ? 0n : kind === 'events' ? count : count * (value as bigint);
      all[into + at] = (all[into + at] as bigint) + carried + more;
    }
  }
}

/** Trends that an event leaves: where their numbers are, and what they have come to. */
interface Kept {
  readonly base: number;
  readonly left: TrendState;
}

/** Trends that come to a state. */
interface Adding {
  readonly old: readonly Exact[];
  /** Where their numbers are; null: one that begins. */
  readonly base: number | null;
  /** The slot by which they take the event; null: by none. */
  readonly slot: number | null;
  readonly values: readonly (Exact | null)[];
}

function afterViolations(state: TrendState, { fits }: ExactEvent): TrendState | null {
  if (state.absent.length === 0) return state;
  const violated = state.absent.filter(fits);
  return violated.length === 0 ? state : state.violated(violated);
}

function valueAs(value: number, as: TrendColumn['as'] | undefined): Value {
  if (Number.isNaN(value)) return null;
  if (as === 'timestamp') return new Timestamp(value);
  return as === 'duration' ? new Duration(value) : value;
}

function numberOf(value: Value): number {
  if (value instanceof Timestamp || value instanceof Duration) return value.ms;
  return typeof value === 'number' ? value : Number.NaN;
}
