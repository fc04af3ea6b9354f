import type { Value } from '../../../../shared/events/value.ts';
import type { Row } from '../../operators/row.ts';
import type { TrendSet } from './trend-groups.ts';

/** What windows and panes ask of the kernel of a stream that counts in them. */
export interface TrendStream {
  watermark(): number;
  late(row: Row): void;
  /** A window for a pane that has none of this stream, nor of those that count the same. */
  open(pane: TrendPane, order: number): TrendWindow;
  /** A window opened by another stream counts for this one as well. */
  enter(window: TrendWindow): void;
  /** All streams of a window have closed it. */
  clear(window: TrendWindow): void;
  /** There are more groups in the window, or fewer. */
  moved(window: TrendWindow, more: number): void;
  /** So many more groups in all windows of this stream, or fewer. */
  addGroups(more: number): void;
  /** So many groups were given up, because there were more than `max_runs`. */
  dropGroups(dropped: number): void;
  /** An event of a class. Gives whether trends came to other states. */
  takeInBurst(at: number, window: TrendWindow, order: number): boolean;
  /** Events of a class, as many as `times`. Gives how many are left, which are to be taken one by one. */
  repeat(at: number, window: TrendWindow, times: number): number;
  slowlyInBurst(at: number, window: TrendWindow): boolean;
}

const NO_STREAMS: readonly TrendStream[] = [];

/** The trends of one stream, or of several that count the same, in one pane. Windows are used again when they have closed. */
export class TrendWindow {
  /** That of the first of the streams. */
  readonly kernel: TrendStream;
  /** Those of all the streams, and for how many of them it has not closed yet. */
  sharing: readonly TrendStream[];
  left = 0;
  /** By state, then of the completed trends: as `TrendNumbers` lays them out. */
  readonly numbers: Float64Array;
  /** The trends, where the numbers do not hold them. */
  groups: TrendSet | null = null;
  pane: TrendPane;
  /** Windows that end together close in this order. */
  rank = 0;
  /** Arrival number of the first event. */
  first = 0;
  /** The last event, where rows are counted; else the pane knows. */
  last: Row | null = null;
  /** Groups, or states in which there are trends. */
  live = 0;
  /** The class of bursts that the window leaves to its pane; -1: none. */
  lazy = -1;
  /** How far it has followed those bursts. */
  done = 0;
  /** By slot, whether some trend took the newest event there: kept for slots that are held. */
  readonly took: Float64Array;
  /** By slot: the last event that a trend took; null = none, or nothing reads it. */
  readonly held: (HeldEvent | Row | null)[];

  constructor(kernel: TrendStream, pane: TrendPane, numbers: Float64Array, slots: number) {
    this.kernel = kernel;
    this.sharing = NO_STREAMS;
    this.pane = pane;
    this.numbers = numbers;
    this.took = new Float64Array(slots);
    this.held = new Array<HeldEvent | Row | null>(slots).fill(null);
  }

  /** Trends came to states that had none, or left states. */
  moved(born: number, gone: number): void {
    this.live += born - gone;
    this.kernel.moved(this, born - gone);
  }

  /** Keeps the event as the last one that a trend took in a slot. */
  hold(slot: number, order: number, time: number, type: string, values: readonly Value[]): void {
    this.held[slot] = { order, time, type, values };
  }

  /** Makes up for the bursts that it has left to its pane. */
  settle(): void {
    const { lazy, pane } = this;
    if (lazy < 0) return;
    this.lazy = -1;
    this.#follow(lazy, (pane.bursts[lazy] as number) - this.done);
    (pane.loud[lazy] as WindowList).add(this);
  }

  /** What `settle` gives, without leaving the burst. */
  catchUp(): void {
    const { lazy, pane } = this;
    if (lazy < 0) return;
    const now = pane.bursts[lazy] as number;
    this.#follow(lazy, now - this.done);
    this.done = now;
  }

  #follow(lazy: number, times: number): void {
    let left = times;
    if (left > 0) left = this.kernel.repeat(lazy, this, left);
    for (; left > 0; left--) this.kernel.slowlyInBurst(lazy, this);
  }
}

/** What generated code keeps of an event: the values of the fields that are read. */
interface HeldEvent {
  readonly order: number;
  readonly time: number;
  readonly type: string;
  readonly values: readonly Value[];
}

/** A kept event as a row with the fields of these names. */
export function boundRow(event: HeldEvent | Row | null, names: readonly string[]): Row | null {
  if (event === null || 'fields' in event) return event;
  const { type, time, order, values } = event;
  const fields = new Map(names.map((name, at) => [name, values[at] ?? null]));
  return { type, time, order, fields, bound: null, attributes: null, causes: [order] };
}

/** How generated code finds the panes of a key: its value, or its text where it has several parts. */
export type PaneKey = string | number | boolean | null;

/** Windows in no order. Places behind `size` keep what was there last. */
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
  /** By input: arrival number of the newest event. */
  readonly last: Float64Array;
  /** By class: how many events there were. */
  readonly bursts: Float64Array;
  /** By class: whether there may be streams that an event would open a window for. */
  readonly unopened: number[];
  /** By class: the windows that want to hear of every event. */
  readonly loud: readonly WindowList[];
  /** By stream. */
  readonly windows: (TrendWindow | null)[];

  constructor({ inputs, classes, streams }: { readonly inputs: number; readonly classes: number; readonly streams: number }) {
    this.last = new Float64Array(inputs);
    this.bursts = new Float64Array(classes);
    this.unopened = new Array<number>(classes).fill(0);
    this.loud = Array.from({ length: classes }, () => new WindowList());
    this.windows = new Array<TrendWindow | null>(streams).fill(null);
  }
}
