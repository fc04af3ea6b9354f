import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { Accumulator } from '../../../shared/language/functions/descriptor.ts';
import type { AggregatePlan, OperatorPlan } from '../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../evaluate/failure.ts';
import type { OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import { type Row, reusableScope } from '../operators/row.ts';
import { acceptanceRank, descriptorOf, isOrderSensitive, type PreparedCall, prepareCall } from './aggregate-call.ts';
import { HeldKinds, type Takers } from './held-kinds.ts';
import { callsReadInPassing } from './passing-reads.ts';
import type { Sample } from './sample.ts';
import { SlidingAccumulators } from './sliding-accumulators.ts';
import { causesBetween, frameAttributes, type PreparedItem, prepareItem, resultFields } from './window-result.ts';

/** What a window's result says of the events that it is made of. */
export interface ResultOrigin {
  /** Of the last event. */
  readonly type: string;
  /** An event of the same key. */
  readonly ofKey: Row;
  readonly firstCause: number;
  readonly lastCause: number;
}

/** An `.aggregate`, ready to run: rows become samples, samples go into accumulators, and what those give makes rows. */
export class Aggregation {
  /** Some result follows the order in which samples are added: `collect`, `ema`. (`first` and `last` go by time themselves.) */
  readonly isOrderSensitive: boolean;
  /** Some result tells what came before by time: besides those, `first` and `last`. */
  readonly followsTime: boolean;
  readonly #calls: readonly PreparedCall[];
  readonly #items: readonly PreparedItem[];
  readonly #environment: OperatorEnvironment;
  /** Positions of the calls, the choosiest first: what a failure says is what the first of them says. */
  readonly #order: readonly number[];
  /** Positions of the calls whose results nothing keeps. */
  readonly #inPassing: ReadonlySet<number>;
  readonly #scopeOf = reusableScope();

  constructor(plan: AggregatePlan, environment: OperatorEnvironment) {
    this.#environment = environment;
    this.#calls = plan.calls.map((call) => prepareCall(call, environment));
    this.#items = plan.items.map((item) => prepareItem(item, environment));
    this.#inPassing = callsReadInPassing(plan);
    const ranks = plan.calls.map(acceptanceRank);
    this.#order = ranks.map((_, position) => position).sort((a, b) => (ranks[a] as number) - (ranks[b] as number) || a - b);
    this.isOrderSensitive = plan.calls.some(isOrderSensitive);
    this.followsTime = this.isOrderSensitive || plan.calls.some((call) => descriptorOf(call).followsTime === true);
  }

  sample(row: Row, order: number): Sample {
    const scope = this.#scopeOf(row);
    const inputs: (Value | undefined)[] = [];
    for (const { filter, argument } of this.#calls) {
      if (filter !== null && !filter(scope)) inputs.push(undefined);
      else inputs.push(argument === null ? true : argument(scope));
    }
    return { inputs, time: row.time, order, cause: row.causes[0] ?? row.order };
  }

  accumulators(): Accumulators {
    const states: Accumulator[] = [];
    for (const call of this.#calls) states.push(call.descriptor.create(call.constants));
    return new Accumulators(states, this.#inPassing);
  }

  /** `isByTime`: samples are read in order of their time, else as they were added. */
  sliding(isByTime: boolean): SlidingAccumulators {
    return new SlidingAccumulators(this.#calls, isByTime);
  }

  /** For samples that are held. */
  kinds(): HeldKinds {
    return new HeldKinds(this.#calls);
  }

  /**
   * The sample of a row as all of these can take it, before any of them does. Under `.on_error(null)` what a call refuses is null for it,
   * and a failure is counted. So it is in an operator that keeps such rows (`keeping`), once for each row.
   * @throws EvaluationError else on a value that an aggregate cannot take
   */
  taken(sample: Sample, row: Row, takers: readonly Takers[], keeping: OperatorPlan | null = null): Sample {
    const isNull = this.#environment.stream.onError === 'null';
    let inputs: (Value | undefined)[] | null = null;
    for (const position of this.#order) {
      const input = sample.inputs[position];
      if (input === undefined || input === null) continue;
      try {
        for (const taker of takers) taker.require(position, input);
      } catch (thrown) {
        const failure = evaluationFailure(thrown);
        if (!isNull && keeping === null) throw failure;
        if (isNull || inputs === null) this.#environment.fail(failure, row, keeping);
        inputs ??= [...sample.inputs];
        inputs[position] = null;
      }
    }
    return inputs === null ? sample : { ...sample, inputs };
  }

  /** The row that a window gives. */
  windowRow({ type, ofKey, firstCause, lastCause }: ResultOrigin, results: readonly Value[], frame: WindowFrame): Row {
    const keys = this.#environment.partitionFields(ofKey);
    const base: Row = {
      type,
      time: frame.time,
      order: this.#environment.order(),
      fields: new Map(keys),
      bound: null,
      attributes: frameAttributes(frame),
      causes: causesBetween(firstCause, lastCause),
    };
    return { ...base, fields: resultFields(this.#items, base, results, keys) };
  }

  /** The row that a running aggregate gives when a row has come. */
  runningRow(row: Row, results: readonly Value[]): Row {
    const keys = this.#environment.partitionFields(row);
    const base: Row = { ...row, bound: null, fields: new Map(keys) };
    return { ...base, fields: resultFields(this.#items, base, results, keys) };
  }

  save(accumulators: Accumulators): Value {
    return accumulators.save();
  }

  load(saved: Value): Accumulators {
    const states = saved as ValueArray;
    return new Accumulators(
      this.#calls.map((call, i) => call.descriptor.load(call.constants, states[i] ?? null)),
      this.#inPassing,
    );
  }
}

/** The running state of all calls over one window and key. */
export class Accumulators implements Takers {
  readonly #states: readonly Accumulator[];
  readonly #inPassing: ReadonlySet<number>;

  /** `inPassing`: positions of those whose results nothing keeps. */
  constructor(states: readonly Accumulator[], inPassing: ReadonlySet<number>) {
    this.#states = states;
    this.#inPassing = inPassing;
  }

  require(position: number, value: Value): void {
    this.#states[position]?.require?.(value);
  }

  /** A sample that they take. */
  add({ inputs, time, order }: Sample): void {
    for (let position = 0; position < inputs.length; position++) {
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
    return this.#states.map(
      (state, position) => (this.#inPassing.has(position) ? state.resultInPassing?.() : undefined) ?? state.result(window),
    );
  }

  save(): Value {
    return this.#states.map((state) => state.save());
  }
}

/** Null where something cannot be evaluated. */
export function unlessFailing<T>(evaluate: () => T): T | null {
  try {
    return evaluate();
  } catch (thrown) {
    if (thrown instanceof EvaluationError) return null;
    throw thrown;
  }
}
