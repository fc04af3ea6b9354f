import type { Fields } from '../../../shared/events/event.ts';
import { isMap, type Value } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import { EvaluationError } from '../../../shared/language/functions/descriptor.ts';
import type { AttributeName } from '../../../shared/language/plan/plan.ts';
import type { Row } from '../operators/row.ts';

/** The row with further fields and attributes; everything else that can be read of it stays. */
export function withAdded(row: Row, added: Fields, attributes: ReadonlyMap<AttributeName, Value>): Row {
  const all = attributes.size === 0 ? row.attributes : new Map([...(row.attributes ?? []), ...attributes]);
  return { ...row, fields: new Map([...row.fields, ...added]), attributes: all };
}

/**
 * The fields that an answer gives: those named, null where it has none; all when none is named. An answer that is no map is
 * the value of the one field named, or else of a field `value`.
 * @throws EvaluationError when it is no map and several fields are named, or it is too large to be kept
 */
export function fieldsOfAnswer(answer: Value, names: readonly string[]): Fields {
  requireBounded(answer);
  if (isMap(answer)) return names.length === 0 ? answer : new Map(names.map((name) => [name, answer.get(name) ?? null]));
  if (names.length > 1) throw new EvaluationError(`the answer has no fields; expected ${names.join(', ')}`);
  return new Map([[names[0] ?? 'value', answer]]);
}

/** What a fallback gives: a map stands for the answer, any other value for each field named. */
export function fieldsOfFallback(fallback: Value, names: readonly string[]): Fields {
  if (isMap(fallback) || names.length < 2) return fieldsOfAnswer(fallback, names);
  requireBounded(fallback);
  return new Map(names.map((name) => [name, fallback]));
}
