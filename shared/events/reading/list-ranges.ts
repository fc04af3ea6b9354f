import * as is from './characters.ts';
import { behindPlainEvents } from './plain-batch.ts';

/** From the bracket that opens a list to behind the one that closes it. */
export interface ListRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the lists stand in a JSON text that open inside so many braces and brackets. It looks at nothing else, so that events can go on as
 * they came; of what is no JSON it finds something or nothing.
 */
export function listRanges(bytes: Uint8Array, depth: number): readonly ListRange[] {
  const ranges: ListRange[] = [];
  // One character for each byte. An expression goes through what most lists hold faster than the loop.
  let text: string | undefined;
  let open = 0;
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === is.QUOTE) at = endOfString(bytes, at);
    else if (byte === is.BRACE_OPEN) open++;
    else if (byte === is.BRACKET_OPEN) {
      if (open++ !== depth) continue;
      start = at;
      text ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      at = behindPlainEvents(text, at + 1) - 1;
    } else if (byte === is.BRACE_CLOSE) open--;
    else if (byte === is.BRACKET_CLOSE && --open === depth) ranges.push({ start, end: at + 1 });
  }
  return ranges;
}

/** Of the quote that ends the string that the one at `at` begins. */
function endOfString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (next < bytes.length && bytes[next] !== is.QUOTE) next += bytes[next] === is.BACKSLASH ? 2 : 1;
  return next;
}
