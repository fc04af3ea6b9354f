import * as is from '../../../shared/events/reading/characters.ts';

/** A field's name as it stands in a line, and whether a quote opens the value behind it. */
export interface Key {
  readonly bytes: Uint8Array;
  readonly isQuoted: boolean;
}

/** The first byte from `at` that is no blank; a line feed is none, it ends the line. */
export function behindBlanks(bytes: Uint8Array, at: number): number {
  let next = at;
  while (bytes[next] === is.BLANK || bytes[next] === is.TAB || bytes[next] === is.CARRIAGE_RETURN) next++;
  return next;
}

export function standsAt(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[at + index] !== text[index]) return false;
  return true;
}

/**
 * Moves over `mark`, a field's name and its colon, with blanks anywhere between them: behind the quote that opens a quoted
 * value, else to the value. 0 when something else stands there. `mark` 0 is none.
 */
export function member(bytes: Uint8Array, at: number, mark: number, { bytes: name, isQuoted }: Key): number {
  let next = behindBlanks(bytes, at);
  if (mark !== 0) {
    if (bytes[next] !== mark) return 0;
    next = behindBlanks(bytes, next + 1);
  }
  if (!standsAt(bytes, next, name)) return 0;
  next = behindBlanks(bytes, next + name.length);
  if (bytes[next] !== is.COLON) return 0;
  next = behindBlanks(bytes, next + 1);
  if (!isQuoted) return next;
  return bytes[next] === is.QUOTE ? next + 1 : 0;
}

/** Moves from behind the last value of an `.evt` line to behind its line feed; 0 when something else stands there. */
export function evtLineEnd(bytes: Uint8Array, at: number): number {
  let next = behindBlanks(bytes, at);
  if (bytes[next] === is.COMMA) next = behindBlanks(bytes, next + 1);
  if (bytes[next] !== is.BRACE_CLOSE) return 0;
  next = behindBlanks(bytes, next + 1);
  return bytes[next] === is.LINE_FEED ? next + 1 : 0;
}

/** Moves over the braces of an `.evt` event without fields and its line feed; 0 when something else stands there. */
export function emptyEvtLine(bytes: Uint8Array, at: number): number {
  const open = behindBlanks(bytes, at);
  if (bytes[open] !== is.BRACE_OPEN) return 0;
  const close = behindBlanks(bytes, open + 1);
  return bytes[close] === is.BRACE_CLOSE ? evtLineEnd(bytes, close) : 0;
}
