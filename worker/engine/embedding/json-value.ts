import type { Fields } from '../../../shared/events/event.ts';
import { Duration, isArray, Timestamp, type Value } from '../../../shared/events/value.ts';

/** A value as JSON has it. Timestamps are epoch milliseconds, durations milliseconds. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

export type JsonFields = { readonly [name: string]: JsonValue };

/** Fields as a plain object, in their order; one called `__proto__` is a field like any other. */
export function fieldsToObject(fields: Fields): JsonFields {
  return Object.fromEntries(Array.from(fields, ([name, value]) => [name, toJsonValue(value)]));
}

function toJsonValue(value: Value): JsonValue {
  if (value instanceof Timestamp || value instanceof Duration) return value.ms;
  if (isArray(value)) return value.map(toJsonValue);
  return value instanceof Map ? fieldsToObject(value) : (value as null | boolean | number | string);
}
