/** Only with so many digits in a row can a number be beyond 2^53-1. */
const manyDigits = /\d{16}/;
const stringsAndNumbers = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON of what an engine made, with a point in whole numbers beyond 2^53-1: without one they would read back as ints, which end there. */
export function withPoints(json: string): string {
  if (!manyDigits.test(json)) return json;
  return json.replace(stringsAndNumbers, (text) => (/^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text)) ? `${text}.0` : text));
}
