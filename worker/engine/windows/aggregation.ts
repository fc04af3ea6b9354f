import { InvariantError } from '../../../shared/errors/error.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Accumulator, AggregateDescriptor } from '../../../shared/language/functions/descriptor.ts';
import { aggregates } from '../../../shared/language/functions/index.ts';
import type { AggregateCall, AggregatePlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';

/** What one row gives to each aggregate call: its arguments, or null where the call's filter did not hold. */
export interface Sample {
  readonly inputs: readonly (readonly Value[] | null)[];
  readonly time: number;
  readonly order: number;
}

/** Calls whose result follows the order of their input; `first` and `last` go by time on their own. */
const ORDER_SENSITIVE = new Set(['ema', 'collect']);

/** The aggregate calls of an `.aggregate`, ready to run: rows become samples, samples go into accumulators. */
export class Aggregation {
  /** Samples must be added in order of event time. */
  readonly isOrderSensitive: boolean;
  readonly #calls: readonly PreparedCall[];

  constructor(plan: AggregatePlan, environment: OperatorEnvironment) {
    this.#calls = plan.calls.map((call) => prepare(call, environment));
    this.isOrderSensitive = plan.calls.some((call) => ORDER_SENSITIVE.has(call.function));
  }

  sample(row: Row, order: number): Sample {
    const scope = scopeOf(row);
    const inputs = this.#calls.map((call) => {
      if (call.filter !== null && call.filter(scope) !== true) return null;
      return call.arguments.map((argument) => argument(scope));
    });
    return { inputs, time: row.time, order };
  }

  accumulators(): Accumulators {
    return new Accumulators(this.#calls.map((call) => call.descriptor.create(call.constants)));
  }

  load(saved: Value): Accumulators {
    const states = saved as ValueArray;
    return new Accumulators(this.#calls.map((call, i) => call.descriptor.load(call.constants, states[i] ?? null)));
  }
}

/** The running state of all calls over one window and key. */
export class Accumulators {
  readonly #states: readonly Accumulator[];

  constructor(states: readonly Accumulator[]) {
    this.#states = states;
  }

  add(sample: Sample): void {
    for (let i = 0; i < this.#states.length; i++) {
      const input = sample.inputs[i];
      if (input) (this.#states[i] as Accumulator).add(input, sample.time, sample.order);
    }
  }

  results(lengthMs: number): Value[] {
    return this.#states.map((state) => state.result({ lengthMs }));
  }

  save(): Value {
    return this.#states.map((state) => state.save());
  }
}

export function saveSample(sample: Sample): Value {
  return [sample.inputs as ValueArray, sample.time, sample.order];
}

export function loadSample(saved: Value): Sample {
  const [inputs, time, order] = saved as ValueArray;
  return { inputs: inputs as Sample['inputs'], time: time as number, order: order as number };
}

interface PreparedCall {
  readonly descriptor: AggregateDescriptor;
  readonly arguments: readonly Evaluate[];
  readonly constants: readonly Value[];
  readonly filter: Evaluate | null;
}

function prepare(call: AggregateCall, environment: OperatorEnvironment): PreparedCall {
  const descriptor = aggregates.get(call.function);
  if (!descriptor) throw new InvariantError(`no aggregate is called ${call.function}`);
  return {
    descriptor,
    arguments: call.arguments.map((argument) => environment.evaluator(argument)),
    constants: call.constants,
    filter: call.filter && environment.evaluator(call.filter),
  };
}
