import type { Value } from '../../../../shared/events/value.ts';
import { fingerprint } from '../../../../shared/language/plan/fingerprint.ts';
import type { AggregateCall, PlanExpression } from '../../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../../evaluate/condition.ts';
import type { OperatorEnvironment } from '../../operators/operator.ts';
import { type Row, reusableScope } from '../../operators/row.ts';
import { Body, type Constants } from '../module-text.ts';
import { conditionOf, printTyped, typedOf } from '../print-typed.ts';
import { boxed, lazily, type Readable, Refusal, representationOf, type Typed } from '../typed.ts';
import type { TypedContext } from '../typed-context.ts';

/**
 * What one row gives to one aggregate call or to several: an argument (null where the call's filter does not hold), or
 * whether the filter holds.
 */
export interface AggregateInput {
  readonly filter: PlanExpression | null;
  /** Null: only the filter counts. */
  readonly argument: PlanExpression | null;
  /** The parameter of the generated function that takes it. */
  readonly parameter: string;
  readonly as: 'number' | 'boolean' | 'value';
}

/** Where the first caller of a window stands. */
export interface InputContext {
  readonly module: Constants;
  readonly readable: Readable;
}

/** The inputs of all calls of an `.aggregate`, each once. */
export class AggregateInputs {
  readonly all: AggregateInput[] = [];
  readonly #byMeaning = new Map<string, AggregateInput>();
  readonly #context: InputContext;

  /** `context`: where the first caller stands, which can read all inputs. What is a number there and by its static type is one wherever it comes from. */
  constructor(context: InputContext) {
    this.#context = context;
  }

  /** The argument of a call, null where the call's filter does not hold. */
  argumentOf(call: AggregateCall): AggregateInput {
    return this.#input(call.arguments[0] ?? null, call.filter);
  }

  filterOf(call: AggregateCall): AggregateInput | null {
    return call.filter && this.#input(null, call.filter);
  }

  #input(argument: PlanExpression | null, filter: PlanExpression | null): AggregateInput {
    const meaning = fingerprint([argument, filter]);
    let input = this.#byMeaning.get(meaning);
    if (input === undefined) {
      const parameter = this.#context.module.names.mint('v');
      input = { argument, filter, parameter, as: argument === null ? 'boolean' : this.#kindOf(argument) };
      this.all.push(input);
      this.#byMeaning.set(meaning, input);
    }
    return input;
  }

  #kindOf(argument: PlanExpression): 'number' | 'value' {
    if (representationOf(argument.type) !== 'number') return 'value';
    const unused = new Body(this.#context.module.names);
    return printTyped(argument, { ...this.#context, body: unused }).as === 'number' ? 'number' : 'value';
  }
}

/** An input at some place that leads to the window. */
export function inputAt({ argument, filter, as }: AggregateInput, context: TypedContext): Typed | Refusal {
  if (argument === null) return conditionOf(filter as PlanExpression, context);
  const value = typedOf(filter === null ? argument : unless(filter, argument), context);
  if (value instanceof Refusal || as === 'number') return value instanceof Refusal || isNumber(value) ? value : otherType();
  const { isNullable, isSimple, canFail, place } = value;
  return lazily({ as, isNullable, isSimple, canFail, place }, () => boxed(value));
}

function isNumber({ as, isNull }: Typed): boolean {
  return as === 'number' || isNull === true;
}

function otherType(): Refusal {
  return new Refusal('an aggregated value has another type here');
}

/** The argument where the filter holds, else null. */
function unless(filter: PlanExpression, argument: PlanExpression): PlanExpression {
  const otherwise: PlanExpression = { kind: 'constant', type: { kind: 'null' }, value: null };
  // biome-ignore lint/suspicious/noThenProperty: a node of the plan has this name
  return { kind: 'if', type: argument.type, condition: filter, then: argument, otherwise };
}

/** Evaluates the inputs of a row that came whole: values in the order of the parameters. */
export function inputReader(inputs: readonly AggregateInput[], environment: OperatorEnvironment): (row: Row) => Value[] {
  const scopeOf = reusableScope();
  const readers = inputs.map(({ argument, filter }) => ({
    argument: argument && environment.evaluator(argument),
    filter: filter && prepareCondition(filter, environment),
  }));
  return (row) => {
    const scope = scopeOf(row);
    return readers.map(({ argument, filter }) => {
      const holds = filter === null || filter(scope);
      if (argument === null) return holds;
      return holds ? argument(scope) : null;
    });
  };
}
