import { Timestamp, type Value } from '../../../shared/events/value.ts';
import type { AttributeName, NamedExpression } from '../../../shared/language/plan/plan.ts';
import type { OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import { type Evaluate, type Row, scopeOf } from '../operators/row.ts';

export interface PreparedItem {
  readonly name: string;
  readonly value: Evaluate;
}

export function prepareItem(item: NamedExpression, environment: OperatorEnvironment): PreparedItem {
  return { name: item.name, value: environment.evaluator(item.value) };
}

/** The aggregates in written order, then the partition keys, which the program may read and `.emit()` shows. */
export function resultFields(
  items: readonly PreparedItem[],
  row: Row,
  results: readonly Value[],
  keys: readonly (readonly [string, Value])[],
): Map<string, Value> {
  const scope = scopeOf(row, results);
  const fields = new Map<string, Value>();
  for (const item of items) fields.set(item.name, item.value(scope));
  for (const [name, value] of keys) if (!fields.has(name)) fields.set(name, value);
  return fields;
}

export function firstCause(row: Row): number {
  return row.causes[0] ?? row.order;
}

export function lastCause(row: Row): number {
  return row.causes.at(-1) ?? row.order;
}

/** What a window's result is made from: the first and the last of its events, enough to name it. */
export function causesBetween(first: number, last: number): number[] {
  return first === last ? [first] : [Math.min(first, last), Math.max(first, last)];
}

export function frameAttributes(frame: WindowFrame): Map<AttributeName, Value> {
  return new Map<AttributeName, Value>([
    ['window_start', new Timestamp(frame.start)],
    ['window_end', new Timestamp(frame.end)],
    ['is_final', frame.isFinal],
  ]);
}
