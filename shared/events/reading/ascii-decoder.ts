/** Makes strings of ASCII bytes; the readers ask again and again for parts of the same ones. */
export function asciiDecoder(): (bytes: Uint8Array, start: number, end: number) => string {
  let known = new Uint8Array();
  let buffer = Buffer.from(known);
  return (bytes, start, end) => {
    if (bytes !== known) {
      known = bytes as typeof known;
      buffer = Buffer.from(known.buffer, known.byteOffset, known.length);
    }
    return buffer.toString('latin1', start, end);
  };
}
