const slabBytes = 65_536;
/** What is longer has memory of its own. */
const pieceBytesMax = 4_096;

let slab = new ArrayBuffer(slabBytes);
let used = 0;

/**
 * Zeros that were never used before. Small ones share one piece of memory: a record, a packet and an entry each need some, and memory of
 * its own for each of them costs more than what is done with it. So what this gives is not to be transferred to another thread.
 */
export function allocate(length: number): Uint8Array {
  if (length > pieceBytesMax) return new Uint8Array(length);
  if (used + length > slabBytes) {
    slab = new ArrayBuffer(slabBytes);
    used = 0;
  }
  const bytes = new Uint8Array(slab, used, length);
  used += length;
  return bytes;
}
