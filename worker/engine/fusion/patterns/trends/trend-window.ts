import type { Value } from '../../../../../shared/events/value.ts';
import type { ExactTrends } from './exact-trends.ts';
import type { TrendKernel } from './trend-kernel.ts';
import type { TrendPane, WindowList } from './trend-pane.ts';

const NOBODY: readonly TrendKernel[] = [];

/** The trends of one stream, or of several that count the same, in one pane. Windows are used again when they have closed. */
export class TrendWindow {
  /** That of the first of the streams. */
  readonly kernel: TrendKernel;
  /** Those of all the streams, and for how many of them it has not closed yet. */
  sharing: readonly TrendKernel[];
  left = 0;
  /** By state, then of the completed trends: as `TrendForm` lays them out. */
  readonly numbers: Float64Array;
  /** Where the numbers do not hold the trends any more. */
  exact: ExactTrends | null = null;
  pane: TrendPane;
  /** Arrival number of the first event. */
  first = 0;
  /** States in which there are trends. */
  live = 0;
  /** The class of bursts that the window leaves to its pane; -1: none. */
  lazy = -1;
  /** How far it has followed those bursts. */
  done = 0;
  /** By slot, whether some trend took the newest event there: kept for slots that are held. */
  readonly took: Float64Array;
  /** By slot: arrival number, time, type and fields of the last event that a trend took; null = none. */
  readonly held: (HeldEvent | null)[];

  constructor(kernel: TrendKernel, pane: TrendPane, numbers: Float64Array, slots: number) {
    this.kernel = kernel;
    this.sharing = NOBODY;
    this.pane = pane;
    this.numbers = numbers;
    this.took = new Float64Array(slots);
    this.held = new Array<HeldEvent | null>(slots).fill(null);
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

/** What is kept of an event that results read. */
export interface HeldEvent {
  readonly order: number;
  readonly time: number;
  readonly type: string;
  readonly values: readonly Value[];
}
