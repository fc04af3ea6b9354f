import { isUtf8 } from 'node:buffer';
import { CepError } from '../../../shared/errors/error.ts';
import { utf8Text } from '../sources/utf8-text.ts';

const [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('{[}]') as unknown as [number, number, number, number];
const [QUOTE, BACKSLASH, COMMA] = Buffer.from('"\\,') as unknown as [number, number, number];
const [NEWLINE, SPACE] = Buffer.from('\n ') as unknown as [number, number];
const expected = 'expected a JSON object with one event, an array of such objects, or lines of them (application/x-ndjson)';

/** The events of a request, each as its own bytes: numbers stay as they were written. @throws CepError `invalid_json`, `invalid_event` */
export function webhookEvents(body: Buffer, isLines: boolean): readonly Uint8Array[] {
  if (!isUtf8(body)) throw new CepError('invalid_json', `found bytes that are no UTF-8 text, ${expected}`);
  const events = isLines ? linesOf(body) : eventsOfJson(body);
  if (events.length === 0) throw new CepError('invalid_event', `found no event, ${expected}`);
  return events;
}

function linesOf(body: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline < 0 ? body.length : newline;
    if (!isBlank(body, start, end)) lines.push(body.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] as number) > SPACE) return false;
  return true;
}

function eventsOfJson(body: Buffer): readonly Buffer[] {
  const value = read(body);
  if (!Array.isArray(value)) return [body];
  return value.length === 0 ? [] : elementsOf(body);
}

function read(body: Buffer): unknown {
  try {
    return JSON.parse(utf8Text(body));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CepError('invalid_json', `the body is no JSON (${reason}), ${expected}`, { cause });
  }
}

/** The texts of the elements of a JSON array, which is known to be one. The server's own thread goes through a megabyte here: hence the plain loops. */
function elementsOf(body: Buffer): readonly Buffer[] {
  const inner = body.subarray(body.indexOf(OPEN_BRACKET) + 1, body.lastIndexOf(CLOSE_BRACKET));
  const parts: Buffer[] = [];
  let [depth, start] = [0, 0];
  for (let at = 0; at < inner.length; at++) {
    const byte = inner[at];
    if (byte === QUOTE) at = endOfText(inner, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    else if (byte === COMMA && depth === 0) {
      parts.push(inner.subarray(start, at));
      start = at + 1;
    }
  }
  parts.push(inner.subarray(start));
  return parts;
}

/** Where the quote stands that ends the text which begins at `start`. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (; bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
  return at;
}
