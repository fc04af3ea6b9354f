const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Only what has so many digits, or such an exponent, can be more than a number holds. */
const LARGE = /\d{16}|\d[eE][+]?\d{3}/;

/**
 * What a JSON text holds. A whole number beyond 2^53-1 stays the text that it is, as one that is too large for a float: as a number it would be another,
 * and what is looked up is often an id. @throws SyntaxError
 */
export function exactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return LARGE.test(text) ? JSON.parse(text.replace(TEXT_OR_NUMBER, exactToken)) : value;
}

function exactToken(token: string): string {
  if (token.startsWith('"')) return token;
  const number = Number(token);
  const isHeld = /[.eE]/.test(token) ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isHeld ? token : `"${token}"`;
}

/** The number that a column of exact numbers holds; a text where its whole digits are more than a number holds. */
export function exactNumber(text: string): number | string {
  const number = Number(text);
  return Math.abs(number) > Number.MAX_SAFE_INTEGER && /\d/.test(text) ? text : number;
}
