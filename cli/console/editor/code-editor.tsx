import { autocompletion } from '@codemirror/autocomplete';
import { linter, lintGutter, type Diagnostic as Mark } from '@codemirror/lint';
import type { Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { basicSetup } from 'codemirror';
import { Component, createRef } from 'preact';
import { ask, ServerError } from '../service/requests.ts';
import type { Diagnostic, Pipeline, Validation } from '../service/shapes.ts';
import { editorTheme } from './editor-theme.ts';
import { completeWords, programLanguage } from './program-language.ts';

interface CodeEditorProps {
  readonly initial: string;
  readonly files: Pipeline['files'];
  readonly path: string | undefined;
  readonly label: string;
  readonly onChange: (text: string) => void;
  /** What the server says of the text; undefined when it cannot say anything now. */
  readonly onProblems: (problems: readonly Diagnostic[] | undefined) => void;
}

export interface EditorHandle {
  replace(text: string): void;
  show(problem: Diagnostic): void;
}

const checkDelayMs = 400;

/**
 * The editor, in a shadow root: there its styles are style sheets that were constructed, which a page may have whose policy allows no
 * style element.
 */
export class CodeEditor extends Component<CodeEditorProps> implements EditorHandle {
  readonly #host = createRef<HTMLDivElement>();
  #view: EditorView | undefined;

  override componentDidMount(): void {
    const host = this.#host.current as HTMLDivElement;
    const root = host.attachShadow({ mode: 'open' });
    this.#view = new EditorView({
      doc: this.props.initial,
      root,
      parent: root,
      extensions: [
        basicSetup,
        programLanguage,
        autocompletion({ override: [completeWords] }),
        lintGutter(),
        linter((view) => this.#check(view), { delay: checkDelayMs }),
        editorTheme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': this.props.label, spellcheck: 'false' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) this.props.onChange(state.doc.toString());
        }),
      ],
    });
  }

  override componentWillUnmount(): void {
    this.#view?.destroy();
  }

  override shouldComponentUpdate(): boolean {
    return false;
  }

  replace(text: string): void {
    const view = this.#view;
    if (view && view.state.doc.toString() !== text) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }

  show({ line, column, file }: Diagnostic): void {
    const view = this.#view;
    if (view === undefined || file !== undefined) return;
    const anchor = positionOf(view.state.doc, line, column);
    view.dispatch({ selection: { anchor }, scrollIntoView: true });
    view.focus();
  }

  /** Asks the server, which knows more than any grammar here would: types, connectors, imports. */
  async #check(view: EditorView): Promise<readonly Mark[]> {
    const { doc } = view.state;
    const { files, path, onProblems } = this.props;
    const body = { source: doc.toString(), ...(files ? { files } : {}), ...(path === undefined ? {} : { path }) };
    try {
      const { diagnostics } = await ask<Validation>('/api/v1/validate', { method: 'POST', body });
      onProblems(diagnostics);
      return diagnostics.filter(({ file }) => file === undefined).map((diagnostic) => markOf(doc, diagnostic));
    } catch (error) {
      onProblems(undefined);
      if (error instanceof ServerError && error.status === 400) return [{ from: 0, to: 0, severity: 'error', message: error.message }];
      return [];
    }
  }

  render() {
    return <div class="editor" ref={this.#host} />;
  }
}

function markOf(doc: Text, { line, column, end_line: endLine, end_column: endColumn, severity, message, hint, code }: Diagnostic): Mark {
  const from = positionOf(doc, line, column);
  const to = Math.max(from, positionOf(doc, endLine, endColumn));
  return {
    from,
    to,
    severity: severity === 'error' ? 'error' : 'warning',
    message: hint === undefined ? message : `${message}\n${hint}`,
    source: code,
  };
}

/** Lines and columns of diagnostics are 1-based, and columns count code points. */
function positionOf(doc: Text, line: number, column: number): number {
  const { from, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const before = Array.from(text)
    .slice(0, column - 1)
    .join('');
  return from + before.length;
}
