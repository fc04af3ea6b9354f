import type { Value } from '../../../../shared/events/value.ts';
import type { AggregateCall, AggregatePlan } from '../../../../shared/language/plan/plan.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import type { Sample } from '../../windows/sample.ts';
import { Refusal } from '../typed.ts';
import type { AggregateInput } from './aggregate-inputs.ts';
import type { EventRing } from './event-ring.ts';
import type { Intake } from './intake.ts';

/** What one aggregate call reads of a held event: places among its numbers; null = it has none. */
interface HeldCall {
  readonly argument: number | null;
  readonly filter: number | null;
}

/** A null that a filter has let pass is not the same as none. */
function holdsFilter(call: AggregateCall): boolean {
  return call.filter !== null && (call.arguments.length === 0 || descriptorOf(call).takesNulls === true);
}

/**
 * Where the numbers of an event stand that windows hold: its time, its arrival number, what it was first and last caused by where
 * that is something else, and the inputs of the aggregate calls (null is NaN, true is 1).
 */
export class HeldInputs {
  readonly width: number;
  readonly firstCause: number;
  readonly lastCause: number;
  readonly #calls: readonly HeldCall[];
  readonly #inputs: readonly AggregateInput[];
  readonly #from: number;

  static of(intake: Intake, aggregate: AggregatePlan): HeldInputs | Refusal {
    const isOfAnyKind = intake.columns.inputs.all.some(({ as }) => as === 'value');
    return isOfAnyKind ? new Refusal('aggregated values may be of any kind') : new HeldInputs(intake, aggregate);
  }

  private constructor({ columns, firstCause, order }: Intake, { calls }: AggregatePlan) {
    const isCaused = firstCause !== order;
    this.firstCause = isCaused ? 2 : 1;
    this.lastCause = isCaused ? 3 : 1;
    this.#from = isCaused ? 4 : 2;
    this.#calls = calls.map((call) => ({
      argument: call.arguments.length === 0 ? null : this.#placeOf(columns.inputs.argumentOf(call), columns.inputs.all),
      filter: holdsFilter(call) ? this.#placeOf(columns.inputs.filterOf(call) as AggregateInput, columns.inputs.all) : null,
    }));
    this.#inputs = columns.inputs.all;
    this.width = this.#from + this.#inputs.length;
  }

  #placeOf(input: AggregateInput, all: readonly AggregateInput[]): number {
    return this.#from + all.indexOf(input);
  }

  /** Place of the input at a position among all inputs. */
  at(position: number): number {
    return this.#from + position;
  }

  lastCauseAt({ cells, width }: EventRing, at: number): number {
    return cells[at * width + this.lastCause] as number;
  }

  /** The event as `savedSample` saves it. What is null there may be absent here: no call that is held so tells one from the other. */
  saveAt({ cells, width }: EventRing, at: number): Value {
    const cell = (place: number): number => cells[at * width + place] as number;
    const absent = this.#calls.flatMap(({ filter }, position) => (filter !== null && cell(filter) === 0 ? [position] : []));
    const inputs = this.#calls.map(({ argument, filter }): Value => {
      if (argument !== null) return Number.isNaN(cell(argument)) ? null : cell(argument);
      return filter === null || cell(filter) === 1 ? true : null;
    });
    return [cell(0), cell(1), cell(this.firstCause), inputs, ...absent];
  }

  loadAt({ cells, width }: EventRing, at: number, { time, order, cause, inputs }: Sample, lastCause: number): void {
    const put = (place: number, value: number): void => {
      cells[at * width + place] = value;
    };
    put(0, time);
    put(1, order);
    if (this.firstCause > 1) put(this.firstCause, cause);
    if (this.lastCause > 1) put(this.lastCause, lastCause);
    for (let place = this.#from; place < width; place++) put(place, Number.NaN);
    this.#calls.forEach(({ argument, filter }, position) => {
      const input = inputs[position];
      if (argument !== null && typeof input === 'number') put(argument, input);
      // Windows over rows hold of what is only counted that there is something. Another call may know what.
      if (argument !== null && input === true && Number.isNaN(cells[at * width + argument])) put(argument, 1);
      if (filter !== null) put(filter, input === undefined ? 0 : 1);
    });
  }
}
