import { isUtf8 } from 'node:buffer';
import { CepError } from '../../../shared/errors/error.ts';
import { utf8Text } from '../sources/utf8-text.ts';

const [OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = Buffer.from('{[}]') as unknown as [number, number, number, number];
const [QUOTE, BACKSLASH, COMMA, NEWLINE] = Buffer.from('"\\,\n') as unknown as [number, number, number, number];
const expected = 'expected a JSON object with one event, an array of such objects, or lines of them (application/x-ndjson)';

/** The events of a request, each as its own bytes: numbers stay as they were written. @throws CepError `invalid_json`, `invalid_event` */
export function webhookEvents(body: Buffer, isLines: boolean): readonly Uint8Array[] {
  if (!isUtf8(body)) throw new CepError('invalid_json', `found bytes that are no UTF-8 text, ${expected}`);
  const events = isLines ? linesOf(body) : eventsOfJson(body);
  if (events.length === 0) throw new CepError('invalid_event', `found no event, ${expected}`);
  return events;
}

function linesOf(body: Buffer): readonly Buffer[] {
  return split(body, (byte) => byte === NEWLINE).filter((line) => line.some((byte) => byte > 32));
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

/** The texts of the elements of a JSON array, which is known to be one. */
function elementsOf(body: Buffer): readonly Buffer[] {
  const inner = body.subarray(body.indexOf(OPEN_BRACKET) + 1, body.lastIndexOf(CLOSE_BRACKET));
  let [depth, isText, isEscaped] = [0, false, false];
  return split(inner, (byte) => {
    if (isText) {
      if (byte === QUOTE && !isEscaped) isText = false;
      isEscaped = byte === BACKSLASH && !isEscaped;
    } else if (byte === QUOTE) isText = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    return byte === COMMA && depth === 0 && !isText;
  });
}

function split(bytes: Buffer, isEnd: (byte: number) => boolean): readonly Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (const [at, byte] of bytes.entries()) {
    if (!isEnd(byte)) continue;
    parts.push(bytes.subarray(start, at));
    start = at + 1;
  }
  parts.push(bytes.subarray(start));
  return parts;
}
