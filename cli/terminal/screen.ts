/** What a terminal shows, as data: whoever has something to show makes frames, the view draws them. */

/** Each has a meaning, so that a terminal without colours says the same by its words. */
export type Paint = 'plain' | 'dim' | 'strong' | 'name' | 'good' | 'warning' | 'bad' | 'cursor';

export interface Span {
  readonly text: string;
  readonly paint: Paint;
}

/** One line of a screen; what is wider than its place is cut. Texts have no control characters. */
export type Line = readonly Span[];

export interface PaneFrame {
  readonly title: string;
  /** Cells, with the frame around it. */
  readonly width: number;
  readonly height: number;
  readonly isFocused: boolean;
  readonly lines: readonly Line[];
}

export interface ScreenFrame {
  readonly header: Line;
  /** Panes side by side, from above; all of a row have one height. */
  readonly rows: readonly (readonly PaneFrame[])[];
  /** Below the panes. */
  readonly footer: readonly Line[];
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Key {
  /** `up`, `tab`, `return`, a letter with `isCtrl`; empty for text. */
  readonly name: string;
  readonly isCtrl: boolean;
  readonly isShift: boolean;
  /** What was typed, or pasted: then it may have many lines. */
  readonly text: string;
}

/** What a view draws and whom it tells of keys. */
export interface Screen {
  frame(size: ScreenSize): ScreenFrame;
  press(key: Key): void;
  /** Calls `changed` whenever there is something new to see, until the function that it gives is called. */
  watch(changed: () => void): () => void;
}

/** What `views.tsx` gives; it is loaded only where a terminal is drawn on. */
export interface TerminalViews {
  /** Draws on the terminal until `stop`, which leaves it as it was. */
  draw(screen: Screen, terminal: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream }): { stop(): void };
}

export function line(text: string, paint: Paint = 'plain'): Line {
  return [{ text, paint }];
}

/** Cells that a frame takes around what is in it. */
export const FRAME_CELLS = 2;
