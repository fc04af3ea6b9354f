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
  /** Values of the event at hand, by column. */
  readonly #found: (Exact | null)[] = [];
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
    const values = this.#valuesOf(event);
    if (this.order.some(({ absent }) => absent.some(event.fits))) this.#violate(event);
    const old = this.#values.slice();
    const before = this.order;
    const order = before.slice();
    const taken: number[] = [];
    for (const { id, enabledSteps } of before)
      this.#extend(enabledSteps, { old, base: id * this.#form.stride, values, event, order, taken });
    this.#extend(this.#form.states.initial, { old, base: null, values, event, order, taken });
    this.order = order;
    return taken;
  }

  /** Trends that an event of `NOT`s ends, or puts into another state. */
  #violate({ fits }: ExactEvent): void {
    const { stride } = this.#form;
    const old = this.#values.slice();
    const before = this.order;
    const order: TrendState[] = [];
    for (const { id } of before) this.#clear(id * stride);
    for (const state of before) {
      const violated = state.absent.filter(fits);
      const left = violated.length === 0 ? state : state.violated(violated);
      if (left === null) continue;
      if (!order.includes(left)) order.push(left);
      this.#add(left.id * stride, old, state.id * stride, null, []);
    }
    this.order = order;
  }

  /** Trends that take the event by one of the enabled steps. */
  #extend(enabledSteps: readonly TrendOffer[], { old, base, values, event, order, taken }: Extending): void {
    for (const { slot, target } of enabledSteps) {
      if (!event.fits(slot)) continue;
      if (!taken.includes(slot)) taken.push(slot);
      if (target.isComplete) this.#add(this.#form.completed, old, base, slot, values);
      if (target.isComplete && target.enabledSteps.length === 0) continue;
      if (!order.includes(target)) order.push(target);
      this.#add(target.id * this.#form.stride, old, base, slot, values);
    }
  }

  /** By column, the event's value as it is added up; null = none. */
  #valuesOf({ fits, valueFor }: ExactEvent): readonly (Exact | null)[] {
    const { columns } = this.#form;
    const values = this.#found;
    for (let column = 0; column < columns.length; column++) {
      const { slot, argument, kind } = columns[column] as TrendColumn;
      const value = argument === null || !fits(slot) ? null : valueFor(column);
      values[column] = value;
      if (value !== null && kind === 'sum') this.#refine(-decompose(value).exponent);
    }
    for (let column = 0; column < columns.length; column++) {
      const value = values[column] as number | null;
      if (value !== null && columns[column]?.kind === 'sum') values[column] = this.#summand(value);
    }
    return values;
  }

  /** A value as a whole number over the power of two that sums are over. */
  #summand(value: number): bigint {
    const { mantissa, exponent } = decompose(value);
    return mantissa << BigInt(exponent + this.#scale);
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

  /** Adds trends to those whose numbers begin at `into`: those at `base`, or one that begins; they take the event by the step in `slot`. */
  #add(into: number, old: readonly Exact[], base: number | null, slot: number | null, values: readonly (Exact | null)[]): void {
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

interface Extending {
  /** The numbers before. */
  readonly old: readonly Exact[];
  /** Where those of the trends begin; null: one that has no event yet. */
  readonly base: number | null;
  readonly values: readonly (Exact | null)[];
  readonly event: ExactEvent;
  readonly order: TrendState[];
  readonly taken: number[];
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
