import type { Line } from '../../terminal/screen.ts';
import { withCursor } from './editor-lines.ts';
import { TextEditor } from './text-editor.ts';

const HISTORY_MAX = 500;
const PROMPT = 'cep> ';
/** Behind the first line of a declaration; an empty line ends it. */
const GOES_ON = '...> ';

/** The line at which events, commands and declarations are typed, with those that were typed before. */
export class PromptLine {
  readonly #editor = new TextEditor();
  readonly #history: string[] = [];
  /** Place in the history; its length is the line that is typed now. */
  #at = 0;

  get editor(): TextEditor {
    return this.#editor;
  }

  get text(): string {
    return this.#editor.text;
  }

  /** Gives what stands there and is empty again. */
  take(): string {
    const { text } = this;
    if (text.trim() !== '' && this.#history.at(-1) !== text) this.#history.push(text);
    if (this.#history.length > HISTORY_MAX) this.#history.shift();
    this.#at = this.#history.length;
    this.#editor.set('');
    return text;
  }

  recall(by: -1 | 1): void {
    this.#at = Math.max(0, Math.min(this.#at + by, this.#history.length));
    this.#editor.set(this.#history[this.#at] ?? '');
    this.#editor.goTo(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  line(width: number, { isFocused, isOpen }: { readonly isFocused: boolean; readonly isOpen: boolean }): Line {
    const { left } = this.#editor.window(1, width - PROMPT.length - 1);
    const text = this.#editor.lines[this.#editor.row] ?? '';
    const shown = [...text].slice(left, left + width).join('');
    const hint = 'Tab leads here: Type { field: value } sends an event, :help lists commands';
    const prompt = isOpen ? GOES_ON : PROMPT;
    if (!isFocused)
      return [
        { text: prompt, paint: 'dim' },
        { text: shown || hint, paint: 'dim' },
      ];
    return [{ text: prompt, paint: 'name' }, ...withCursor([{ text: shown, paint: 'plain' }], this.#editor.column - left)];
  }
}
