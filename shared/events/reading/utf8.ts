/** Bytes of a text in UTF-8. A surrogate without its pair counts as the three bytes of the character that replaces it. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    length += unit < 0x800 ? 1 : 2;
    if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at++;
  }
  return length;
}

/** Code points of `text` from `start` to `end`. */
export function codePoints(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at++) {
    if (isHighSurrogate(text.charCodeAt(at)) && at + 1 < end && isLowSurrogate(text.charCodeAt(at + 1))) at++;
    count++;
  }
  return count;
}

/** The text with U+FFFD where bytes are not UTF-8. */
export function lossyText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The text before the first byte that is not UTF-8; everything but an unfinished last character if there is none. */
export function wellFormedStart(bytes: Uint8Array): string {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (startOf(bytes, middle) === undefined) bad = middle;
    else good = middle;
  }
  return startOf(bytes, good) ?? '';
}

function startOf(bytes: Uint8Array, length: number): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length), { stream: true });
  } catch {
    return undefined; // The first `length` bytes hold one that is not UTF-8.
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
