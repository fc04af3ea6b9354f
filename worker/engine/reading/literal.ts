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
  return literalOf(bytes).map(({ at, word }) => `w0.getInt32(p0+${at},true)===${word}`);
}

/** A fixed text of at least four bytes as words: where in it they begin, and what they are. */
export type Literal = readonly { readonly at: number; readonly word: number }[];

export function literal(text: string): Literal {
  return literalOf(bytesOf(text));
}

function literalOf(bytes: Uint8Array): Literal {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const starts = Array.from({ length: bytes.length >> 2 }, (_, index) => index * 4);
  if (bytes.length % 4 !== 0) starts.push(bytes.length - 4);
  return starts.map((at) => ({ at, word: view.getInt32(at, true) }));
}

/** The test that `printMatch` prints, as a function. */
export function matches(words: DataView, start: number, text: Literal): boolean {
  for (const { at, word } of text) if (words.getInt32(start + at, true) !== word) return false;
  return true;
}
