import { type FieldType, printType, type RecordType, type Type } from '../language/plan/types.ts';
import type { Fields } from './event.ts';
import { readEventTime } from './event-time.ts';
import { parseDuration } from './time-text.ts';
import { Duration, isArray, isMap, Timestamp, type Value, type ValueArray, type ValueMap } from './value.ts';
import { describeValue, type Place, printPlace, WrongValue } from './wrong-value.ts';

/** Fields of their declared types, and the paths of those that are missing. */
interface CoercedFields {
  readonly fields: Fields;
  readonly incomplete: readonly string[];
}

/** One declared event type. */
export class EventSchema {
  readonly fields: readonly FieldType[];
  readonly fieldNames: readonly string[];
  /** The first declared field of type timestamp. */
  readonly timeField: string | undefined;
  /** All declared fields of type timestamp. */
  readonly timestamps: ReadonlySet<string>;
  readonly #fields: readonly { readonly field: FieldType; readonly place: Place }[];

  constructor(fields: readonly FieldType[]) {
    this.fields = fields;
    this.fieldNames = fields.map(({ name }) => name);
    this.timestamps = new Set(fields.filter(({ type }) => type.kind === 'timestamp').map(({ name }) => name));
    [this.timeField] = this.timestamps;
    this.#fields = fields.map((field) => ({ field, place: { segment: field.name, parent: undefined } }));
  }

  /** Extra fields stay as they are. @throws WrongValue */
  coerce(fields: Fields): CoercedFields {
    const coercion = new Coercion();
    let changed: Map<string, Value> | undefined;
    for (const { field, place } of this.#fields) {
      const value = fields.get(field.name) ?? null;
      const coerced = coercion.field(value, field, place);
      if (coerced === value) continue;
      changed ??= new Map(fields);
      changed.set(field.name, coerced);
    }
    return { fields: changed ?? fields, incomplete: coercion.incomplete };
  }
}

/** What a wrong value should have been. */
const advice: Partial<Record<Type['kind'], string>> = {
  int: 'send a whole number, or declare the field `float` or `str`',
  float: 'send a number, or declare the field `str`',
  str: 'send text in quotes',
  bool: 'send true or false',
  timestamp: 'send ISO 8601 text such as "2026-01-31T10:00:00Z", or epoch seconds or milliseconds',
  duration: 'send milliseconds, or text such as "5m"',
  array: 'send an array',
  map: 'send a map',
  record: 'send a map with its fields',
  null: 'leave it out',
};

/** Brings the values of one event to their declared types. Null stays null. */
class Coercion {
  readonly incomplete: string[] = [];

  field(value: Value, { type, optional }: FieldType, place: Place): Value {
    if (value !== null) return this.value(value, type, place);
    if (!optional) this.#noteMissing(place);
    return null;
  }

  value(value: Value, type: Type, place: Place): Value {
    switch (type.kind) {
      case 'any':
        return value;
      case 'int':
        return requireInteger(value, type, place);
      case 'float':
        return typeof value === 'number' ? value : refuse(value, type, place);
      case 'str':
        return typeof value === 'string' ? value : refuse(value, type, place);
      case 'bool':
        return typeof value === 'boolean' ? value : refuse(value, type, place);
      case 'null':
        return refuse(value, type, place);
      case 'timestamp':
        return toTimestamp(value, type, place);
      case 'duration':
        return toDuration(value, type, place);
      case 'array':
        return isArray(value)
          ? this.#array(value, { name: '', type: type.item, optional: type.areItemsOptional === true }, place)
          : refuse(value, type, place);
      case 'map':
        return isMap(value) ? this.#map(value, type.value, place) : refuse(value, type, place);
      case 'record':
        return isMap(value) ? this.#record(value, type, place) : refuse(value, type, place);
    }
  }

  #array(items: ValueArray, each: FieldType, parent: Place): ValueArray {
    const coerced = items.map((item, segment) => this.field(item, each, { segment, parent }));
    return coerced.some((item, index) => item !== items[index]) ? coerced : items;
  }

  #map(map: ValueMap, type: Type, parent: Place): ValueMap {
    let changed: Map<string, Value> | undefined;
    for (const [segment, value] of map) {
      const coerced = value === null ? null : this.value(value, type, { segment, parent });
      if (coerced === value) continue;
      changed ??= new Map(map);
      changed.set(segment, coerced);
    }
    return changed ?? map;
  }

  #record(map: ValueMap, { fields }: RecordType, parent: Place): ValueMap {
    let changed: Map<string, Value> | undefined;
    for (const field of fields) {
      const value = map.get(field.name) ?? null;
      const coerced = this.field(value, field, { segment: field.name, parent });
      if (coerced === value) continue;
      changed ??= new Map(map);
      changed.set(field.name, coerced);
    }
    return changed ?? map;
  }

  #noteMissing(place: Place): void {
    const path = printPlace(place, true);
    if (!this.incomplete.includes(path)) this.incomplete.push(path);
  }
}

function requireInteger(value: Value, type: Type, place: Place): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) return refuse(value, type, place);
  if (Number.isSafeInteger(value)) return value;
  throw new WrongValue(
    place,
    `found ${value}, expected an int within +-(2^53-1): declare the field \`float\`, or send text and declare it \`str\``,
  );
}

function toTimestamp(value: Value, type: Type, place: Place): Timestamp {
  if (value instanceof Timestamp) return value;
  const ms = readEventTime(value);
  return ms === undefined ? refuse(value, type, place) : new Timestamp(ms);
}

function toDuration(value: Value, type: Type, place: Place): Duration {
  if (value instanceof Duration) return value;
  const ms = typeof value === 'string' ? parseDuration(value) : value;
  return typeof ms === 'number' ? new Duration(ms) : refuse(value, type, place);
}

function refuse(value: Value, type: Type, place: Place): never {
  throw new WrongValue(place, `found ${describeValue(value)}, expected ${printType(type)}: ${advice[type.kind] ?? 'send another value'}`);
}
