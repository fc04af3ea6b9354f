/** Masks with one byte repeated. */
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const BLANKS = 0x20202020;
const ONES = 0x01010101;
const HIGH_BITS = 0x80808080;

/**
 * Of four bytes of text (little-endian) those that are not plain: a quote, a backslash, a control character, or not ASCII.
 * The lowest bit that is set stands in the first of them; 0 when all four are plain.
 */
export function special(word: number): number {
  return (((word ^ QUOTES) - ONES) | ((word ^ BACKSLASHES) - ONES) | (word - BLANKS) | word) & HIGH_BITS;
}

/** Plain bytes in front of the first one that is not, 0 to 3. */
export function plainBytes(specials: number): number {
  return (31 - Math.clz32(specials & -specials)) >>> 3;
}

/** The first so many bytes of a word, 0 to 3. */
export function firstBytes(word: number, count: number): number {
  return count === 0 ? 0 : word & (0xffffff >>> ((3 - count) << 3));
}

const QUOTE = 34;

/** Behind the quote that ends the plain text at `at`; 0 when something else than plain text comes first. */
export function skipText(bytes: Uint8Array, words: DataView, at: number): number {
  let end = at;
  let specials = special(words.getInt32(end, true));
  while (specials === 0) {
    end += 4;
    specials = special(words.getInt32(end, true));
  }
  end += plainBytes(specials);
  return bytes[end] === QUOTE ? end + 1 : 0;
}
