import { type PathSegment, printPath } from './reading/scan-problem.ts';
import { isArray, Timestamp, type Value } from './value.ts';

/** A step from the fields of an event to a value inside them. */
export interface Place {
  readonly segment: PathSegment;
  readonly parent: Place | undefined;
}

/** Thrown and caught inside a schema: a value that makes its event invalid. */
export class WrongValue extends Error {
  override readonly name = 'WrongValue';
  /** Path of the field, empty when the event as a whole is wrong. */
  readonly field: string;

  constructor(place: Place | undefined, message: string) {
    super(message);
    this.field = printPlace(place);
  }
}

/** The path of a place with every item of an array (`items[2].price`), or with `[]` for all of them. */
export function printPlace(place: Place | undefined, anyItem = false): string {
  const path: PathSegment[] = [];
  for (let at = place; at; at = at.parent) path.unshift(at.segment);
  const printed = printPath(path);
  return anyItem ? printed.replace(/\[\d+\]/g, '[]') : printed;
}

/** A value as messages show it. */
export function describeValue(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return `text ${JSON.stringify(value.length <= 40 ? value : `${value.slice(0, 40)}...`)}`;
  if (typeof value !== 'object') return String(value);
  if (isArray(value)) return 'an array';
  if (value instanceof Map) return 'a map';
  return value instanceof Timestamp ? 'a timestamp' : 'a duration';
}
