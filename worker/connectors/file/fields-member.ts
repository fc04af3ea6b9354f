import { membersIn } from '../../../shared/events/reading/json-pieces.ts';
import { utf8Text } from '../sources/utf8-text.ts';

const FIELDS = '"fields"';

/** Whether a line among these may have a member `fields`. */
export function mayHaveFields(bytes: Buffer): boolean {
  return bytes.includes(FIELDS);
}

/**
 * A line of JSON that gives the same event where the fields may stand under `fields`, as in requests: in an event file that is a field as any
 * other. Values stay as they are written.
 */
export function withoutFields(line: Uint8Array): Uint8Array {
  if (!mayHaveFields(Buffer.from(line.buffer, line.byteOffset, line.byteLength))) return line;
  const text = utf8Text(line);
  const { event_type: eventType, type, fields, data } = objectIn(text);
  if (!isObject(fields)) return line;
  const members = new Map(membersIn(text));
  if (isObject(data)) {
    members.delete('fields');
    return Buffer.from(`{${written(members)}}`);
  }
  const isTyped = eventType !== undefined && eventType !== null;
  const envelope = new Set(['event_type', 'timestamp', '@timestamp', ...(!isTyped && typeof type === 'string' ? ['type'] : [])]);
  const outside = [...members].filter(([name]) => envelope.has(name));
  const inside = [...members].filter(([name]) => !envelope.has(name) || name === '@timestamp');
  return Buffer.from(`{${written([...outside, ['data', `{${written(inside)}}`]])}}`);
}

function written(members: Iterable<readonly [string, string]>): string {
  return Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',');
}

/** Without members where it is none: whoever reads the line says so. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
