import type { InjectFormat } from '../service.ts';

const EVENT_TYPE = Buffer.from('"event_type"');
const NEWLINE = 10;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

/**
 * About how many events a body holds, without reading it: exact for what clients write, and for anything else put right when the
 * engine has read it. Nobody is refused for that alone: see `countEventsExactly`.
 */
export function countEvents(body: Uint8Array, format: InjectFormat): number {
  if (format === 'batch') return occurrences(body);
  return format === 'ndjson' ? linesOf(body) : 1;
}

/** How many events a body holds, whatever its fields are called and wherever it has blanks; takes longer. Of what is no JSON any number. */
export function countEventsExactly(body: Uint8Array, format: InjectFormat): number {
  if (format === 'batch') return objectsInList(body);
  return format === 'ndjson' ? writtenLinesOf(body) : 1;
}

/** Objects that stand in a list, which is all of the body or a member of it. */
function objectsInList(body: Uint8Array): number {
  let objects = 0;
  let depth = 0;
  let listDepth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at);
    else if (byte === OPEN_LIST) {
      depth++;
      if (listDepth === 0) listDepth = depth;
    } else if (byte === OPEN_OBJECT) {
      if (listDepth > 0 && depth === listDepth) objects++;
      depth++;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === listDepth) listDepth = 0;
      depth--;
    }
  }
  return objects;
}

/** Where the text ends that begins at a quote; the end of all bytes when it does not. */
function endOfText(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

/** Lines in which something stands. */
function writtenLinesOf(body: Uint8Array): number {
  let lines = 0;
  let isWritten = false;
  for (const byte of body) {
    if (byte > SPACE && !isWritten) lines++;
    isWritten = byte !== NEWLINE && (isWritten || byte > SPACE);
  }
  return lines;
}

function linesOf(body: Uint8Array): number {
  let lines = 0;
  for (let at = body.indexOf(NEWLINE); at >= 0; at = body.indexOf(NEWLINE, at + 1)) lines++;
  return body.length === 0 || body[body.length - 1] === NEWLINE ? lines : lines + 1;
}

/** How far a search may move on when this byte stands where the last one of the text should (Horspool). */
const moves = new Uint8Array(256).fill(EVENT_TYPE.length);
for (const [at, byte] of EVENT_TYPE.subarray(0, -1).entries()) moves[byte] = EVENT_TYPE.length - 1 - at;

/** Occurrences of `"event_type"`; looks at about one byte in eight. */
function occurrences(bytes: Uint8Array): number {
  const last = EVENT_TYPE.length - 1;
  let count = 0;
  for (let end = last; end < bytes.length; ) {
    let at = 0;
    while (at <= last && bytes[end - at] === EVENT_TYPE[last - at]) at++;
    if (at > last) count++;
    end += at > last ? EVENT_TYPE.length : (moves[bytes[end] as number] as number);
  }
  return count;
}
