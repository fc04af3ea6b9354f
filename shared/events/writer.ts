import { roundToMicrosecond, TIMESTAMP_MS_MAX } from './calendar.ts';
import type { Fields, InputEvent, OutputEvent } from './event.ts';
import { EventSchemas } from './schema.ts';
import { timestampText } from './time-text.ts';
import { Duration, isArray, Timestamp, type Value } from './value.ts';

/**
 * The line of an `.evt` file, without line end, that reads back as this event (its `source` is not part of a file). An
 * event whose envelope states a time, or whose type or offset that form cannot hold, becomes a JSON line.
 * Timestamps and durations are written as milliseconds, as everywhere in data.
 */
export function writeEvt(event: InputEvent | OutputEvent): string {
  const { fallbackTime, timestamp } = timesOf(event);
  const isOffset = fallbackTime >= 0 && fallbackTime <= TIMESTAMP_MS_MAX;
  if (!isOffset) return jsonLine(event, timestamp ?? fallbackTime);
  const offset = `@${roundToMicrosecond(fallbackTime)} `;
  if (timestamp !== undefined || !/^[A-Za-z_][\w.-]*$/.test(event.type)) return offset + jsonLine(event, timestamp);
  return event.fields.size === 0 ? `${offset}${event.type} {}` : `${offset}${event.type} { ${members(event.fields, EVT)} }`;
}

/**
 * The line of a JSON-lines file, without line end. Reading it back gives the same type, fields and event time: the
 * envelope says the time unless the fields do (by the declared types in `schemas`).
 */
export function writeJsonl(event: InputEvent | OutputEvent, schemas = new EventSchemas([])): string {
  const { fallbackTime, timestamp } = timesOf(event);
  if (timestamp !== undefined || 'time' in event) return jsonLine(event, timestamp ?? fallbackTime);
  return jsonLine(event, schemas.ownTime(event.type, event.fields) === undefined ? fallbackTime : undefined);
}

function timesOf(event: InputEvent | OutputEvent): { readonly fallbackTime: number; readonly timestamp: number | undefined } {
  if ('time' in event) return { fallbackTime: event.time, timestamp: undefined };
  return { fallbackTime: event.fallbackTime, timestamp: event.timestamp };
}

/**
 * A JSON line with this time in its envelope, epoch milliseconds, or with none. The time is text: a small number of
 * milliseconds would read back as seconds.
 */
export function jsonLine({ type, fields }: { readonly type: string; readonly fields: Fields }, time: number | undefined): string {
  const timestamp = time === undefined ? '' : `,"timestamp":"${timestampText(time)}"`;
  return `{"event_type":${JSON.stringify(type)}${timestamp},"data":${fieldsText(fields)}}`;
}

/** An object in JSON that reads back as these fields, by readers that tell a float from an int by its text. */
export function fieldsText(fields: Fields): string {
  return `{${members(fields, JSON_DATA)}}`;
}

interface Notation {
  readonly text: (text: string) => string;
  readonly key: (key: string) => string;
  readonly comma: string;
}

const JSON_DATA: Notation = { text: JSON.stringify, key: (key) => `${JSON.stringify(key)}:`, comma: ',' };
const EVT: Notation = { text: evtText, key: (key) => `${/^[A-Za-z_]\w*$/.test(key) ? key : evtText(key)}: `, comma: ', ' };

function members(fields: Fields, notation: Notation): string {
  return Array.from(fields, ([key, value]) => notation.key(key) + valueText(value, notation)).join(notation.comma);
}

function valueText(value: Value, notation: Notation): string {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value === 'number') return numberText(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Timestamp || value instanceof Duration) return numberText(value.ms);
  if (isArray(value)) return `[${value.map((item) => valueText(item, notation)).join(notation.comma)}]`;
  return `{${members(value, notation)}}`;
}

/** The shortest text that reads back. A whole number beyond 2^53-1 has a point: without one it would be an unsafe integer. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !text.includes('e') ? `${text}.0` : text;
}

const namedEscapes: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** In double quotes; control characters and halves of surrogate pairs as `\u0000`. */
function evtText(text: string): string {
  const escaped = text.replace(/["\\\p{Cc}\p{Cs}]/gu, (character) => {
    return namedEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
