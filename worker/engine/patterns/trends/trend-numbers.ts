import { Duration, Timestamp, type Value } from '../../../../shared/events/value.ts';
import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import { type Representation, representationOf } from '../../fusion/typed.ts';
import { DyadicSum } from './dyadic-sum.ts';
import type { TrendGroup, TrendGroups, TrendSet } from './trend-groups.ts';
import type { TrendState, TrendStates } from './trend-states.ts';
import { type Total, type TrendColumn, type TrendColumns, TrendTotals } from './trend-totals.ts';

/** Up to here whole numbers, and what is added up from a few of them, are exact in doubles. */
export const LARGEST = 2 ** 50;

/** Numbers in front of the columns of a state: how many trends stand there, and since which event some do. */
const HEADER = 2;

/**
 * The trends of a window as doubles, for generated code: those of each state, then the completed ones. Extremes are NaN where there are
 * none, times and durations milliseconds.
 */
export class TrendNumbers {
  readonly states: TrendStates;
  readonly columns: readonly TrendColumn[];
  /** By column, what its values are. */
  readonly representations: readonly Representation[];
  /** The numbers of a window without events. */
  readonly empty: Float64Array;
  readonly #all: TrendColumns;
  readonly #noCaptures: readonly null[];

  constructor(pattern: PatternPlan, states: TrendStates, columns: TrendColumns) {
    this.states = states;
    this.columns = columns.all;
    this.representations = columns.all.map(({ argument }) => (argument === null ? 'number' : representationOf(argument.type)));
    this.#all = columns;
    this.empty = new Float64Array(this.completed + this.stride).map((_, at) =>
      isExtreme(this.columns[(at % this.stride) - HEADER]) ? Number.NaN : 0,
    );
    this.#noCaptures = pattern.steps.map(() => null);
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

  /** The trends that the numbers of a window stand for; no time matters to them, and they have that of its start. */
  setOf(numbers: Float64Array, start: number, groups: TrendGroups): TrendSet {
    const count = (base: number): number => numbers[base] as number;
    const live = this.states.counted.filter(({ id }) => count(id * this.stride) > 0);
    live.sort((a, b) => count(a.id * this.stride + 1) - count(b.id * this.stride + 1));
    const found = live.map(({ id, pattern }): TrendGroup => {
      const progress = { state: pattern, captures: this.#noCaptures, base: start };
      return { progress, firstTime: start, totals: this.#totals(numbers, id * this.stride) };
    });
    return groups.setOf(found, this.#totals(numbers, this.completed));
  }

  #totals(numbers: Float64Array, base: number): TrendTotals {
    const totals = this.columns.map(({ kind }, column): Total => {
      const number = numbers[base + this.at(column)] as number;
      if (kind === 'events') return BigInt(number);
      return kind === 'sum' ? DyadicSum.ZERO.plus(number, 1n) : this.valueOf(column, number);
    });
    return new TrendTotals(this.#all, BigInt(numbers[base] as number), totals);
  }

  /** A number that stands for a value of a column, as the rest of the engine holds it. */
  valueOf(column: number, number: number | null): Value {
    if (number === null || Number.isNaN(number)) return null;
    const as = this.representations[column];
    if (as === 'timestamp') return new Timestamp(number);
    return as === 'duration' ? new Duration(number) : number;
  }

  /** Puts trends into the numbers of a window. False where doubles do not hold them; the numbers are of no use then. */
  write({ groups, completed }: TrendSet, numbers: Float64Array): boolean {
    numbers.set(this.empty);
    let rank = -groups.length;
    for (const { progress, totals } of groups) {
      const base = (this.states.of(progress.state) as TrendState).id * this.stride;
      numbers[base + 1] = rank++;
      if (!this.#write(totals, numbers, base)) return false;
    }
    return this.#write(completed, numbers, this.completed);
  }

  #write({ count, totals }: TrendTotals, numbers: Float64Array, base: number): boolean {
    numbers[base] = Number(count);
    totals.forEach((total, column) => {
      numbers[base + this.at(column)] = numberOf(total);
    });
    return count <= LARGEST && totals.every((total) => isHeld(total));
  }
}

function isExtreme(column: TrendColumn | undefined): boolean {
  return column?.kind === 'min' || column?.kind === 'max';
}

function numberOf(total: Total): number {
  if (typeof total === 'bigint') return Number(total);
  if (total instanceof DyadicSum) return Number(total.numerator);
  if (total instanceof Timestamp || total instanceof Duration) return total.ms;
  return typeof total === 'number' ? total : Number.NaN;
}

function isHeld(total: Total): boolean {
  if (typeof total === 'bigint') return total <= LARGEST;
  return !(total instanceof DyadicSum) || (total.scale === 0 && total.numerator <= LARGEST && total.numerator >= -LARGEST);
}
