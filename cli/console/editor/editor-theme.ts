import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The colours are those of the page: its variables reach into the shadow root, so that dark mode needs no second theme. */
const theme = EditorView.theme({
  '&': { fontSize: '0.875rem', color: 'var(--text)', backgroundColor: 'var(--field)', minHeight: '16rem', maxHeight: '70vh' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', minHeight: '16rem' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-gutters': { color: 'var(--quiet)', backgroundColor: 'var(--field)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--stripe)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': { color: 'var(--text)', backgroundColor: 'var(--panel)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
  '.cm-panels': { color: 'var(--text)', backgroundColor: 'var(--panel)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap' },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.typeName, color: 'var(--code-type)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-call)' },
  { tag: tags.operator, color: 'var(--quiet)' },
]);

export const editorTheme = [theme, syntaxHighlighting(colours)];
