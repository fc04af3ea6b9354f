const SURROGATE = /[\ud800-\udfff]/;

/** How many code points a string has. Half of a surrogate pair that stands alone is one. */
export function codePointCount(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (let index = 0; index < text.length; index += widthAt(text, index)) count++;
  return count;
}

/** The code points from `start` up to `end`, both within 0 and the number of code points. */
export function codePointSlice(text: string, start: number, end: number): string {
  if (!SURROGATE.test(text)) return text.slice(start, end);
  const from = unitIndex(text, 0, start);
  return text.slice(from, unitIndex(text, from, Math.max(0, end - start)));
}

/** Every code point as a string of its own. */
export function codePointsOf(text: string): string[] {
  return [...text];
}

function unitIndex(text: string, from: number, points: number): number {
  let index = from;
  for (let left = points; left > 0 && index < text.length; left--) index += widthAt(text, index);
  return index;
}

function widthAt(text: string, index: number): 1 | 2 {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}
