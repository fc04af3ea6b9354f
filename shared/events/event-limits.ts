import { limits } from '../limits.ts';
import type { InputEvent } from './event.ts';
import { utf8Length } from './reading/utf8.ts';
import { isArray, type Value } from './value.ts';
import { type Place, WrongValue } from './wrong-value.ts';

/** What a number, a bool or a null counts for. */
const SCALAR_BYTES = 8;
/** A UTF-16 code unit of a text has at most so many bytes in UTF-8. */
const UNIT_BYTES = 3;

/**
 * Refuses an event over a limit: fields, nesting, text of one value, all together. The size is an estimate: the UTF-8
 * length of names and texts, and 8 bytes for every other value.
 * @throws WrongValue
 */
export function requireWithinLimits(event: InputEvent): void {
  const { type, fields } = event;
  if (fields.size > limits.eventFieldsMax) {
    throw new WrongValue(undefined, `found ${fields.size} fields, expected at most ${limits.eventFieldsMax}: send less, or several events`);
  }
  if (isFarWithin(event)) return;
  let bytes = textBytes(type, undefined);
  for (const [name, value] of fields) {
    bytes += textBytes(name, undefined);
    if (typeof value === 'string' && value.length <= 64) bytes += value.length;
    else if (Number.isFinite(value)) bytes += SCALAR_BYTES;
    else bytes += valueBytes(value, { segment: name, parent: undefined }, 1);
  }
  if (bytes > limits.eventBytesMax) {
    throw new WrongValue(undefined, `found about ${bytes} bytes, expected at most ${limits.eventBytesMax}: send less, or several events`);
  }
}

/** Nearly every event is flat and so small that none of its texts need be measured. */
function isFarWithin({ type, fields }: InputEvent): boolean {
  let most = type.length * UNIT_BYTES;
  for (const [name, value] of fields) {
    most += name.length * UNIT_BYTES + SCALAR_BYTES;
    if (typeof value === 'string') most += value.length * UNIT_BYTES;
    else if (!(Number.isFinite(value) || value === null || typeof value === 'boolean')) return false;
  }
  return most <= limits.eventBytesMax && most <= limits.eventStringBytesMax;
}

function valueBytes(value: Value, place: Place, depth: number): number {
  if (depth > limits.eventDepthMax) {
    throw new WrongValue(topOf(place), `nested more than ${limits.eventDepthMax} levels deep: flatten it, or send a part of it`);
  }
  if (typeof value === 'string') return textBytes(value, place);
  if (typeof value === 'number') return numberBytes(value, place);
  if (isArray(value))
    return value.reduce<number>((sum, item, index) => sum + valueBytes(item, { segment: index, parent: place }, depth + 1), 0);
  if (!(value instanceof Map)) return SCALAR_BYTES;
  let bytes = 0;
  for (const [key, item] of value) bytes += textBytes(key, place) + valueBytes(item, { segment: key, parent: place }, depth + 1);
  return bytes;
}

function numberBytes(value: number, place: Place): number {
  if (Number.isFinite(value)) return SCALAR_BYTES;
  throw new WrongValue(place, `found ${value}, expected a finite number: leave the field out, or send null`);
}

function textBytes(text: string, place: Place | undefined): number {
  if (text.length <= 64) return text.length;
  const bytes = utf8Length(text);
  if (bytes <= limits.eventStringBytesMax) return bytes;
  throw new WrongValue(place, `found a text of ${bytes} bytes, expected at most ${limits.eventStringBytesMax}: shorten it, or split it`);
}

/** The field of the event that a place lies in: the whole path of a deep value would be long. */
function topOf(place: Place): Place {
  let top = place;
  while (top.parent) top = top.parent;
  return top;
}
