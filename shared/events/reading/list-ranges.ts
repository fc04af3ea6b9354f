import * as is from './characters.ts';

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
  let open = 0;
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === is.QUOTE) at = endOfString(bytes, at);
    else if (byte === is.BRACE_OPEN) open++;
    else if (byte === is.BRACKET_OPEN) {
      if (open++ === depth) start = at;
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
