const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** With this bit set a bracket is its brace. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The elements of a list in valid JSON, each as it stands there: read and written again, a number could be another one. */
export function elementsIn(list: string): readonly string[] {
  return piecesOf(list).map((piece) => piece.trim());
}

/** The values of the members of an object in valid JSON, each as it stands there; of two of one name the last, as `JSON.parse` has it. */
export function membersIn(object: string): ReadonlyMap<string, string> {
  return new Map(
    piecesOf(object).map((piece) => {
      const start = piece.indexOf('"');
      const end = endOfString(piece, start) + 1;
      return [JSON.parse(piece.slice(start, end)) as string, piece.slice(piece.indexOf(':', end) + 1).trim()];
    }),
  );
}

/** What stands between the commas of the outermost list or object. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA && depth === 1) {
      pieces.push(text.slice(start, at));
      start = at + 1;
    } else if ((code | BRACE_BIT) === OPEN && ++depth === 1) start = at + 1;
    else if ((code | BRACE_BIT) === CLOSE && --depth === 0) {
      const last = text.slice(start, at);
      if (pieces.length > 0 || last.trim() !== '') pieces.push(last);
      break;
    }
  }
  return pieces;
}

/** Of the quote that ends the string that the one at `start` begins. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
}
