import { InvariantError, invariant } from '../../../shared/errors/error.ts';
import type { Value } from '../../../shared/events/value.ts';
import type { AggregateDescriptor } from '../../../shared/language/functions/descriptor.ts';
import { aggregateOver } from '../../../shared/language/functions/index.ts';
import type { AggregateCall } from '../../../shared/language/plan/plan.ts';
import { prepareCondition } from '../evaluate/condition.ts';
import type { OperatorEnvironment } from '../operators/operator.ts';
import type { Evaluate, Scope } from '../operators/row.ts';

/** A call of the language as it runs. */
export interface PreparedCall {
  readonly descriptor: AggregateDescriptor;
  readonly constants: readonly Value[];
  readonly isOrderSensitive: boolean;
  readonly argument: Evaluate | null;
  readonly filter: ((scope: Scope) => boolean) | null;
}

export function prepareCall(call: AggregateCall, environment: OperatorEnvironment): PreparedCall {
  const [argument, ...others] = call.arguments;
  if (others.length > 0) throw new InvariantError(`${call.function} has several arguments`);
  const descriptor = descriptorOf(call);
  return {
    descriptor,
    constants: call.constants,
    isOrderSensitive: isOrderSensitive(call),
    argument: argument === undefined ? null : inputOf(descriptor, environment.evaluator(argument)),
    filter: call.filter && prepareCondition(call.filter, environment),
  };
}

/** What only counts wants to know whether there is a value: any is counted, and none is held. */
function inputOf({ numbers }: AggregateDescriptor, argument: Evaluate): Evaluate {
  return numbers?.keeps === 'count' ? (scope) => (argument(scope) === null ? null : true) : argument;
}

export function descriptorOf(call: AggregateCall): AggregateDescriptor {
  const descriptor = aggregateOver(call.function, call.arguments[0]?.type);
  invariant(descriptor !== undefined, `no aggregate is called ${call.function}`);
  return descriptor;
}

/** Its result follows the order of arrival, which is not that of event time. */
export function isOrderSensitive(call: AggregateCall): boolean {
  return descriptorOf(call).create(call.constants).merge === undefined;
}

/** How much a call takes, the choosiest first: they are asked before others, and what one of them refuses changes nothing. */
export function acceptanceRank(call: AggregateCall): number {
  const { takes } = descriptorOf(call);
  return takes === 'anything' ? 2 : takes === 'one_kind' ? 1 : 0;
}

const SCALARS = new Set(['int', 'float', 'str', 'bool', 'timestamp', 'duration']);
const ORDERED = new Set(['int', 'float', 'str', 'timestamp', 'duration']);
const QUANTITIES = new Set(['int', 'float', 'duration']);

/** No value of the argument's type is refused, whatever came before. */
export function takesAnyOfItsType(call: AggregateCall): boolean {
  const { takes } = descriptorOf(call);
  const [argument] = call.arguments;
  const kinds = takes === 'anything' ? SCALARS : takes === 'one_kind' ? ORDERED : QUANTITIES;
  return argument === undefined || kinds.has(argument.type.kind);
}
