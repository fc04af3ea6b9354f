/** Diagnostics as text for people and as JSON for programs. */
import type { Diagnostic, Severity, Surroundings } from './diagnostic.ts';

/** A diagnostic as JSON: lines and columns are 1-based and count code points, the end is exclusive. */
export interface DiagnosticJson {
  readonly severity: Severity;
  readonly code: string;
  readonly line: number;
  readonly column: number;
  readonly end_line: number;
  readonly end_column: number;
  readonly message: string;
  readonly hint?: string;
  readonly file: string;
}

export function diagnosticToJson({ severity, code, message, hint, source, span }: Diagnostic): DiagnosticJson {
  const start = source.position(span.start);
  const end = source.position(span.end);
  const json = { severity, code, line: start.line, column: start.column, end_line: end.line, end_column: end.column, message };
  return hint === undefined ? { ...json, file: source.name } : { ...json, hint, file: source.name };
}

/** Columns of the excerpt at most; a longer line is cut around the caret. */
const excerptWidthMax = 100;
/** What is looked at of a line on either side of the caret: several times what is shown, as marks take no room. */
const unitsAroundMax = 400;

/**
 * `file:line:column: severity code: message`, the line with a caret under what is meant, and the hint. Tabs are shown as
 * blanks up to the next multiple of four, wide characters count as two columns, so the caret stands where the eye
 * looks. Ends without a line end. Takes no longer for a long line than for a short one.
 */
export function renderDiagnostic({ severity, code, message, hint, source, span }: Diagnostic): string {
  const { line, column } = source.position(span.start);
  const lastOfLine = source.position(span.end).line > line ? Number.POSITIVE_INFINITY : source.position(span.end).column - column;
  const { shown, caretAt, caretWidth } = excerpt(source.around(span.start, unitsAroundMax), Math.max(1, lastOfLine));
  const margin = ' '.repeat(String(line).length);
  const lines = [
    `${source.name}:${line}:${column}: ${severity} ${code}: ${message}`,
    ` ${line} | ${shown}`.trimEnd(),
    ` ${margin} | ${' '.repeat(caretAt)}${'^'.repeat(caretWidth)}`,
  ];
  if (hint !== undefined) lines.push(` ${margin} = hint: ${hint}`);
  return lines.join('\n');
}

interface Cell {
  readonly text: string;
  readonly width: number;
}

/** The line as shown, cut to the width around the caret, with the caret's column and width. */
function excerpt({ before, behind, isBeginCut, isEndCut }: Surroundings, count: number) {
  const first = [...before].length;
  const cells = toCells(before + behind);
  const [from, to] = cut(cells, first, isBeginCut || isEndCut);
  const begin = isBeginCut || from > 0 ? '..' : '';
  const end = isEndCut || to < cells.length ? '..' : '';
  const shown = cells.slice(from, to).map(({ text }) => text);
  return {
    shown: begin + shown.join('') + end,
    caretAt: begin.length + widthOf(cells.slice(from, first)),
    caretWidth: Math.max(1, widthOf(cells.slice(first, Math.min(to, first + count)))),
  };
}

/** The range of cells to show: all of a short line, else as much as fits with the caret at a third of the width. */
function cut(cells: readonly Cell[], caret: number, isLong: boolean): [number, number] {
  if (!isLong && widthOf(cells) <= excerptWidthMax) return [0, cells.length];
  let from = Math.min(caret, cells.length);
  for (let room = excerptWidthMax / 3; from > 0 && room > 0; room -= cells[from]?.width ?? 1) from--;
  if (from <= 2) from = 0;
  let to = from;
  for (let room = excerptWidthMax; to < cells.length; to++) {
    room -= (cells[to] as Cell).width;
    if (room < 0) break;
  }
  return [from, to];
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.width, 0);
}

function toCells(text: string): Cell[] {
  let column = 0;
  return [...text].map((char) => {
    const cell = toCell(char, column);
    column += cell.width;
    return cell;
  });
}

function toCell(char: string, column: number): Cell {
  if (char >= ' ' && char <= '~') return { text: char, width: 1 };
  if (char === '\t') {
    const width = 4 - (column % 4);
    return { text: ' '.repeat(width), width };
  }
  if (/\p{Cc}|\p{Cs}/u.test(char)) return { text: '\ufffd', width: 1 };
  if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(char)) return { text: char, width: 0 };
  return { text: char, width: isWide(char.codePointAt(0) as number) ? 2 : 1 };
}

/** The wide and full-width blocks of Unicode (UAX #11), and the emoji. */
const wideRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1faff],
  [0x20000, 0x3fffd],
];

function isWide(code: number): boolean {
  return wideRanges.some(([from, to]) => code >= from && code <= to);
}
