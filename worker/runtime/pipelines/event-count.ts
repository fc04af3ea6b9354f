import type { InjectFormat } from '../service.ts';

const EVENT_TYPE = Buffer.from('"event_type"');
const NEWLINE = 10;

/**
 * About how many events a body holds, without reading it: exact for what clients write, and for anything else put right when the
 * engine has read it.
 */
export function countEvents(body: Uint8Array, format: InjectFormat): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (format === 'batch') return occurrences(bytes, EVENT_TYPE);
  if (format !== 'ndjson') return 1;
  const lines = occurrences(bytes, NEWLINE);
  return bytes.length === 0 || bytes[bytes.length - 1] === NEWLINE ? lines : lines + 1;
}

function occurrences(bytes: Buffer, what: Buffer | number): number {
  const step = typeof what === 'number' ? 1 : what.length;
  let count = 0;
  for (let at = bytes.indexOf(what); at >= 0; at = bytes.indexOf(what, at + step)) count++;
  return count;
}
