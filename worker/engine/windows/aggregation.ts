import { InvariantError } from '../../../shared/errors/error.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Accumulator, AggregateDescriptor } from '../../../shared/language/functions/descriptor.ts';
import { aggregates } from '../../../shared/language/functions/index.ts';
import type { AggregateCall, AggregatePlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, reusableScope } from '../operators/row.ts';
import { acceptanceRank, followsTime } from './acceptance.ts';
import { SlidingAccumulators } from './sliding-accumulators.ts';

/** What one row gives to each aggregate call. */
export interface Sample {
  /** The argument (`true` of a call without), or undefined where the call's filter did not hold. */
  readonly inputs: readonly (Value | undefined)[];
  readonly time: number;
  readonly order: number;
  /** First of the row's causes. */
  readonly cause: number;
}

/** The aggregate calls of an `.aggregate`, ready to run: rows become samples, samples go into accumulators. */
export class Aggregation {
  /** Some result follows the order in which samples are added: `collect`, `ema`. (`first` and `last` go by time themselves.) */
  readonly isOrderSensitive: boolean;
  /** Some result tells what came before by time: besides those, `first` and `last`. */
  readonly followsTime: boolean;
  readonly #calls: readonly PreparedCall[];
  /** Positions of the calls, those first that may refuse a value: what they refuse has then changed nothing. */
  readonly #order: readonly number[];
  readonly #scopeOf = reusableScope();

  constructor(plan: AggregatePlan, environment: OperatorEnvironment) {
    this.#calls = plan.calls.map((call) => prepare(call, environment));
    this.isOrderSensitive = this.#calls.some((call) => call.isOrderSensitive);
    this.followsTime = this.isOrderSensitive || plan.calls.some(followsTime);
    const ranks = plan.calls.map(acceptanceRank);
    this.#order = ranks.map((_, position) => position).sort((a, b) => (ranks[a] as number) - (ranks[b] as number) || a - b);
  }

  sample(row: Row, order: number): Sample {
    const scope = this.#scopeOf(row);
    const inputs: (Value | undefined)[] = [];
    for (const { filter, argument } of this.#calls) {
      if (filter !== null && filter(scope) !== true) inputs.push(undefined);
      else inputs.push(argument === null ? true : argument(scope));
    }
    return { inputs, time: row.time, order, cause: row.causes[0] ?? row.order };
  }

  accumulators(): Accumulators {
    const states: Accumulator[] = [];
    for (const call of this.#calls) states.push(call.descriptor.create(call.constants));
    return new Accumulators(states, this.#order);
  }

  /** `isByTime`: samples are read in order of their time, else as they were added. */
  sliding(isByTime: boolean): SlidingAccumulators {
    return new SlidingAccumulators(this.#calls, this.#order, isByTime);
  }

  load(saved: Value): Accumulators {
    const states = saved as ValueArray;
    return new Accumulators(
      this.#calls.map((call, i) => call.descriptor.load(call.constants, states[i] ?? null)),
      this.#order,
    );
  }
}

/** The running state of all calls over one window and key. */
export class Accumulators {
  readonly #states: readonly Accumulator[];
  readonly #order: readonly number[];

  /** `order`: positions in the order in which a sample is added. */
  constructor(states: readonly Accumulator[], order: readonly number[]) {
    this.#states = states;
    this.#order = order;
  }

  /** @throws EvaluationError on a value that an aggregate cannot take. */
  add({ inputs, time, order }: Sample): void {
    for (const position of this.#order) {
      const input = inputs[position];
      if (input !== undefined) (this.#states[position] as Accumulator).addOne(input, time, order);
    }
  }

  /** Takes over what another holds. Only where no result follows the order of samples. */
  merge(other: Accumulators): void {
    this.#states.forEach((state, position) => {
      state.merge?.(other.#states[position] as Accumulator);
    });
  }

  results(lengthMs: number): Value[] {
    const window = { lengthMs };
    return this.#states.map((state) => state.result(window));
  }

  save(): Value {
    return this.#states.map((state) => state.save());
  }
}

/** What was not given to a call is null, and its position behind the rest. */
export function saveSample({ inputs, time, order, cause }: Sample): Value {
  const absent = [...inputs.keys()].filter((position) => inputs[position] === undefined);
  return [time, order, cause, inputs.map((input) => input ?? null), ...absent];
}

export function loadSample(saved: Value): Sample {
  const [time, order, cause, inputs, ...absent] = saved as readonly [number, number, number, ValueArray, ...number[]];
  const given: (Value | undefined)[] = [...inputs];
  for (const position of absent) given[position] = undefined;
  return { inputs: given, time, order, cause };
}

/** A call of the language as it runs. */
export interface PreparedCall {
  readonly descriptor: AggregateDescriptor;
  readonly constants: readonly Value[];
  readonly isOrderSensitive: boolean;
  readonly argument: Evaluate | null;
  readonly filter: Evaluate | null;
}

function prepare(call: AggregateCall, environment: OperatorEnvironment): PreparedCall {
  const descriptor = aggregates.get(call.function);
  if (!descriptor) throw new InvariantError(`no aggregate is called ${call.function}`);
  const [argument, ...others] = call.arguments;
  if (others.length > 0) throw new InvariantError(`${call.function} has several arguments`);
  return {
    descriptor,
    constants: call.constants,
    isOrderSensitive: descriptor.create(call.constants).merge === undefined,
    argument: argument === undefined ? null : environment.evaluator(argument),
    filter: call.filter && environment.evaluator(call.filter),
  };
}
