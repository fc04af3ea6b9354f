/**
 * A number as a result of the language: what is not finite is null (`sqrt(-1)`, overflow, division by zero), and zero has
 * no sign.
 */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value + 0 : null;
}

/**
 * Rounds half away from zero to so many decimal places, which may be negative. It rounds the decimal number that the
 * value prints as, so `round(1.005, 2)` is 1.01 although the double nearest to 1.005 lies below it.
 */
export function roundHalfAway(value: number, places: number): number {
  if (places === 0) return value < 0 ? -Math.round(-value) + 0 : Math.round(value);
  const unit = 10 ** places;
  const scaled = value * unit;
  if (places > 0 && Math.abs(scaled) < 2 ** 33 && Math.abs(scaled - Math.floor(scaled) - 0.5) > 1e-5) return Math.round(scaled) / unit + 0;
  return roundDecimal(value, places);
}

/** On the digits themselves: for what lies near a half, where a product would already be rounded, and for large numbers. */
function roundDecimal(value: number, places: number): number {
  const [mantissa = '', exponent = ''] = Math.abs(value).toExponential().split('e');
  const digits = mantissa.replace('.', '');
  const kept = Number(exponent) + 1 + places;
  if (kept >= digits.length) return value;
  if (kept < 0) return 0;
  const head = BigInt(digits.slice(0, kept)) + (digits.charAt(kept) >= '5' ? 1n : 0n);
  return Number(`${value < 0 ? '-' : ''}${head}e${-places}`) + 0;
}
