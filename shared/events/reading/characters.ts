/** UTF-16 units that mean something in event files. */
export const TAB = 9;
export const LINE_FEED = 10;
export const CARRIAGE_RETURN = 13;
export const BLANK = 32;
export const QUOTE = 34;
export const HASH = 35;
export const APOSTROPHE = 39;
export const PARENTHESIS_OPEN = 40;
export const PARENTHESIS_CLOSE = 41;
export const PLUS = 43;
export const COMMA = 44;
export const MINUS = 45;
export const POINT = 46;
export const SLASH = 47;
export const ZERO = 48;
const NINE = 57;
export const COLON = 58;
export const SEMICOLON = 59;
export const AT = 64;
export const UPPER_E = 69;
export const BRACKET_OPEN = 91;
export const BACKSLASH = 92;
export const BRACKET_CLOSE = 93;
export const BACKTICK = 96;
export const LOWER_E = 101;
export const BRACE_OPEN = 123;
export const BRACE_CLOSE = 125;
export const BYTE_ORDER_MARK = 0xfeff;
/** What a cursor at the end of a line sees. */
export const END = -1;

export function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

export function isBlank(code: number): boolean {
  return code === BLANK || code === TAB || code === CARRIAGE_RETURN || code === LINE_FEED;
}
