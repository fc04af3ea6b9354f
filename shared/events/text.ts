import { EvaluationError } from './evaluation-error.ts';
import type { Fields } from './event.ts';
import { durationText, timestampText } from './time-text.ts';
import { Duration, isArray, Timestamp, type Value, type ValueArray, type ValueMap } from './value.ts';
import { enterNested, newVisits, valueLimits } from './value-limits.ts';

export { compareText, compareValues, equalValues, keyOf } from './order.ts';
export { parseDuration, parseTimestamp } from './time-text.ts';

/** How a value that is no array and no map is written, and what stands between the items of those that are. */
interface Notation {
  readonly scalar: (value: Exclude<Value, ValueArray | ValueMap>) => string;
  readonly comma: string;
  readonly colon: string;
}

const LITERAL: Notation = { scalar: scalarLiteral, comma: ', ', colon: ': ' };
const JSON_TEXT: Notation = { scalar: scalarJson, comma: ',', colon: ':' };

/**
 * The language's `to_string`: strings as they are, `null`, numbers as JavaScript prints them, ISO 8601 times, durations
 * as `1h30m`, arrays and maps as literals that hold literals (`["a", 5m]`).
 * @throws EvaluationError when an array or a map is too deep or too large.
 */
export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value instanceof Timestamp) return timestampText(value.ms);
  return isNested(value) ? write(value, LITERAL) : scalarLiteral(value);
}

/**
 * JSON text of a value: times are epoch milliseconds and durations milliseconds, as numbers; maps keep their order.
 * @throws EvaluationError when an array or a map is too deep or too large.
 */
export function toJson(value: Value): string {
  return isNested(value) ? write(value, JSON_TEXT) : scalarJson(value);
}

/** The fields of an event as the text of a JSON object, in their order. */
export function fieldsToJson(fields: Fields): string {
  return write(fields, JSON_TEXT);
}

function isNested(value: Value): value is ValueArray | ValueMap {
  return isArray(value) || value instanceof Map;
}

function scalarLiteral(value: Exclude<Value, ValueArray | ValueMap>): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Timestamp) return `@${timestampText(value.ms)}`;
  return value instanceof Duration ? durationText(value.ms) : String(value);
}

function scalarJson(value: Exclude<Value, ValueArray | ValueMap>): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return numberJson(value);
  return value instanceof Timestamp || value instanceof Duration ? numberJson(value.ms) : String(value);
}

function numberJson(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

function write(root: ValueArray | ValueMap, notation: Notation): string {
  const { scalar, comma, colon } = notation;
  const visits = newVisits();
  let length = 0;
  const piece = (text: string): string => {
    length += text.length;
    if (length > valueLimits.textLengthMax) throw new EvaluationError('the text of a value is too long');
    return text;
  };
  const item = (value: Value, depth: number): string => (isNested(value) ? nested(value, depth) : piece(scalar(value)));
  const nested = (value: ValueArray | ValueMap, depth: number): string => {
    const isList = isArray(value);
    enterNested(isList ? value.length : value.size, depth, visits);
    const parts: string[] = [];
    if (isList) for (const entry of value) parts.push(item(entry, depth + 1));
    else for (const [key, entry] of value) parts.push(`${piece(JSON.stringify(key))}${colon}${item(entry, depth + 1)}`);
    return isList ? `[${parts.join(comma)}]` : `{${parts.join(comma)}}`;
  };
  return nested(root, 0);
}

/**
 * A value from what `JSON.parse` returned. Objects become maps in their order, with `__proto__` as a key like any other;
 * what is neither JSON nor a finite number becomes null, so a reader looks at numbers before if that matters to it.
 * @throws EvaluationError when the input is nested too deeply.
 */
export function fromJson(input: unknown): Value {
  return readJson(input, 0);
}

function readJson(input: unknown, depth: number): Value {
  if (typeof input === 'string' || typeof input === 'boolean') return input;
  if (typeof input === 'number') return Number.isFinite(input) ? input : null;
  if (typeof input !== 'object' || input === null) return null;
  if (depth >= valueLimits.nestingDepthMax)
    throw new EvaluationError(`JSON is nested more than ${valueLimits.nestingDepthMax} levels deep`);
  if (Array.isArray(input)) return input.map((item) => readJson(item, depth + 1));
  return new Map(Object.entries(input).map(([key, item]) => [key, readJson(item, depth + 1)]));
}
