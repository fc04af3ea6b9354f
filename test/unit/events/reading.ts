import type { InputEvent } from '../../../shared/events/event.ts';
import { readEvents } from '../../../shared/events/event-reader.ts';
import type { LineDiagnostic, ReaderOptions, ReadResult } from '../../../shared/events/reading/read-result.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { Duration, isArray, Timestamp, type Value } from '../../../shared/events/value.ts';
import type { Type } from '../../../shared/language/plan/types.ts';

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything a reader says of a whole file. */
export function read(extension: string, content: string | Uint8Array, options: ReaderOptions = {}): ReadResult[] {
  const reader = readEvents(extension, options);
  const results = reader.write(typeof content === 'string' ? bytesOf(content) : content);
  return [...results, ...reader.end()];
}

/** The events of a file in which every line can be read. */
export function events(extension: string, content: string, options: ReaderOptions = {}): InputEvent[] {
  return read(extension, content, options).map((result) => {
    if (result.kind !== 'event') throw new Error(`no event: ${JSON.stringify(result)}`);
    return result.event;
  });
}

/** An event as `Type@time {fields}`, for a look at many at once. */
function brief({ type, fields, fallbackTime, timestamp }: InputEvent): string {
  return `${type}@${fallbackTime}${timestamp === undefined ? '' : `!${timestamp}`} ${JSON.stringify(plain(fields))}`;
}

export const briefly = (extension: string, content: string, options: ReaderOptions = {}): string[] =>
  events(extension, content, options).map(brief);

/** The fields of the only event of a file. */
export function fieldsOf(extension: string, content: string, options: ReaderOptions = {}): unknown {
  const [event, ...others] = events(extension, content, options);
  if (!event || others.length > 0) throw new Error('expected one event');
  return plain(event.fields);
}

/** The diagnostic of the only line of a file. */
export function diagnosticOf(extension: string, content: string | Uint8Array): LineDiagnostic {
  const [result, ...others] = read(extension, content);
  if (result?.kind !== 'unreadable' || others.length > 0) throw new Error(`expected one unreadable line: ${JSON.stringify(result)}`);
  return result.diagnostic;
}

/** A value with objects for maps (keys in order; no test here needs a key `__proto__` in one). */
export function plain(value: Value): unknown {
  if (value instanceof Timestamp) return { timestamp: value.ms };
  if (value instanceof Duration) return { duration: value.ms };
  if (value === null || typeof value !== 'object') return value;
  if (isArray(value)) return value.map(plain);
  return Object.fromEntries(Array.from(value, ([key, item]) => [key, plain(item)]));
}

/** Declared types, each as its fields in order; a name that ends in `?` is optional. */
export function declare(types: Readonly<Record<string, Readonly<Record<string, Type>>>>): EventSchemas {
  return new EventSchemas(
    Object.entries(types).map(([name, fields]) => ({
      name,
      fields: Object.entries(fields).map(([field, type]) => ({ name: field.replace('?', ''), type, optional: field.endsWith('?') })),
    })),
  );
}
