import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type TimeWindowPlan = Extract<WindowPlan, { kind: 'time' }>;

interface OpenWindow {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Arrival number of the first event: windows that end together close in this order. */
  readonly rank: number;
  readonly content: WindowContent;
  /** Latest time of this window's key when it was last touched; for expiry. */
  isOpen: boolean;
  /** Events seen at the last early result, and the number of early intervals passed. */
  earlyCount: number;
  earlyStep: number;
}

/**
 * Tumbling and hopping windows `[start, end)`, aligned to the epoch or to a partition's first event. A window closes when
 * the watermark reaches `end + allowed lateness`; until then every event that belongs to it takes part.
 */
export class TimeWindow implements Operator {
  readonly #plan: TimeWindowPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #contents: WindowContents;
  readonly #latenessMs: number;
  readonly #windows = new Map<string, Map<number, OpenWindow>>();
  /** `align: first`: time of each partition's first event. */
  readonly #origins = new Map<string, number>();
  readonly #closings = new DeadlineQueue<OpenWindow>();
  readonly #earlies = new DeadlineQueue<OpenWindow>();
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(plan: WindowOperatorPlan, window: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment);
    this.#latenessMs = environment.stream.time.allowedLatenessMs;
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#contents.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#drop(key);
    this.#expiry.touch(key, row.time);
    const watermark = this.#environment.watermark();
    let isLate = false;
    for (let start = this.#lastStart(key, row.time); start > row.time - this.#plan.sizeMs; start -= this.#plan.slideMs) {
      if (start + this.#plan.sizeMs + this.#latenessMs <= watermark) isLate = true;
      else this.#contents.add(this.#open(key, start, row, order).content, row, sample);
    }
    if (isLate) this.#environment.late(row);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#earlies.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let window = this.#closings.popDue(watermark); window; window = this.#closings.popDue(watermark)) {
      if (window.isOpen) this.#close(window);
    }
    for (let window = this.#earlies.popDue(watermark); window; window = this.#earlies.popDue(watermark)) {
      if (window.isOpen) this.#emitEarly(window, watermark);
    }
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
  }

  /** Start of the last window that holds `time`. */
  #lastStart(key: string, time: number): number {
    const { slideMs, offsetMs, align } = this.#plan;
    let origin = offsetMs;
    if (align === 'first') {
      origin = this.#origins.get(key) ?? time;
      this.#origins.set(key, origin);
    }
    return Math.floor((time - origin) / slideMs) * slideMs + origin;
  }

  #open(key: string, start: number, row: Row, rank: number): OpenWindow {
    let windows = this.#windows.get(key);
    if (windows === undefined) {
      windows = new Map();
      this.#windows.set(key, windows);
    }
    let window = windows.get(start);
    if (window === undefined) {
      const end = start + this.#plan.sizeMs;
      window = { key, start, end, rank, content: this.#contents.create(row), isOpen: true, earlyCount: 0, earlyStep: 0 };
      windows.set(start, window);
      this.#schedule(window);
    }
    return window;
  }

  #schedule(window: OpenWindow): void {
    this.#closings.push(window.end + this.#latenessMs, window.rank, window);
    this.#scheduleEarly(window);
  }

  #scheduleEarly(window: OpenWindow): void {
    const { earlyMs } = this.#plan;
    if (earlyMs === null) return;
    const at = window.start + (window.earlyStep + 1) * earlyMs;
    if (at < window.end) this.#earlies.push(at, window.rank, window);
  }

  #close(window: OpenWindow): void {
    this.#forget(window);
    if (this.#expiry.isGone(window.key, window.end + this.#latenessMs)) return;
    this.#contents.emit(window.content, this.#frame(window, window.end - 1, true));
  }

  /** One interim result for a jump of time, however many intervals it passed; none when nothing came since the last. */
  #emitEarly(window: OpenWindow, watermark: number): void {
    const at = Math.min(watermark, window.end);
    window.earlyStep = Math.floor((at - window.start) / (this.#plan.earlyMs as number));
    this.#scheduleEarly(window);
    if (watermark >= window.end || window.content.count === window.earlyCount) return;
    window.earlyCount = window.content.count;
    this.#contents.emit(window.content, this.#frame(window, watermark, false));
  }

  #frame(window: OpenWindow, time: number, isFinal: boolean) {
    return { time, start: window.start, end: window.end, isFinal, lengthMs: window.end - window.start };
  }

  #forget(window: OpenWindow): void {
    window.isOpen = false;
    const windows = this.#windows.get(window.key);
    windows?.delete(window.start);
    if (windows?.size === 0) this.#windows.delete(window.key);
  }

  #drop(key: string): void {
    for (const window of this.#windows.get(key)?.values() ?? []) window.isOpen = false;
    this.#windows.delete(key);
    this.#origins.delete(key);
  }

  save(): Value {
    const open = [...this.#windows.values()].flatMap((windows) => [...windows.values()]);
    return [
      this.#arrivals,
      open.map((w) => [w.key, w.start, w.rank, w.earlyCount, w.earlyStep, this.#contents.save(w.content)]),
      new Map(this.#origins),
      this.#expiry.save(),
    ];
  }

  load(saved: Value): void {
    const [arrivals, open, origins, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of open as ValueArray) this.#loadWindow(one as ValueArray);
    for (const [key, origin] of origins as ReadonlyMap<string, number>) this.#origins.set(key, origin);
    this.#expiry.load(expiry as Value);
  }

  #loadWindow([key, start, rank, earlyCount, earlyStep, content]: ValueArray): void {
    const window: OpenWindow = {
      key: key as string,
      start: start as number,
      end: (start as number) + this.#plan.sizeMs,
      rank: rank as number,
      content: this.#contents.load(content as Value),
      isOpen: true,
      earlyCount: earlyCount as number,
      earlyStep: earlyStep as number,
    };
    const windows = this.#windows.get(window.key) ?? new Map<number, OpenWindow>();
    windows.set(window.start, window);
    this.#windows.set(window.key, windows);
    this.#schedule(window);
  }
}
