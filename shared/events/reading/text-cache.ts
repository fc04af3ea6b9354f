const SLOTS = 4096;
const LENGTH_MAX = 32;
/** V8 copies shorter slices; a longer one keeps the whole text that it was cut from alive. */
const COPIED_SLICE_LENGTH_MAX = 12;

/** The hash of an empty text, and that of a text with one more unit, for callers that read the text anyway. */
export const EMPTY_HASH = 0;
export function hashWith(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, 0x01000193);
}

/**
 * Turns pieces of a large text into strings of their own: short ones that come again (field names, types, symbols) are
 * made once, and none keeps the large text in memory, so one string held in a window does not hold a block of the file.
 */
export class TextCache {
  private readonly entries: string[] = new Array<string>(SLOTS).fill('');

  /** `hash` is that of the piece, by `hashWith`. */
  get(text: string, start: number, end: number, hash: number): string {
    const length = end - start;
    if (length > LENGTH_MAX) return copyOf(text, start, end);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const entry = this.entries[slot] as string;
    if (entry.length === length && isAt(text, start, entry)) return entry;
    const fresh = copyOf(text, start, end);
    this.entries[slot] = fresh;
    return fresh;
  }
}

function isAt(text: string, start: number, entry: string): boolean {
  for (let index = 0; index < entry.length; index++) {
    if (text.charCodeAt(start + index) !== entry.charCodeAt(index)) return false;
  }
  return true;
}

/** A piece as a flat string of its own; slicing alone would not make one. */
export function copyOf(text: string, start: number, end: number): string {
  if (end - start <= COPIED_SLICE_LENGTH_MAX) return text.slice(start, end);
  return [text.slice(start, start + 1), text.slice(start + 1, end)].join('');
}
