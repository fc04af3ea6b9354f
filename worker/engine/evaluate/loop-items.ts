import { makePairs } from '../../../shared/events/making.ts';
import { type Duration, isArray, isMap, kindOf, type Value, type ValueMap } from '../../../shared/events/value.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';

/** The ints of a range, one by one; none when a bound is null. */
export function rangeItems(from: Value, to: Value, inclusive: boolean): Iterable<number> {
  if (from === null || to === null) return [];
  if (!isInteger(from) || !isInteger(to)) throw new EvaluationError(`cannot make a range of ${kindOf(from)} and ${kindOf(to)}`);
  return integers(from, inclusive ? to + 1 : to);
}

/** What `for` walks through; nothing of null. */
export function itemsOf(value: Value): Iterable<Value> {
  if (value === null) return [];
  if (isArray(value)) return value;
  if (isMap(value)) return pairsOf(value);
  if (isInteger(value)) return integers(0, value);
  throw new EvaluationError(`cannot loop over ${kindOf(value)}`);
}

function isInteger(value: Exclude<Value, null> | Duration): value is number {
  return Number.isInteger(value);
}

function* pairsOf(map: ValueMap): Iterable<Value> {
  for (const pair of map) {
    makePairs(1);
    yield pair;
  }
}

function* integers(from: number, end: number): Iterable<number> {
  for (let value = from; value < end; value++) yield value;
}
