import type { Fields } from '../shared/events/event.ts';
import { toText } from '../shared/events/text.ts';
import type { Value } from '../shared/events/value.ts';
import type { Colors } from './colors.ts';

const DAY_MS = 86_400_000;
const DATE_MS_MAX = 8.64e15;

/** `Login { user: "ann", tries: 3 }`, on one line; nothing in an event can move the cursor or change colours. */
export function eventText(type: string, fields: Fields, colors: Colors): string {
  return `${colors.bold(visible(type))} ${fieldsText(fields, colors)}`;
}

/** `{ user: "ann", tries: 3 }`. */
export function fieldsText(fields: Fields, colors: Colors): string {
  if (fields.size === 0) return '{}';
  const members = Array.from(fields, ([name, value]) => `${colors.dim(`${nameText(name)}:`)} ${visible(literalText(value))}`);
  return `{ ${members.join(', ')} }`;
}

/** `12:00:05.000` on the first day of the epoch, where offsets of an event file lie; later with the date. */
export function clockText(ms: number): string {
  if (!(Math.abs(ms) <= DATE_MS_MAX)) return String(ms);
  const text = new Date(Math.floor(ms)).toISOString();
  return ms >= 0 && ms < DAY_MS ? text.slice(11, -1) : text;
}

/** A value as a program would write it, but times, which stand as ISO 8601. */
export function literalText(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : toText(value);
}

const shortEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The text with an escape in place of every character that is not seen, or that makes others look different. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return shortEscapes[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** The same for lines that others may have put together, as a server or a broker does: they stay lines, and do nothing to a terminal. */
export function visibleLines(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, visible);
}

function nameText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : visible(JSON.stringify(name));
}
