/**
 * Texts one behind another in UTF-8. Nothing is made of them in between: large texts that live shortly are what the collector of garbage
 * works for. `ends`: takes where each of them ends.
 */
export function joinedTexts(texts: readonly string[], ends?: number[]): Buffer {
  let length = 0;
  for (const text of texts) length += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    ends?.push(at);
  }
  return bytes;
}
