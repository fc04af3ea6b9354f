import type { Value } from '../../../../../shared/events/value.ts';
import type { TrendWindow } from './trend-window.ts';

/** How generated code finds the panes of a key: its value, or its text where it has several parts. */
export type PaneKey = string | number | boolean | null;

/** Windows in no order. What stands behind the last of them is left where it is. */
export class WindowList {
  readonly windows: TrendWindow[] = [];
  size = 0;

  add(window: TrendWindow): void {
    this.windows[this.size++] = window;
  }

  remove(window: TrendWindow): void {
    const { windows } = this;
    for (let at = 0; at < this.size; at++) {
      if (windows[at] !== window) continue;
      windows[at] = windows[--this.size] as TrendWindow;
      return;
    }
  }
}

/**
 * The windows of one key and one span of time, one for each of the streams that share it. Events of a kind that many streams
 * take alike, again and again, are counted once for all of them: a window whose trends would not come to another state leaves
 * such a burst to its pane, and makes up for it when something else happens or when it ends.
 */
export class TrendPane {
  start = Number.NaN;
  end = Number.NaN;
  /** The watermark at which its windows close. */
  closesAt = Number.NaN;
  key: PaneKey = null;
  keys: readonly Value[] = [];
  /** Another pane of the key. */
  next: TrendPane | null = null;
  /** Windows in use. */
  open = 0;
  /** By lane: arrival number of the newest event. */
  readonly last: Float64Array;
  /** By class: how many events there were. */
  readonly bursts: Float64Array;
  /** By class: whether there may be streams that an event would open a window for. */
  readonly unopened: number[];
  /** By class: the windows that want to hear of every event. */
  readonly loud: readonly WindowList[];
  /** By stream. */
  readonly windows: (TrendWindow | null)[];

  constructor({ lanes, classes, streams }: { readonly lanes: number; readonly classes: number; readonly streams: number }) {
    this.last = new Float64Array(lanes);
    this.bursts = new Float64Array(classes);
    this.unopened = new Array<number>(classes).fill(0);
    this.loud = Array.from({ length: classes }, () => new WindowList());
    this.windows = new Array<TrendWindow | null>(streams).fill(null);
  }
}
