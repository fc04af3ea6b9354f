import { invariant } from '../../../errors/error.ts';
import { Duration, isArray, kindOf, type Value } from '../../../events/value.ts';
import { type Accumulator, EvaluationError } from '../descriptor.ts';
import { finite } from '../numbers.ts';

/** What an aggregate of numbers computes; it never sees a null. Infinite results are null to the language. */
export interface NumericState {
  add(value: number): void;
  result(): number | null;
  save(): Value;
}

export interface MergeableState<S> extends NumericState {
  merge(other: S): void;
}

/** Durations are aggregated as milliseconds, and the result is a duration again. */
type Unit = 'number' | 'duration';

/**
 * An aggregate of numbers or durations whose result depends on the order of arrival. Nulls are skipped. The first value
 * decides which of the two it takes, unless the unit is given.
 */
export class OrderedQuantities<S extends NumericState> implements Accumulator {
  protected readonly state: S;
  protected unit: Unit | null;
  readonly #name: string;

  constructor(name: string, state: S, unit: Unit | null = null) {
    this.#name = name;
    this.state = state;
    this.unit = unit;
  }

  add(args: readonly Value[]): void {
    const value = args[0] ?? null;
    if (value !== null) this.state.add(this.#read(value));
  }

  result(): Value {
    const result = finite(this.state.result() ?? Number.NaN);
    return result !== null && this.unit === 'duration' ? new Duration(result) : result;
  }

  save(): Value {
    return [this.unit, this.state.save()];
  }

  #read(value: Value): number {
    const isDuration = value instanceof Duration;
    if (!isDuration && typeof value !== 'number') throw this.#unexpected(kindOf(value));
    this.takeUnit(isDuration ? 'duration' : 'number');
    return isDuration ? value.ms : value;
  }

  protected takeUnit(unit: Unit): void {
    if (this.unit !== null && this.unit !== unit) throw this.#unexpected(unit);
    this.unit = unit;
  }

  #unexpected(found: string): EvaluationError {
    return new EvaluationError(`${this.#name}: expected ${this.unit ?? 'number or duration'}, found ${found}`);
  }
}

/** An aggregate of numbers or durations whose result does not depend on the order of arrival. Nulls are skipped. */
export class Quantities<S extends MergeableState<S>> extends OrderedQuantities<S> {
  merge(other: Accumulator): void {
    invariant(other instanceof Quantities, 'accumulators of one aggregate merge');
    if (other.unit !== null) this.takeUnit(other.unit);
    this.state.merge(other.state);
  }
}

/** The parts of what an accumulator saved. */
export function savedParts(saved: Value | undefined): readonly Value[] {
  return saved !== undefined && isArray(saved) ? saved : [];
}

export function savedNumbers(saved: Value | undefined): readonly number[] {
  return savedParts(saved).map(Number);
}

/** The unit and the state that `OrderedQuantities.save` wrote. */
export function savedQuantities(saved: Value): { readonly unit: Unit | null; readonly state: Value } {
  const [unit = null, state = null] = savedParts(saved);
  return { unit: unit === 'number' || unit === 'duration' ? unit : null, state };
}
