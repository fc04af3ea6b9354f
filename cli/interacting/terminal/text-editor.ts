import { EditHistory, type EditKind, type EditorState } from './edit-history.ts';

const INDENT = '    ';

/** A text of many lines with a cursor in it. Rows and columns count from 0, columns in code points. */
export class TextEditor {
  #lines: string[] = [''];
  #row = 0;
  #column = 0;
  /** First row and column that are seen. */
  #top = 0;
  #left = 0;
  readonly #history = new EditHistory();

  get text(): string {
    return this.#lines.join('\n');
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  get row(): number {
    return this.#row;
  }

  get column(): number {
    return this.#column;
  }

  /** Another text; the cursor stays where it was as far as that exists. */
  set(text: string): void {
    const lines = printable(text).split('\n');
    if (lines.join('\n') === this.text) return;
    this.#change('other', () => {
      this.#lines = lines;
      this.#place(this.#row, this.#column);
    });
  }

  insert(text: string): void {
    this.#change(/^[^\s]$/u.test(text) ? 'typing' : 'other', () => this.#insert(text));
  }

  /** Takes the last change back. False when there is none. */
  undo(): boolean {
    return this.#goTo(this.#history.undo(this.#state));
  }

  /** Makes the change again that was taken back last. */
  redo(): boolean {
    return this.#goTo(this.#history.redo(this.#state));
  }

  /** What stands in the line before the cursor. */
  get before(): string {
    return this.#parted()[0];
  }

  get #state(): EditorState {
    return { lines: this.#lines, row: this.#row, column: this.#column };
  }

  #goTo(state: EditorState | undefined): boolean {
    if (state === undefined) return false;
    this.#lines = [...state.lines];
    this.#place(state.row, state.column);
    return true;
  }

  /** The lines of before stay as they are: undo comes back to them. */
  #change(kind: EditKind, make: () => void): void {
    this.#history.before(this.#state, kind);
    this.#lines = [...this.#lines];
    make();
    this.#history.after(this.#state);
  }

  #insert(text: string): void {
    const [before, after] = this.#parted();
    const added = printable(text).split('\n');
    const last = added.at(-1) ?? '';
    const column = added.length === 1 ? this.#column + widthOf(last) : widthOf(last);
    added[0] = before + (added[0] ?? '');
    added[added.length - 1] += after;
    // Not by arguments of one call: a paste may have more lines than a call may have arguments.
    this.#lines = [...this.#lines.slice(0, this.#row), ...added, ...this.#lines.slice(this.#row + 1)];
    this.#place(this.#row + added.length - 1, column);
  }

  /** A new line, indented as the one before, and deeper behind a colon. */
  breakLine(): void {
    const [before] = this.#parted();
    const indent = /^\s*/.exec(before)?.[0] ?? '';
    this.insert(`\n${indent}${before.trimEnd().endsWith(':') ? INDENT : ''}`);
  }

  /** The character before the cursor; of an indentation a whole step. */
  deleteBefore(): void {
    this.#change('deleting', () => this.#deleteBefore());
  }

  #deleteBefore(): void {
    const [before, after] = this.#parted();
    if (before === '') {
      if (this.#row === 0) return;
      const above = this.#lines[this.#row - 1] ?? '';
      this.#lines.splice(this.#row - 1, 2, above + after);
      this.#place(this.#row - 1, widthOf(above));
      return;
    }
    const count = /^ +$/.test(before) ? ((before.length - 1) % INDENT.length) + 1 : 1;
    this.#lines[this.#row] = [...before].slice(0, -count).join('') + after;
    this.#place(this.#row, this.#column - count);
  }

  deleteAfter(): void {
    this.#change('deleting', () => this.#deleteAfter());
  }

  #deleteAfter(): void {
    const [before, after] = this.#parted();
    if (after === '') {
      if (this.#row < this.#lines.length - 1) this.#lines.splice(this.#row, 2, before + (this.#lines[this.#row + 1] ?? ''));
    } else this.#lines[this.#row] = before + [...after].slice(1).join('');
  }

  /** What stands behind the cursor in its line. */
  deleteRest(): void {
    this.#change('other', () => {
      const [before, after] = this.#parted();
      if (after === '') this.#deleteAfter();
      else this.#lines[this.#row] = before;
    });
  }

  moveRows(by: number): void {
    this.#place(this.#row + by, this.#column);
  }

  left(): void {
    if (this.#column > 0) this.#place(this.#row, this.#column - 1);
    else if (this.#row > 0) this.#place(this.#row - 1, Number.POSITIVE_INFINITY);
  }

  right(): void {
    if (this.#column < widthOf(this.#lines[this.#row] ?? '')) this.#place(this.#row, this.#column + 1);
    else if (this.#row < this.#lines.length - 1) this.#place(this.#row + 1, 0);
  }

  lineStart(): void {
    this.#place(this.#row, 0);
  }

  lineEnd(): void {
    this.#place(this.#row, Number.POSITIVE_INFINITY);
  }

  goTo(row: number, column: number): void {
    this.#place(row, column);
  }

  /** The part that a place of this size shows, with the cursor in it. */
  window(height: number, width: number): { readonly top: number; readonly left: number } {
    this.#top = scrolledTo(this.#row, this.#top, height);
    this.#top = Math.max(0, Math.min(this.#top, this.#lines.length - height));
    this.#left = scrolledTo(this.#column, this.#left, width);
    return { top: this.#top, left: this.#left };
  }

  #parted(): readonly [before: string, after: string] {
    const characters = [...(this.#lines[this.#row] ?? '')];
    return [characters.slice(0, this.#column).join(''), characters.slice(this.#column).join('')];
  }

  #place(row: number, column: number): void {
    this.#row = Math.max(0, Math.min(row, this.#lines.length - 1));
    this.#column = Math.max(0, Math.min(column, widthOf(this.#lines[this.#row] ?? '')));
  }
}

/** What a terminal shows as it is: nothing in a text moves its cursor. */
function printable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', INDENT)
    .replace(/[^\P{Cc}\n]/gu, '');
}

function widthOf(line: string): number {
  return [...line].length;
}

function scrolledTo(at: number, from: number, size: number): number {
  if (at < from) return at;
  return at >= from + size ? at - size + 1 : from;
}
