import type { Diagnostic } from '../../../shared/language/diagnostics/diagnostic.ts';
import type { Line, Paint, Span } from '../../terminal/screen.ts';
import type { TextEditor } from './text-editor.ts';

const WORD =
  /(?<comment>(?:#|\/\/).*)|(?<text>"(?:[^"\\]|\\.)*")|(?<declares>\b(?:event|stream|pattern|connector|const|fn|import|test|type|var|let)\b)|(?<operator>\.[a-z]\w*)/g;
const paints: Readonly<Record<string, Paint>> = { comment: 'dim', text: 'good', declares: 'strong', operator: 'name' };

export interface EditorView {
  readonly height: number;
  readonly width: number;
  readonly hasCursor: boolean;
  readonly problems: readonly Diagnostic[];
}

/** The part of a text that a pane shows: line numbers, a mark where something is wrong, and the cursor. */
export function editorLines(editor: TextEditor, { height, width, hasCursor, problems }: EditorView): readonly Line[] {
  const digits = Math.max(2, String(editor.lines.length).length);
  const { top, left } = editor.window(height, width - digits - 3);
  const bad = new Set(problems.filter(({ severity }) => severity === 'error').map(({ source, span }) => source.position(span.start).line));
  return editor.lines.slice(top, top + height).map((text, at) => {
    const row = top + at;
    const gutter: Span = bad.has(row + 1)
      ? { text: `${String(row + 1).padStart(digits)}✗ `, paint: 'bad' }
      : { text: `${String(row + 1).padStart(digits)}  `, paint: 'dim' };
    const shown = [...text].slice(left, left + width).join('');
    const spans = painted(shown);
    return [gutter, ...(hasCursor && row === editor.row ? withCursor(spans, editor.column - left) : spans)];
  });
}

/** The line with the character at this place turned around; behind the end, a blank. */
export function withCursor(spans: readonly Span[], at: number): Line {
  const result: Span[] = [];
  let from = 0;
  for (const { text, paint } of spans) {
    const characters = [...text];
    const local = at - from;
    if (local < 0 || local >= characters.length) result.push({ text, paint });
    else {
      result.push({ text: characters.slice(0, local).join(''), paint }, { text: characters[local] ?? ' ', paint: 'cursor' });
      result.push({ text: characters.slice(local + 1).join(''), paint });
    }
    from += characters.length;
  }
  return at >= from ? [...result, { text: ' ', paint: 'cursor' }] : result;
}

function painted(text: string): readonly Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(WORD)) {
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [];
    if (match.index > from) spans.push({ text: text.slice(from, match.index), paint: 'plain' });
    spans.push({ text: match[0], paint: paints[kind] ?? 'plain' });
    from = match.index + match[0].length;
  }
  if (from < text.length) spans.push({ text: text.slice(from), paint: 'plain' });
  return spans;
}
