const encoder = new TextEncoder();

/** The bytes of a fixed piece of text, in UTF-8. */
export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Prints the test whether a fixed text stands at `p0`. Of the text only numbers are printed: four bytes are compared at a
 * time, little-endian, the last four overlapping those before. Nothing is read that lies four bytes behind the first
 * difference, so at the end of a line it is enough that three more bytes can be read.
 */
export function printMatch(text: string): string {
  const bytes = bytesOf(text);
  return bytes.length < 4 ? singleBytes(bytes).join('&&') : words(bytes).join('&&');
}

function singleBytes(bytes: Uint8Array): string[] {
  return Array.from(bytes, (byte, at) => `b0[p0+${at}]===${byte}`);
}

function words(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const starts = Array.from({ length: bytes.length >> 2 }, (_, index) => index * 4);
  if (bytes.length % 4 !== 0) starts.push(bytes.length - 4);
  return starts.map((at) => `w0.getInt32(p0+${at},true)===${view.getInt32(at, true)}`);
}
