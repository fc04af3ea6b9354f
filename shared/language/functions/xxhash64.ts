/**
 * XXH64 with seed 0 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md). A 64-bit word is two halves of 32 bits, since
 * BigInt would allocate for every step of every byte.
 */

/** One 64-bit word that the steps of the hash change in place. */
class Word {
  high: number;
  low: number;

  constructor(high = 0, low = 0) {
    this.high = high >>> 0;
    this.low = low >>> 0;
  }

  add(other: Word): this {
    const low = this.low + other.low;
    this.high = (this.high + other.high + (low > 0xffff_ffff ? 1 : 0)) >>> 0;
    this.low = low >>> 0;
    return this;
  }

  xor(other: Word): this {
    this.high = (this.high ^ other.high) >>> 0;
    this.low = (this.low ^ other.low) >>> 0;
    return this;
  }

  /** By schoolbook multiplication of 16-bit digits; the products fit into doubles. */
  multiply(other: Word): this {
    const a0 = this.low & 0xffff;
    const a1 = this.low >>> 16;
    const b0 = other.low & 0xffff;
    const b1 = other.low >>> 16;
    const lowest = a0 * b0;
    const middle = a0 * b1 + a1 * b0 + Math.floor(lowest / 0x1_0000);
    const carried = a1 * b1 + Math.floor(middle / 0x1_0000);
    const crossed = Math.imul(this.high, other.low) + Math.imul(this.low, other.high);
    this.high = (carried + crossed) >>> 0;
    this.low = (((middle & 0xffff) << 16) | (lowest & 0xffff)) >>> 0;
    return this;
  }

  /** By 1 to 31 bits. */
  rotateLeft(bits: number): this {
    const { high, low } = this;
    this.high = ((high << bits) | (low >>> (32 - bits))) >>> 0;
    this.low = ((low << bits) | (high >>> (32 - bits))) >>> 0;
    return this;
  }

  /** The word xor itself shifted right by 1 to 63 bits. */
  foldRight(bits: number): this {
    const low = bits < 32 ? (this.low >>> bits) | (this.high << (32 - bits)) : this.high >>> (bits - 32);
    if (bits < 32) this.high = (this.high ^ (this.high >>> bits)) >>> 0;
    this.low = (this.low ^ low) >>> 0;
    return this;
  }

  get hex(): string {
    return this.high.toString(16).padStart(8, '0') + this.low.toString(16).padStart(8, '0');
  }
}

const PRIME_1 = new Word(0x9e3779b1, 0x85ebca87);
const PRIME_2 = new Word(0xc2b2ae3d, 0x27d4eb4f);
const PRIME_3 = new Word(0x165667b1, 0x9e3779f9);
const PRIME_4 = new Word(0x85ebca77, 0xc2b2ae63);
const PRIME_5 = new Word(0x27d4eb2f, 0x165667c5);
const MINUS_PRIME_1 = new Word(0x61c8864e, 0x7a143579);

const encoder = new TextEncoder();

/** The 64-bit xxHash of the UTF-8 of a text, as 16 hex digits. */
export function xxHash64(text: string): string {
  const bytes = encoder.encode(text);
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stripesEnd = data.byteLength - (data.byteLength % 32);
  const word = stripesEnd > 0 ? hashStripes(data, stripesEnd) : new Word().add(PRIME_5);
  word.add(new Word(0, data.byteLength));
  hashTail(word, data, stripesEnd);
  return word.foldRight(33).multiply(PRIME_2).foldRight(29).multiply(PRIME_3).foldRight(32).hex;
}

/** Everything in whole stripes of 32 bytes, in four lanes. */
function hashStripes(data: DataView, end: number): Word {
  const first = new Word().add(PRIME_1).add(PRIME_2);
  const second = new Word().add(PRIME_2);
  const third = new Word();
  const fourth = new Word().add(MINUS_PRIME_1);
  const input = new Word();
  for (let at = 0; at < end; at += 32) {
    round(first, readWord(data, at, input));
    round(second, readWord(data, at + 8, input));
    round(third, readWord(data, at + 16, input));
    round(fourth, readWord(data, at + 24, input));
  }
  const hash = copyOf(first).rotateLeft(1).add(copyOf(second).rotateLeft(7));
  hash.add(copyOf(third).rotateLeft(12)).add(copyOf(fourth).rotateLeft(18));
  for (const lane of [first, second, third, fourth]) hash.xor(round(new Word(), lane)).multiply(PRIME_1).add(PRIME_4);
  return hash;
}

/** What is left behind the stripes: words of eight bytes, one of four, single bytes. */
function hashTail(hash: Word, data: DataView, from: number): void {
  let at = from;
  for (; at + 8 <= data.byteLength; at += 8) {
    hash
      .xor(round(new Word(), readWord(data, at, new Word())))
      .rotateLeft(27)
      .multiply(PRIME_1)
      .add(PRIME_4);
  }
  if (at + 4 <= data.byteLength) {
    hash
      .xor(new Word(0, data.getUint32(at, true)).multiply(PRIME_1))
      .rotateLeft(23)
      .multiply(PRIME_2)
      .add(PRIME_3);
    at += 4;
  }
  for (; at < data.byteLength; at++)
    hash
      .xor(new Word(0, data.getUint8(at)).multiply(PRIME_5))
      .rotateLeft(11)
      .multiply(PRIME_1);
}

function copyOf(word: Word): Word {
  return new Word(word.high, word.low);
}

function readWord(data: DataView, at: number, into: Word): Word {
  into.low = data.getUint32(at, true);
  into.high = data.getUint32(at + 4, true);
  return into;
}

/** Stirs an input word into a lane; the input is used up. */
function round(lane: Word, input: Word): Word {
  return lane.add(input.multiply(PRIME_2)).rotateLeft(31).multiply(PRIME_1);
}
