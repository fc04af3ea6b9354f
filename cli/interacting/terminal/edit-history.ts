const STEPS_MAX = 200;

/** A text and the cursor in it, at one moment. */
export interface EditorState {
  readonly lines: readonly string[];
  readonly row: number;
  readonly column: number;
}

/** What changes belong together: characters typed one after the other, and characters deleted so, are undone at once. */
export type EditKind = 'typing' | 'deleting' | 'other';

/** The states that undo and redo go to. */
export class EditHistory {
  #undone: EditorState[] = [];
  #done: EditorState[] = [];
  #kind: EditKind = 'other';
  /** Where the last change left the cursor. */
  #at: { readonly row: number; readonly column: number } | null = null;

  /** A change is about to be made to this state. */
  before(state: EditorState, kind: EditKind): void {
    const goesOn = kind !== 'other' && kind === this.#kind && state.row === this.#at?.row && state.column === this.#at.column;
    this.#kind = kind;
    this.#undone = [];
    if (goesOn) return;
    this.#done.push(state);
    if (this.#done.length > STEPS_MAX) this.#done.shift();
  }

  /** It has been made. */
  after({ row, column }: EditorState): void {
    this.#at = { row, column };
  }

  /** The state before the last change that was not undone; undefined when there is none. */
  undo(now: EditorState): EditorState | undefined {
    return this.#go(this.#done, this.#undone, now);
  }

  redo(now: EditorState): EditorState | undefined {
    return this.#go(this.#undone, this.#done, now);
  }

  #go(from: EditorState[], to: EditorState[], now: EditorState): EditorState | undefined {
    const state = from.pop();
    if (state !== undefined) to.push(now);
    this.#kind = 'other';
    return state;
  }
}
