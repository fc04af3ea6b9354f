/**
 * Prints statements that move the name `at` over digits, four at a time, and add them to the number in `value`, which they may
 * make larger than a double holds exactly. `powers`: name of the powers of ten. Three bytes behind the digits are looked at.
 */
export function printDigits(value: string, at: string, powers: string): string {
  const four = `while((z0=noDigits(y0=w0.getInt32(${at},true)))===0){${value}=${value}*10000+fourDigits(y0);${at}+=4;}`;
  const rest = `const n0=plainBytes(z0);${value}=${value}*${powers}[n0]+fewDigits(y0,n0);${at}+=n0;`;
  return `let y0=0;let z0=0;${four}${rest}`;
}

/** The same for digits of which nothing is wanted. */
export function printSkippedDigits(at: string): string {
  return `let z0=0;while((z0=noDigits(w0.getInt32(${at},true)))===0)${at}+=4;${at}+=plainBytes(z0);`;
}
