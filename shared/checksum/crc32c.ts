/** Castagnoli's polynomial, reflected (RFC 3720, appendix B.4). */
const POLYNOMIAL = 0x82f63b78;

/** Eight tables, so that eight bytes are taken at a time ("slicing by 8"). */
const tables: readonly Int32Array[] = makeTables();

function makeTables(): Int32Array[] {
  const made = Array.from({ length: 8 }, () => new Int32Array(256));
  const first = made[0] as Int32Array;
  for (let byte = 0; byte < 256; byte++) {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
    first[byte] = sum;
  }
  for (let table = 1; table < 8; table++) {
    const before = made[table - 1] as Int32Array;
    for (let byte = 0; byte < 256; byte++) {
      const sum = before[byte] as number;
      (made[table] as Int32Array)[byte] = (sum >>> 8) ^ (first[sum & 255] as number);
    }
  }
  return made;
}

const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** CRC-32C of the bytes, or of them behind others whose sum is `before`; an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  let sum = ~before;
  const whole = bytes.length - (bytes.length % 8);
  let at = 0;
  for (; at < whole; at += 8) {
    const low = sum ^ (byte(bytes, at) | (byte(bytes, at + 1) << 8) | (byte(bytes, at + 2) << 16) | (byte(bytes, at + 3) << 24));
    sum =
      entry(t7, low & 255) ^
      entry(t6, (low >>> 8) & 255) ^
      entry(t5, (low >>> 16) & 255) ^
      entry(t4, low >>> 24) ^
      entry(t3, byte(bytes, at + 4)) ^
      entry(t2, byte(bytes, at + 5)) ^
      entry(t1, byte(bytes, at + 6)) ^
      entry(t0, byte(bytes, at + 7));
  }
  for (; at < bytes.length; at++) sum = (sum >>> 8) ^ entry(t0, (sum ^ byte(bytes, at)) & 255);
  return ~sum >>> 0;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] as number;
}

function entry(table: Int32Array, index: number): number {
  return table[index] as number;
}
