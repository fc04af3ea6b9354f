import { Duration, isArray, isMap, kindOf, Timestamp, type Value } from '../../events/value.ts';
import { isNumeric, printType, type RecordType, type Type } from '../plan/types.ts';

/** Whether a value is what a declared type promises. Numbers are of one kind, and null is of every type. */
export function fitsType(value: Value, type: Type): boolean {
  if (value === null) return true;
  switch (type.kind) {
    case 'any':
      return true;
    case 'int':
    case 'float':
      return typeof value === 'number';
    case 'str':
      return typeof value === 'string';
    case 'bool':
      return typeof value === 'boolean';
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'null':
      return false;
    case 'array':
      return isArray(value) && (type.item.kind === 'any' || allFit(value, type.item));
    case 'map':
      return isMap(value) && (type.value.kind === 'any' || allFit(value.values(), type.value));
    case 'record':
      return isMap(value) && type.fields.every(({ name, type: wanted }) => fitsType(value.get(name) ?? null, wanted));
  }
}

/** Runs with each call of a function that declares such a result: without a copy, and without a call for each item. */
function allFit(items: Iterable<Value>, type: Type): boolean {
  if (isNumeric(type)) {
    for (const item of items) if (typeof item !== 'number' && item !== null) return false;
    return true;
  }
  for (const item of items) if (!fitsType(item, type)) return false;
  return true;
}

/** What a value is that does not fit: its kind, or that of the part that differs. */
export function misfitText(value: Value, type: Type): string {
  if (type.kind === 'array' && isArray(value))
    return `an array with ${misfitText(value.find((item) => !fitsType(item, type.item)) ?? null, type.item)}`;
  if (type.kind === 'map' && isMap(value)) {
    return `a map with ${misfitText([...value.values()].find((item) => !fitsType(item, type.value)) ?? null, type.value)}`;
  }
  return type.kind === 'record' && isMap(value) ? recordText(value, type) : kindOf(value);
}

function recordText(value: ReadonlyMap<string, Value>, type: RecordType): string {
  const field = type.fields.find(({ name, type: wanted }) => !fitsType(value.get(name) ?? null, wanted));
  return field ? `${printType(type)} with ${misfitText(value.get(field.name) ?? null, field.type)} as \`${field.name}\`` : 'map';
}
