import { isAscii, isUtf8 } from 'node:buffer';

/** The list of events in a body that has nothing else. */
export interface PlainBatch {
  /** As it came. */
  readonly list: string;
  /** Of its events. */
  readonly count: number;
}

const string = '"[^"\\\\\\x00-\\x1f]*(?:\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\\\\x00-\\x1f]*)*"';
const number = '-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?';
const member = `${string}: ?(?:${string}|${number}|true|false|null)`;
/** With the digits that an exact number has. */
const time = `(?:${string}|[1-9][0-9]{0,14})`;
/** An event as clients write it: its members in this order, values that are nothing but values, at most one blank where blanks may be. */
const plain = `\\{"event_type": ?(?!"")${string}, ?"fields": ?\\{(?:${member}(?:, ?${member})*)?\\}(?:, ?"timestamp": ?${time})?(?:, ?"id": ?${string})?\\}`;
const event = new RegExp(`${plain}(?:, ?(?=\\{)|(?=\\]))`, 'y');
const alone = new RegExp(`^${plain}$`);
const BEFORE = /^\{"events": ?\[/;
const BEHIND = /^\]\}\s*$/;

/** Behind the events as clients write them that stand in a list from a place on; the place itself when none do. */
export function behindPlainEvents(text: string, start: number): number {
  let end = start;
  for (event.lastIndex = end; event.test(text); ) end = event.lastIndex;
  return end;
}

/** A body that is one event, in the same way: its text, with nothing around it. */
export function plainEventIn(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  if (!alone.test(text)) return undefined;
  if (isAscii(bytes)) return text;
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Looks at a body `{"events": [...]}` without making anything of what is in it: to make objects of events that nobody asks for costs more than
 * all else that is done with them. What it gives is JSON, and each event has the shape that every event must have. Undefined of anything
 * else, and of what clients seldom write: that must be read.
 */
export function plainBatchIn(bytes: Buffer): PlainBatch | undefined {
  // One character for each byte: what stands in strings does not matter.
  const text = bytes.toString('latin1');
  const start = (BEFORE.exec(text)?.[0].length ?? 0) - 1;
  if (start < 0) return undefined;
  let end = start + 1;
  let count = 0;
  for (event.lastIndex = end; event.test(text); count++) end = event.lastIndex;
  if (count === 0 || !BEHIND.test(text.slice(end)) || !isUtf8(bytes)) return undefined;
  const list = isAscii(bytes) ? text.slice(start, end + 1) : bytes.toString('utf8', start, end + 1);
  return { list, count };
}
