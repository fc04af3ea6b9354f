import { invariant } from '../../../errors/error.ts';
import { Duration, isArray, kindOf, type Value } from '../../../events/value.ts';
import { type Accumulator, type AggregateWindow, EvaluationError } from '../descriptor.ts';
import { finite } from '../numbers.ts';

/** Durations are aggregated as milliseconds, and the result is a duration again. */
export type Unit = 'number' | 'duration';

/**
 * An aggregate of numbers or durations. Nulls are skipped. The first value decides which of the two it takes, unless the
 * unit is given.
 *
 * Each has an `addOne` of its own that begins with the usual case, a number after numbers: what all shared would be slow,
 * as it would see accumulators of all shapes.
 */
export abstract class Quantities implements Accumulator {
  protected unit: Unit | null;
  readonly #name: string;

  constructor(name: string, unit: Unit | null) {
    this.unit = unit;
    this.#name = name;
  }

  abstract addOne(value: Value): void;
  abstract result(window: AggregateWindow): Value;
  abstract save(): Value;

  add(args: readonly Value[]): void {
    this.addOne(args[0] ?? null);
  }

  require(value: Value): void {
    if (value instanceof Duration) this.#requireUnit('duration');
    else if (typeof value === 'number') this.#requireUnit('number');
    else throw this.#unexpected(kindOf(value));
  }

  #requireUnit(unit: Unit): void {
    if (this.unit !== null && this.unit !== unit) throw this.#unexpected(unit);
  }

  /** The number that a value stands for, which is not null. */
  protected read(value: Value): number {
    const isDuration = value instanceof Duration;
    if (!isDuration && typeof value !== 'number') throw this.#unexpected(kindOf(value));
    this.takeUnit(isDuration ? 'duration' : 'number');
    return isDuration ? value.ms : value;
  }

  protected takeUnit(unit: Unit): void {
    this.#requireUnit(unit);
    this.unit = unit;
  }

  #unexpected(found: string): EvaluationError {
    return new EvaluationError(`${this.#name}: expected ${this.unit ?? 'number or duration'}, found ${found}`);
  }
}

/** A result in the unit of what it was made from. What is infinite is null to the language. */
export function quantityOf(result: number, unit: Unit | null): Value {
  const number = finite(result);
  return number !== null && unit === 'duration' ? new Duration(number) : number;
}

/** Only accumulators of one aggregate merge. */
export function requireSame(isSame: boolean): asserts isSame {
  invariant(isSame, 'accumulators of one aggregate merge');
}

/** The parts of what an accumulator saved. */
export function savedParts(saved: Value | undefined): readonly Value[] {
  return saved !== undefined && isArray(saved) ? saved : [];
}

export function savedNumbers(saved: Value | undefined): readonly number[] {
  return savedParts(saved).map(Number);
}

/** The unit and the state that an aggregate of quantities saved. */
export function savedQuantities(saved: Value): { readonly unit: Unit | null; readonly state: Value } {
  const [unit = null, state = null] = savedParts(saved);
  return { unit: unit === 'number' || unit === 'duration' ? unit : null, state };
}
