import { firstBytes } from './text-scan.ts';

const SLOTS_MIN = 64;
const SLOTS_MAX = 16_384;
/** So many times its slots are taken over by other texts before there are twice as many. */
const TURNOVER = 4;
/** The words of a text, its length, and its place in the table. */
const SLOT_WORDS = 4;
/** No text fills a word like this. */
const NO_TEXT = -1;
const LENGTH_MAX = 7;
const WORD_BYTES = 4;
const MULTIPLIER = -0x61c8864f;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;
const SPACES = 0x20202020;
const ONES = 0x01010101;
const HIGH_BITS = -0x7f7f7f80;

/**
 * Where a table keeps those short texts of one field that come again and again: found by the two words that a text of at most
 * seven plain bytes fills, little-endian with zeros behind it, which no other text does. It is looked into by generated code
 * (`printFound`), for which a call is dear.
 */
export class RecentTexts {
  slots = newSlots(0);
  /** Of a hash so many bits are left out. */
  shift = 32;
  private taken = 0;

  /** Sets both a second time: V8 takes a field that was set once for a constant, and gives up a reader that it compiles when that changes. */
  constructor() {
    this.shift -= Math.log2(SLOTS_MIN);
    this.clear();
  }

  /**
   * The text at `start` stands at this place of the table. `known`: how many texts the field has had. There is room for all of them from
   * the first that comes again: else none is found here before V8 has compiled the reader, which it throws away when one is.
   */
  put(words: DataView, start: number, length: number, place: number, known: number): void {
    if (length > LENGTH_MAX) return;
    if (known * SLOT_WORDS > this.slots.length && this.slots.length < SLOTS_MAX * SLOT_WORDS) {
      this.shift = Math.max(Math.clz32(known - 1), 32 - Math.log2(SLOTS_MAX));
      this.clear();
    }
    if (++this.taken > this.slots.length * (TURNOVER / SLOT_WORDS) && this.slots.length < SLOTS_MAX * SLOT_WORDS) {
      this.shift--;
      this.clear();
    }
    const isLong = length >= WORD_BYTES;
    const first = isLong ? words.getInt32(start, true) : firstBytes(words.getInt32(start, true), length);
    const second = isLong ? firstBytes(words.getInt32(start + WORD_BYTES, true), length - WORD_BYTES) : 0;
    const hash = Math.imul(Math.imul(first, MULTIPLIER) ^ second, MULTIPLIER);
    const at = (hash >>> this.shift) * SLOT_WORDS;
    const { slots } = this;
    slots[at] = first;
    slots[at + 1] = second;
    slots[at + 2] = length;
    slots[at + 3] = place;
  }

  clear(): void {
    this.slots = newSlots(2 ** (32 - this.shift));
    this.taken = 0;
  }
}

/**
 * Prints the search for the text at `p0` among the recent ones of `recent`: statements that end with `if(..)`, for when it is
 * found. Then `h2` is the length of the text and `h3` its place in the table.
 */
export function printFound(recent: string): string {
  const second = `h1=w0.getInt32(p0+${WORD_BYTES},true);${printPlain('h1')}`;
  const words = `let h0=w0.getInt32(p0,true);let y0=0;let h1=0;${printPlain('h0')}if(y0===0){${second}}`;
  const slot = `const t0=(imul(imul(h0,${MULTIPLIER})^h1,${MULTIPLIER})>>>${recent}.shift)*${SLOT_WORDS};`;
  const found = `const r0=${recent}.slots;const h2=r0[t0+2];const h3=r0[t0+3];`;
  return `${words}${slot}${found}if(r0[t0]===h0&&r0[t0+1]===h1&&b0[p0+h2]===34)`;
}

/** `special` of a word in `y0`, and `bytesBefore` of it in the word: printed, since a call would use up what may be inlined. */
function printPlain(word: string): string {
  const [quotes, backslashes] = [QUOTES, BACKSLASHES].map((four) => `(${word}^${four})-${ONES}`);
  return `y0=(${quotes}|${backslashes}|(${word}-${SPACES})|${word})&${HIGH_BITS};${word}=${word}&((y0&-y0)>>>7)-1;`;
}

function newSlots(count: number): Int32Array {
  return new Int32Array(count * SLOT_WORDS).fill(NO_TEXT);
}
