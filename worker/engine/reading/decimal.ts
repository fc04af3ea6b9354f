/** Digits that one accumulator takes, so that it stays a small integer. */
const PART_DIGITS = 9;
const EXPONENT_MAX = 22;
const POINT = 46;
const ZERO = 48;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** Splits a double into two halves of 26 bits (Veltkamp). */
const SPLITTER = 134_217_729;
/** Above all relative errors of the correction together, which are a few units of 2^-53. */
const DOUBT = 2 ** -49;

/** The powers of ten that a double holds exactly. */
export const powersOfTen = Float64Array.from({ length: EXPONENT_MAX + 1 }, (_, exponent) => 10 ** exponent);
const highHalves = powersOfTen.map(highHalf);
const lowHalves = powersOfTen.map((power, exponent) => power - (highHalves[exponent] as number));

/**
 * The double nearest to a decimal number, as `Number(text)` gives it: ASCII digits from `start` to `end` with a point at
 * `point`. NaN when this way is not sure: more than 18 digits that count, more than 22 behind the point, or a number so
 * near the middle between two doubles that only exact arithmetic can tell.
 *
 * The digits are an exact sum of two doubles. Its quotient by the (exact) power of ten is corrected by its own exact
 * remainder, and the result counts only if the doubt that is left cannot change how it rounds (Dekker 1971; Ziv 1991).
 */
export function decimal(bytes: Uint8Array, start: number, point: number, end: number): number {
  const exponent = end - point - 1;
  if (exponent > EXPONENT_MAX) return Number.NaN;
  let at = start;
  while (at < end && (bytes[at] as number) <= ZERO) at++; // leading zeros and the point among them
  let [first, second, secondDigits] = [0, 0, 0];
  for (let count = 0; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === POINT) continue;
    if (count < PART_DIGITS) first = first * 10 + (byte - ZERO);
    else second = second * 10 + (byte - ZERO);
    if (++count > PART_DIGITS) secondDigits++;
  }
  return secondDigits > PART_DIGITS ? Number.NaN : scaled(first, second, secondDigits, exponent);
}

/** `(first * 10^digits + second) / 10^exponent`, where the parts have at most nine digits. */
function scaled(first: number, second: number, digits: number, exponent: number): number {
  const shift = powersOfTen[digits] as number;
  const upper = (first >> 15) * shift * 32_768;
  const lower = (first & 32_767) * shift + second;
  const sum = upper + lower;
  if (sum <= SAFE_MAX) return sum / (powersOfTen[exponent] as number);
  return corrected(sum, lower - (sum - upper), exponent);
}

/** `(sum + rest) / 10^exponent`, where `rest` is what `sum` lost when it was rounded. */
function corrected(sum: number, rest: number, exponent: number): number {
  const divisor = powersOfTen[exponent] as number;
  const quotient = sum / divisor;
  const correction = (remainder(sum, quotient, exponent) + rest) / divisor;
  const result = quotient + correction;
  const error = correction - (result - quotient);
  const doubt = Math.abs(correction) * DOUBT;
  return result + (error + doubt) === result && result + (error - doubt) === result ? result : Number.NaN;
}

/** `dividend - quotient * 10^exponent`, which is exact (Dekker's product). */
function remainder(dividend: number, quotient: number, exponent: number): number {
  const [high, powerHigh, powerLow] = [highHalf(quotient), highHalves[exponent] as number, lowHalves[exponent] as number];
  const low = quotient - high;
  const product = quotient * (powersOfTen[exponent] as number);
  const lost = high * powerHigh - product + high * powerLow + low * powerHigh + low * powerLow;
  return dividend - product - lost;
}

function highHalf(value: number): number {
  const shifted = value * SPLITTER;
  return shifted - (shifted - value);
}
