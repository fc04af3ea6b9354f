import { invariant } from '../../../../shared/errors/error.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { FusedRuntime } from '../../fusion/fused-runtime.ts';
import type { Row } from '../../operators/row.ts';
import { plus, wholeSteps } from '../../time/instants.ts';
import { type PaneKey, TrendPane, type TrendStream, type TrendWindow, type WindowList } from './trend-window.ts';

/** Events that some streams take alike: of one input, with one condition, by one step each. */
export interface BurstClass {
  readonly input: number;
  /** Positions of the streams, and those among them for which such an event begins a trend. */
  readonly streams: readonly number[];
  readonly opening: readonly number[];
}

/** Events of one type. */
export interface SharedInput {
  readonly origin: string;
  /** Name of the events' type. */
  readonly type: string;
  /** Positions of the streams that read it, in order of declaration. */
  readonly streams: readonly number[];
  /** An event may begin a trend. */
  readonly isOpening: boolean;
}

/** What streams with the same windows share. */
export interface SharedForm {
  /** Indexes of the streams in the program. */
  readonly streams: readonly number[];
  readonly inputs: readonly SharedInput[];
  readonly classes: readonly BurstClass[];
  readonly windowMs: number;
  readonly allowedLatenessMs: number;
  /** Whether events have a key. */
  readonly isKeyed: boolean;
}

/** Streams that count the same trends. Their windows are the same ones, but for those that each of them took over from another engine. */
export interface EqualTrends {
  readonly kernels: readonly TrendStream[];
  /** How many open windows belong to one of them alone. While there are any, all new ones do as well. */
  apart: number;
}

const NO_KEYS: readonly Value[] = [];

/** Takes an event of an input; the last argument is its row where there is one. */
export type TakeTrendEvent = (time: number, order: number, ...given: unknown[]) => void;

/** The open panes of streams whose windows begin and end together. */
export class TrendPanes {
  readonly form: SharedForm;
  /** By input: events that have come since counters were read. */
  readonly counts: Float64Array;
  /** The pane used last, where there is no key. */
  current: TrendPane;
  /** The pane used last, by key. */
  readonly table = new Map<PaneKey, TrendPane>();
  readonly kernels: TrendStream[] = [];
  /** By input. */
  takes: readonly TakeTrendEvent[] = [];
  /** The event that had no pane came too late. */
  wasLate = false;
  readonly #none: TrendPane;
  readonly #unused: TrendPane[] = [];
  /** By position of the first. */
  readonly #equals: (EqualTrends | undefined)[];
  #isCounting = false;

  constructor(form: SharedForm) {
    this.form = form;
    this.counts = new Float64Array(form.inputs.length);
    this.#equals = form.streams.map(() => undefined);
    this.#none = this.#create();
    this.current = this.#none;
  }

  #create(): TrendPane {
    const { inputs, classes, streams } = this.form;
    return new TrendPane({ inputs: inputs.length, classes: classes.length, streams: streams.length });
  }

  /** Lets the streams' counters know of the events before anybody reads them. */
  count(runtime: FusedRuntime): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    const counters = this.form.streams.map((stream) => runtime.node(stream).counters);
    runtime.beforeCounting(() => {
      this.form.inputs.forEach(({ streams }, input) => {
        for (const stream of streams) (counters[stream] as { eventsIn: number }).eventsIn += this.counts[input] as number;
        this.counts[input] = 0;
      });
    });
  }

  /**
   * The pane of an event that the key's pane used last does not hold; null = it has none and needs none, or is late. `keys`: the
   * parts of a key of several.
   */
  paneAt(input: number, time: number, key: PaneKey, keys: readonly Value[] | null): TrendPane | null {
    const start = this.startOf(time);
    this.wasLate = this.closesAt(start) <= (this.kernels[0] as TrendStream).watermark();
    if (this.wasLate) return null;
    return this.find(key, start) ?? (this.form.inputs[input]?.isOpening ? this.#begin(key, keys, start) : null);
  }

  /** The start of the window that a time lies in. */
  startOf(time: number): number {
    return plus(wholeSteps(time, this.form.windowMs) * this.form.windowMs, 0);
  }

  /** The watermark at which a window closes. */
  closesAt(start: number): number {
    return plus(plus(start, this.form.windowMs), this.form.allowedLatenessMs);
  }

  #first(key: PaneKey): TrendPane | null {
    if (this.form.isKeyed) return this.table.get(key) ?? null;
    return this.current === this.#none ? null : this.current;
  }

  late(input: number, row: Row): void {
    for (const stream of this.form.inputs[input]?.streams ?? []) this.kernels[stream]?.late(row);
  }

  /** The key's pane of a window, in use from now on. */
  paneOf(key: PaneKey, keys: readonly Value[] | null, start: number): TrendPane {
    return this.find(key, start) ?? this.#begin(key, keys, start);
  }

  /** The key's pane of a window; null = it has none. */
  find(key: PaneKey, start: number): TrendPane | null {
    const first = this.#first(key);
    let before: TrendPane | null = null;
    for (let pane = first; pane !== null; before = pane, pane = pane.next) {
      if (pane.start !== start) continue;
      if (before !== null) {
        before.next = pane.next;
        pane.next = first;
        this.#putFirst(key, pane);
      }
      return pane;
    }
    return null;
  }

  /** All panes of a key. */
  ofKey(key: PaneKey): readonly TrendPane[] {
    const panes: TrendPane[] = [];
    for (let pane = this.#first(key); pane !== null; pane = pane.next) panes.push(pane);
    return panes;
  }

  #begin(key: PaneKey, keys: readonly Value[] | null, start: number): TrendPane {
    const pane = this.#unused.pop() ?? this.#create();
    pane.start = start;
    pane.end = plus(start, this.form.windowMs);
    pane.closesAt = this.closesAt(start);
    pane.key = key;
    pane.keys = keys ?? (this.form.isKeyed ? [key] : NO_KEYS);
    pane.next = this.#first(key);
    const { classes } = this.form;
    for (let at = 0; at < classes.length; at++) pane.unopened[at] = (classes[at] as BurstClass).opening.length;
    this.#putFirst(key, pane);
    return pane;
  }

  #putFirst(key: PaneKey, pane: TrendPane | null): void {
    if (!this.form.isKeyed) this.current = pane ?? this.#none;
    else if (pane !== null) this.table.set(key, pane);
    else this.table.delete(key);
  }

  /** A pane without windows is given up. */
  release(pane: TrendPane): void {
    const { key } = pane;
    const first = this.#first(key);
    if (first === pane) this.#putFirst(key, pane.next);
    else for (let one = first; one !== null; one = one.next) if (one.next === pane) one.next = pane.next;
    pane.next = null;
    pane.start = Number.NaN;
    pane.end = Number.NaN;
    this.#unused.push(pane);
  }

  /** An event of a class has come: windows are opened that it opens, and those take it that do not leave it to the pane. */
  openAll(pane: TrendPane, at: number, order: number): void {
    pane.unopened[at] = 0;
    for (const stream of this.form.classes[at]?.opening ?? []) {
      if (pane.windows[stream] === null) this.kernels[stream]?.open(pane, order);
    }
  }

  stir(pane: TrendPane, at: number, order: number): void {
    const loud = pane.loud[at] as WindowList;
    let kept = 0;
    for (let i = 0; i < loud.size; i++) {
      const window = loud.windows[i] as TrendWindow;
      if (window.lazy >= 0) window.settle();
      if (window.kernel.takeInBurst(at, window, order)) loud.windows[kept++] = window;
      else {
        window.lazy = at;
        window.done = pane.bursts[at] as number;
      }
    }
    loud.size = kept;
  }

  /** The window has been opened: it wants to hear of every event of these classes. */
  entered(window: TrendWindow, classes: readonly number[]): void {
    for (const at of classes) (window.pane.loud[at] as WindowList).add(window);
  }

  /** The window is that of a stream. */
  occupy(window: TrendWindow, position: number): void {
    const { pane } = window;
    invariant(pane.windows[position] === null, 'a stream has one window in a pane');
    pane.windows[position] = window;
    pane.open++;
  }

  /** The window has closed for a stream. */
  leave(window: TrendWindow, position: number, classes: readonly number[]): void {
    const { pane } = window;
    pane.windows[position] = null;
    pane.open--;
    window.left--;
    if (window.left === 0) {
      for (const at of classes) if (at !== window.lazy) (pane.loud[at] as WindowList).remove(window);
      window.lazy = -1;
    }
    if (pane.open === 0) this.release(pane);
  }

  /** The streams at these positions, which count the same trends. */
  equalsOf(positions: readonly number[]): EqualTrends {
    const first = positions[0] as number;
    let equals = this.#equals[first];
    if (equals === undefined) {
      equals = { kernels: positions.map((position) => this.kernels[position] as TrendStream), apart: 0 };
      this.#equals[first] = equals;
    }
    return equals;
  }
}
