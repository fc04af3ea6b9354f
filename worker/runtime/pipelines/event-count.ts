import type { InjectFormat } from '../service.ts';

const EVENT_TYPE = Buffer.from('"event_type"');
const NEWLINE = 10;

/**
 * About how many events a body holds, without reading it: exact for what clients write, and for anything else put right when the
 * engine has read it.
 */
export function countEvents(body: Uint8Array, format: InjectFormat): number {
  if (format === 'batch') return occurrences(body);
  return format === 'ndjson' ? linesOf(body) : 1;
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
