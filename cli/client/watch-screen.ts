import { FRAME_CELLS, type Key, type Line, line, type Screen, type ScreenFrame, type ScreenSize } from '../terminal/screen.ts';

export interface WatchText {
  readonly head: string;
  /** Its first line has the titles of the columns. */
  readonly table: string;
}

/** Cells that stand for something good, or for something to look at. */
const WORD = /\b(?<good>running|ready)\b|\b(?<warning>degraded|draining|pending|starting|deploying)\b|\b(?<bad>failed|unhealthy)\b/;
const HINT = 'Up/Down scroll · q quits';
const HINT_WIDE = 'Arrows scroll · q quits';
/** Columns that a key moves a table by that is wider than its place. */
const SIDE_STEP = 8;

/** A table that is drawn anew with each look, under the titles of its columns, and can be scrolled, sideways too where it is wider than the screen. */
export class WatchScreen implements Screen {
  readonly #title: string;
  readonly #quit: () => void;
  readonly #watchers = new Set<() => void>();
  #head = 'asking the server';
  #titles = '';
  #rows: readonly string[] = [];
  /** Why nothing newer came. */
  #problem: string | undefined;
  #top = 0;
  /** First column of cells that is seen. */
  #left = 0;
  #height = 1;

  constructor(title: string, quit: () => void) {
    this.#title = title;
    this.#quit = quit;
  }

  show({ head, table }: WatchText): void {
    const [titles = '', ...rows] = table.replace(/\n$/, '').split('\n');
    this.#head = head;
    this.#titles = titles;
    this.#rows = rows;
    this.#problem = undefined;
    this.#draw();
  }

  away(problem: string): void {
    this.#problem = problem;
    this.#draw();
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => void this.#watchers.delete(changed);
  }

  press({ name, isCtrl, text }: Key): void {
    const page = this.#height;
    const by = { up: -1, down: 1, pageup: -page, pagedown: page, home: -this.#rows.length, end: this.#rows.length }[name];
    if (text === 'q' || (isCtrl && (name === 'c' || name === 'q'))) this.#quit();
    else if (by !== undefined) {
      this.#top += by;
      this.#draw();
    } else if (name === 'left' || name === 'right') {
      this.#left += name === 'left' ? -SIDE_STEP : SIDE_STEP;
      this.#draw();
    }
  }

  frame({ columns, rows }: ScreenSize): ScreenFrame {
    const height = rows - 2;
    this.#height = Math.max(1, height - FRAME_CELLS - 1);
    this.#top = Math.max(0, Math.min(this.#top, this.#rows.length - this.#height));
    const shown = this.#rows.slice(this.#top, this.#top + this.#height);
    const place = this.#rows.length > this.#height ? `, ${this.#top + 1} to ${this.#top + shown.length} of ${this.#rows.length}` : '';
    const beyond = Math.max(0, ...[this.#titles, ...shown].map((text) => text.length - (columns - FRAME_CELLS)));
    this.#left = Math.max(0, Math.min(this.#left, beyond));
    const lines = [line(this.#titles.slice(this.#left), 'dim'), ...shown.map((text) => painted(text.slice(this.#left)))];
    const pane = { title: `${this.#title}${place}`, width: columns, height, isFocused: true, lines };
    const footer = this.#problem === undefined ? line(beyond > 0 ? HINT_WIDE : HINT, 'dim') : line(this.#problem, 'bad');
    return { header: line(` ${this.#head}`, 'strong'), rows: [[pane]], footer: [footer] };
  }

  #draw(): void {
    for (const changed of this.#watchers) changed();
  }
}

function painted(text: string): Line {
  const found = WORD.exec(text);
  const [paint] = Object.entries(found?.groups ?? {}).find(([, word]) => word !== undefined) ?? [];
  if (found === null || paint === undefined) return line(text);
  const end = found.index + found[0].length;
  return [...line(text.slice(0, found.index)), ...line(found[0], paint as 'good' | 'warning' | 'bad'), ...line(text.slice(end))];
}
