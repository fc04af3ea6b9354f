const SURROGATE = /[\ud800-\udfff]/;
/** Shorter texts are walked through each time. */
const LONG_UNITS = 256;
/** Of a long text the place of every code point of so many is kept. */
const STEP = 64;
const KEPT_TEXTS = 4;

interface LongText {
  readonly text: string;
  readonly count: number;
  /** Where code points 0, STEP, 2 * STEP, .. begin. Undefined: each is one unit. */
  readonly places: Uint32Array | undefined;
}

/** The long texts asked about last: a loop over one asks for each of its code points, and would walk to it from the beginning each time. */
const recent: LongText[] = [];
let replaced = 0;

/** How many code points a string has. Half of a surrogate pair that stands alone is one. */
export function codePointCount(text: string): number {
  if (text.length >= LONG_UNITS) return longText(text).count;
  return SURROGATE.test(text) ? countOf(text) : text.length;
}

/** The code points from `start` up to `end`, both within 0 and the number of code points. */
export function codePointSlice(text: string, start: number, end: number): string {
  const points = Math.max(0, end - start);
  if (text.length >= LONG_UNITS) {
    const long = longText(text);
    return text.slice(unitIndexIn(long, start), unitIndexIn(long, start + points));
  }
  if (!SURROGATE.test(text)) return text.slice(start, end);
  const from = unitIndex(text, 0, start);
  return text.slice(from, unitIndex(text, from, points));
}

/** Every code point as a string of its own. */
export function codePointsOf(text: string): string[] {
  return [...text];
}

function longText(text: string): LongText {
  const known = recent.find((one) => one.text === text);
  if (known !== undefined) return known;
  const found = { text, ...placesOf(text) };
  recent[replaced] = found;
  replaced = (replaced + 1) % KEPT_TEXTS;
  return found;
}

function placesOf(text: string): Omit<LongText, 'text'> {
  if (!SURROGATE.test(text)) return { count: text.length, places: undefined };
  const places = new Uint32Array(Math.ceil(text.length / STEP));
  let count = 0;
  for (let index = 0; index < text.length; index += widthAt(text, index)) {
    if (count % STEP === 0) places[count / STEP] = index;
    count++;
  }
  return { count, places };
}

function unitIndexIn({ text, count, places }: LongText, point: number): number {
  if (places === undefined) return point;
  if (point >= count) return text.length;
  return unitIndex(text, places[Math.floor(point / STEP)] ?? 0, point % STEP);
}

function countOf(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += widthAt(text, index)) count++;
  return count;
}

function unitIndex(text: string, from: number, points: number): number {
  let index = from;
  for (let left = points; left > 0 && index < text.length; left--) index += widthAt(text, index);
  return index;
}

function widthAt(text: string, index: number): 1 | 2 {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}
