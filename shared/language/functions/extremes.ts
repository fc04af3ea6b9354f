import { compareValues } from '../../events/text.ts';
import { isArray, isMap, kindOf, type Value } from '../../events/value.ts';
import { conversionHint, differingKinds, isOrdered, isUnknown, type TypeProblem } from '../plan/type-relations.ts';
import { printType, type Type } from '../plan/types.ts';
import { EvaluationError } from './descriptor.ts';

/** `1` looks for the largest value, `-1` for the smallest. */
export type Direction = 1 | -1;

/**
 * Whether `candidate` beats `best`, the best so far (null when there is none yet). Equal values do not.
 * @throws EvaluationError on values that do not order, alone or with each other; `name` is the function that asks.
 */
export function beats(name: string, candidate: Value, best: Value, direction: Direction): boolean {
  requireOrdered(name, candidate);
  return best === null || orderOf(name, candidate, best) * direction > 0;
}

/** The order of two values that must have one. */
export function orderOf(name: string, a: Value, b: Value): number {
  const order = compareValues(a, b);
  if (order === undefined) throw new EvaluationError(`${name}: cannot compare ${kindOf(a)} with ${kindOf(b)}`);
  return order;
}

export function requireOrdered(name: string, value: Value): void {
  if (isArray(value) || isMap(value)) throw new EvaluationError(`${name}: values of kind ${kindOf(value)} have no order`);
}

/** As `requireOrdered`, of a type. */
export function unordered(name: string, type: Type): TypeProblem | undefined {
  return isUnknown(type) || isOrdered(type) ? undefined : { problem: `values of ${printType(type)} have no order (\`${name}\`)` };
}

/** As `orderOf`, of types each of which has an order. */
export function unlike(name: string, types: readonly Type[]): TypeProblem | undefined {
  const mixed = differingKinds(types);
  return mixed && { problem: `${mixed.map(printType).join(' and ')} have no order (\`${name}\`)`, ...conversionHint(...mixed) };
}

/** The largest or smallest of the values that are not null; null when there are none. */
export function extremeOf(name: string, values: readonly Value[], direction: Direction): Value {
  let best: Value = null;
  for (const value of values) {
    if (value !== null && beats(name, value, best, direction)) best = value;
  }
  return best;
}
