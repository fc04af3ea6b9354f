import type { LineDiagnostic, UnreadableLine } from './read-result.ts';
import { codePoints } from './utf8.ts';

const WIDTH_MAX = 160;
/** Of a long line, how much stands before the position. */
const WIDTH_BEFORE = 80;

export interface LineFailure {
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
  /** The text of the line. */
  readonly text: string;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function unreadable({ line, column, text, message, hint }: LineFailure): UnreadableLine {
  const { excerpt, excerptColumn } = excerptAround(text, column);
  const diagnostic: LineDiagnostic = { line, column, message, excerpt, excerptColumn, ...(hint === undefined ? {} : { hint }) };
  return { kind: 'unreadable', diagnostic };
}

/** The 1-based column, in code points, of a UTF-16 offset in the line that begins at `start`. */
export function columnAt(text: string, start: number, offset: number): number {
  return codePoints(text, start, offset) + 1;
}

function excerptAround(text: string, column: number): { readonly excerpt: string; readonly excerptColumn: number } {
  const skipped = Math.max(0, column - 1 - WIDTH_BEFORE);
  if (text.length <= WIDTH_MAX) return { excerpt: visible(text), excerptColumn: column };
  const left = skipped > 0 ? '…' : '';
  const characters = pieceOf(text, skipped, WIDTH_MAX + 1);
  const right = characters.length > WIDTH_MAX ? '…' : '';
  return {
    excerpt: left + visible(characters.slice(0, WIDTH_MAX).join('')) + right,
    excerptColumn: column - skipped + left.length,
  };
}

/** Up to `count` code points behind the first `skipped` ones. */
function pieceOf(text: string, skipped: number, count: number): string[] {
  const piece: string[] = [];
  let index = 0;
  for (const character of text) {
    if (index++ < skipped) continue;
    piece.push(character);
    if (piece.length === count) break;
  }
  return piece;
}

/** One character for each, so that columns stay: a tab becomes a blank, other control characters their picture. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code === 9) return ' ';
    if (code < 32) return String.fromCharCode(0x2400 + code);
    return code === 127 ? '\u2421' : '\ufffd';
  });
}
