/** What the grammar reads character by character: blanks, words, quoted texts, and what a form can begin with. */

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const BACKSLASH = 0x5c;

/** Forms of the grammar by the characters they can begin with: a bit for each in `formsOf`. */
export const forms = {
  word: 1,
  digit: 2,
  quote: 4,
  prefix: 8,
  conditional: 16,
  operator: 32,
  operation: 64,
  postfix: 128,
  order: 256,
} as const;
export type Form = (typeof forms)[keyof typeof forms];

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const beginnings: Readonly<Record<keyof typeof forms, string>> = {
  word: `${LETTERS}_\``,
  digit: '0123456789',
  quote: '"\'',
  prefix: '-~!n',
  conditional: 'i',
  operator: '.\x01',
  operation: '-+*/%<>=!&|^?.aoin',
  postfix: '([.?',
  order: 'ad',
};

/** By the code of a character. */
const formsOf = new Uint16Array(128);
for (const form of Object.keys(forms) as (keyof typeof forms)[]) {
  for (const char of beginnings[form]) formsOf[char.charCodeAt(0)] = (formsOf[char.charCodeAt(0)] as number) | forms[form];
}

const isWordCode = Uint8Array.from({ length: 128 }, (_, code) => (/\w/.test(String.fromCharCode(code)) ? 1 : 0));

/** Whether a form can begin with the character that stands here. */
export function begins(form: Form, text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && ((formsOf[code] as number) & form) !== 0;
}

export function isWordCharacter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && isWordCode[code] === 1;
}

/** Where the letters, digits and underscores end that begin here. */
export function wordEnd(text: string, at: number): number {
  let end = at;
  while (isWordCharacter(text, end)) end++;
  return end;
}

/** Where the blanks end that begin here; `inLine`: a line end is none. */
export function blanksEnd(text: string, at: number, inLine = false): number {
  for (let end = at; ; end++) {
    const code = text.charCodeAt(end);
    if (code !== BLANK && code !== TAB && code !== RETURN && (code !== NEWLINE || inLine)) return end;
  }
}

/**
 * Where the text of a string ends that begins here, before its closing quote or before what it cannot hold. In `"` a backslash
 * goes with the character behind it, in `'` a doubled quote is one.
 */
export function quotedEnd(text: string, at: number, quote: '"' | "'"): number {
  const closing = quote.charCodeAt(0);
  const pairing = quote === '"' ? BACKSLASH : closing;
  for (let end = at; ; end++) {
    const code = text.charCodeAt(end);
    if (code === pairing && isPair(text, end, quote)) end++;
    else if (code === closing || code === pairing || code === NEWLINE || end >= text.length) return end;
  }
}

function isPair(text: string, at: number, quote: '"' | "'"): boolean {
  const next = text.charCodeAt(at + 1);
  return quote === '"' ? at + 1 < text.length && next !== NEWLINE : next === text.charCodeAt(at);
}
