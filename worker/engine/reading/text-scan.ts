/*
 * What is done for every word of a line: constants stand where they are used, as signed numbers, so that compiled code has them as
 * such. 0x01010101 is one byte repeated, -0x7f7f7f80 has the high bit of each byte set.
 */

/**
 * Of four bytes of text (little-endian) those that are not plain: a quote, a backslash, a control character, or not ASCII.
 * The lowest bit that is set stands in the first of them; 0 when all four are plain.
 */
export function special(word: number): number {
  const quotes = (word ^ 0x22222222) - 0x01010101;
  const backslashes = (word ^ 0x5c5c5c5c) - 0x01010101;
  return (quotes | backslashes | (word - 0x20202020) | word) & -0x7f7f7f80;
}

/** Of four bytes (little-endian) those that are no digits, marked as `special` marks bytes. */
export function noDigits(word: number): number {
  const digits = word ^ 0x30303030;
  return (digits | (digits + 0x76767676)) & -0x7f7f7f80;
}

/** The number that four digits spell: first of pairs of them, then of both pairs. */
export function fourDigits(word: number): number {
  const digits = word & 0x0f0f0f0f;
  const pairs = Math.imul(digits, 10) + (digits >>> 8);
  return Math.imul(pairs & 0xff, 100) + ((pairs >>> 16) & 0xff);
}

/** The number that the first so many digits of a word spell, 0 to 3: those behind zeros. */
export function fewDigits(word: number, count: number): number {
  return fourDigits((word << 8) << ((3 - count) << 3));
}

/** Bytes in front of the first one that is marked, 0 to 3. */
export function plainBytes(marked: number): number {
  return (31 - Math.clz32(marked & -marked)) >>> 3;
}

/** A word with zeros in place of the first byte that is marked, and of all behind it. */
export function bytesBefore(marked: number, word: number): number {
  return word & (((marked & -marked) >>> 7) - 1);
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
