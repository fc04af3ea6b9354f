import { InvariantError } from '../../../shared/errors/error.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Accumulator, AggregateDescriptor } from '../../../shared/language/functions/descriptor.ts';
import { aggregates } from '../../../shared/language/functions/index.ts';
import type { AggregateCall, AggregatePlan } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import { type Evaluate, type Row, reusableScope } from '../operators/row.ts';

/** What one row gives to each aggregate call: its arguments, or null where the call's filter did not hold. */
export interface Sample {
  readonly inputs: readonly (readonly Value[] | null)[];
  readonly time: number;
  readonly order: number;
  /** First of the row's causes. */
  readonly cause: number;
}

/** Never refuse a value. */
const TAKE_ANYTHING = new Set(['count', 'rate', 'count_distinct', 'first', 'last', 'collect']);
/** Refuse a value that does not go with those before. The others take numbers (or durations) alone. */
const TAKE_ONE_KIND = new Set(['min', 'max', 'top']);

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
    this.isOrderSensitive = this.#calls.some((call) => call.descriptor.create(call.constants).merge === undefined);
    this.followsTime = this.isOrderSensitive || plan.calls.some((call) => call.function === 'first' || call.function === 'last');
    this.#order = plan.calls.map((_, position) => position).sort((a, b) => this.#patience(a) - this.#patience(b) || a - b);
  }

  #patience(position: number): number {
    const { name } = (this.#calls[position] as PreparedCall).descriptor;
    return TAKE_ANYTHING.has(name) ? 2 : TAKE_ONE_KIND.has(name) ? 1 : 0;
  }

  sample(row: Row, order: number): Sample {
    const scope = this.#scopeOf(row);
    const inputs = this.#calls.map((call) => {
      if (call.filter !== null && call.filter(scope) !== true) return null;
      return call.arguments.map((argument) => argument(scope));
    });
    return { inputs, time: row.time, order, cause: row.causes[0] ?? row.order };
  }

  accumulators(): Accumulators {
    return new Accumulators(
      this.#calls.map((call) => call.descriptor.create(call.constants)),
      this.#order,
    );
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
  add(sample: Sample): void {
    for (const position of this.#order) {
      const input = sample.inputs[position];
      if (input) (this.#states[position] as Accumulator).add(input, sample.time, sample.order);
    }
  }

  /** Takes over what another holds. Only where no result follows the order of samples. */
  merge(other: Accumulators): void {
    this.#states.forEach((state, position) => {
      state.merge?.(other.#states[position] as Accumulator);
    });
  }

  results(lengthMs: number): Value[] {
    return this.#states.map((state) => state.result({ lengthMs }));
  }

  save(): Value {
    return this.#states.map((state) => state.save());
  }
}

export function saveSample({ inputs, time, order, cause }: Sample): Value {
  return [inputs as ValueArray, time, order, cause];
}

export function loadSample(saved: Value): Sample {
  const [inputs, time, order, cause] = saved as ValueArray;
  return { inputs: inputs as Sample['inputs'], time: time as number, order: order as number, cause: cause as number };
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
