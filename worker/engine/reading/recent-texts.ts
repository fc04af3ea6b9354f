const SLOTS_MIN = 64;
const SLOTS_MAX = 4_096;
/** So many times its slots are taken over by other texts before there are twice as many. */
const TURNOVER = 4;
/** The words of a text, its length, and its place in the table. */
const SLOT_WORDS = 4;
/** No text fills a word like this. */
const NO_TEXT = -1;

/**
 * Where a table keeps those short texts of one field that come again and again: found by the two words that a text of at most
 * seven plain bytes fills, little-endian with zeros behind it, which no other text does.
 */
export class RecentTexts {
  slots = newSlots(SLOTS_MIN);
  private shift = 32 - Math.log2(SLOTS_MIN);
  private taken = 0;

  /** Where in `slots` the text with these words stands, if it is known: the words, its length, its place. */
  slotOf(first: number, second: number): number {
    return (Math.imul(Math.imul(first, -0x61c8864f) ^ second, -0x61c8864f) >>> this.shift) << 2;
  }

  put(first: number, second: number, length: number, place: number): void {
    if (++this.taken > this.slots.length * (TURNOVER / SLOT_WORDS) && this.slots.length < SLOTS_MAX * SLOT_WORDS) {
      this.shift--;
      this.clear();
    }
    this.slots.set([first, second, length, place], this.slotOf(first, second));
  }

  clear(): void {
    this.slots = newSlots(2 ** (32 - this.shift));
    this.taken = 0;
  }
}

function newSlots(count: number): Int32Array {
  return new Int32Array(count * SLOT_WORDS).fill(NO_TEXT);
}
