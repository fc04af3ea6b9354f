import type { Given } from '../pattern-input.ts';
import type { TrendForm } from './trend-form.ts';
import type { SharedForm } from './trend-panes.ts';
import type { TrendWindow } from './trend-window.ts';

/** Takes an event into a window. Gives whether trends came to other states (1) or not (0), or that it has done nothing (2). */
export type TakeStep = (window: TrendWindow, order: number, ...given: unknown[]) => number;

/** Takes events of a burst. Gives how many are left, which are to be taken one by one. */
export type RepeatStep = (window: TrendWindow, times: number) => number;

/** Hands on the result of a window: a function for all streams that do it alike, which reads off its first argument what differs. */
export interface Close {
  readonly x0: (close: Close, window: TrendWindow, type: string, last: number, start: number, end: number) => void;
}

/** What generated code and the kernel of one stream agree on. */
export interface TrendKernelForm {
  readonly trends: TrendForm;
  readonly shared: SharedForm;
  /** Among those that share. */
  readonly position: number;
  /** Lanes that this stream reads. */
  readonly lanes: readonly number[];
  /** Classes of bursts that it takes part in, with the step that takes their events. */
  readonly classes: readonly { readonly at: number; readonly slot: number }[];
  /** By lane, where this stream's kernel is the one that takes its rows: what the function is given of each. */
  readonly given: ReadonlyMap<number, readonly Given[]>;
  /** Fields that are the parts of the key. */
  readonly keyFields: readonly string[];
  /** Positions of the streams that count the same trends, in order; this one is among them. */
  readonly equals: readonly number[];
  /** Some operator acts when a window ends. */
  readonly endsMatter: boolean;
}
