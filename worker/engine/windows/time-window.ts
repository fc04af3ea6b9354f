import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { Pictures, type Piece } from '../state/pictures.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import { plus, wholeSteps } from '../time/instants.ts';
import type { WindowView } from '../trace/views.ts';
import type { Sample } from './aggregation.ts';
import { EarlyResults } from './early-results.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type TimeWindowPlan = Extract<WindowPlan, { kind: 'time' }>;

interface OpenWindow extends Piece {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Arrival number of the first event: windows that end together close in this order. */
  readonly rank: number;
  readonly content: WindowContent;
  isOpen: boolean;
}

/**
 * Tumbling and hopping windows `[start, end)`, aligned to the epoch or to a partition's first event. A window closes when
 * the watermark reaches `end + allowed lateness`; until then every event that belongs to it takes part, and an interim
 * result comes at each multiple of `early` after its start.
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
  readonly #pictures = new Pictures<OpenWindow>((window) => this.#saveWindow(window));
  readonly #closings = new DeadlineQueue<OpenWindow>();
  readonly #early: EarlyResults<OpenWindow>;
  readonly #expiry: Expiry;
  #arrivals = 0;

  constructor(plan: WindowOperatorPlan, window: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment);
    this.#latenessMs = environment.stream.time.allowedLatenessMs;
    this.#early = new EarlyResults(window.earlyMs);
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
    for (let start = this.#lastStart(key, row.time); this.#endOf(start) > row.time; start = plus(start, -this.#plan.slideMs)) {
      if (this.#closesAt(this.#endOf(start)) <= watermark) isLate = true;
      else this.#take(key, start, row, sample);
    }
    if (isLate) this.#environment.late(row);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return Math.min(this.#closings.next(), this.#early.next(), this.#expiry.deadline());
  }

  advance(watermark: number): void {
    for (let window = this.#closings.popDue(watermark); window; window = this.#closings.popDue(watermark)) {
      if (window.isOpen) this.#close(window);
    }
    for (const key of this.#expiry.expired(watermark)) this.#drop(key);
    for (let window = this.#early.popDue(watermark); window; window = this.#early.popDue(watermark)) {
      this.#contents.emit(window.content, this.#frame(window, watermark, false));
    }
  }

  /** Start of the last window that holds `time`. */
  #lastStart(key: string, time: number): number {
    const { slideMs, offsetMs, align } = this.#plan;
    let origin = offsetMs;
    if (align === 'first') {
      origin = this.#origins.get(key) ?? time;
      this.#origins.set(key, origin);
    }
    return plus(wholeSteps(plus(time, -origin), slideMs) * slideMs, origin);
  }

  #endOf(start: number): number {
    return plus(start, this.#plan.sizeMs);
  }

  #closesAt(end: number): number {
    return plus(end, this.#latenessMs);
  }

  #take(key: string, start: number, row: Row, sample: Sample | null): void {
    const window = this.#windows.get(key)?.get(start);
    if (window !== undefined) {
      this.#pictures.beforeChange(window);
      this.#contents.add(window.content, row, this.#arrivals, sample);
      return;
    }
    const content = this.#contents.begin(row, this.#arrivals, sample);
    const picture = this.#pictures.taken;
    const begun = { key, start, end: this.#endOf(start), rank: this.#arrivals, content, isOpen: true, picture };
    this.#add(begun);
    this.#early.watch(begun, this.#environment.watermark());
  }

  #add(window: OpenWindow): void {
    const windows = this.#windows.get(window.key);
    if (windows === undefined) this.#windows.set(window.key, new Map([[window.start, window]]));
    else windows.set(window.start, window);
    this.#closings.push(this.#closesAt(window.end), window.rank, window);
  }

  #close(window: OpenWindow): void {
    this.#forget(window);
    if (this.#expiry.isGone(window.key, this.#closesAt(window.end))) return;
    this.#contents.emit(window.content, this.#frame(window, plus(window.end, -1), true));
  }

  #frame({ start, end }: OpenWindow, time: number, isFinal: boolean): WindowFrame {
    return { time, start, end, isFinal, lengthMs: this.#plan.sizeMs };
  }

  openWindows(): readonly WindowView[] {
    const open = [...this.#windows.values()].flatMap((windows) => [...windows.values()]);
    return open.map((window) => {
      const { content, start, end } = window;
      const soFar = this.#contents.soFar(content, this.#frame(window, plus(end, -1), true));
      return { last: content.last, count: content.count, start, end, closesAt: this.#closesAt(end), missing: null, soFar };
    });
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
    return this.capture()();
  }

  capture(): () => Value {
    const open: OpenWindow[] = [];
    for (const windows of this.#windows.values()) for (const window of windows.values()) open.push(window);
    const early = this.#early.isUsed ? open.map((window) => this.#early.save(window)) : [];
    const [arrivals, origins, expiry] = [this.#arrivals, new Map(this.#origins), this.#expiry.save()];
    const saved = this.#pictures.take(open);
    return () => [arrivals, saved().map((window, at) => [...(window as ValueArray), early[at] ?? null]), origins, expiry];
  }

  #saveWindow({ key, start, rank, content }: OpenWindow): Value {
    return [key, start, rank, this.#contents.save(content)];
  }

  load(saved: Value): void {
    const [arrivals, open, origins, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of open as ValueArray) this.#loadWindow(one as ValueArray);
    for (const [key, origin] of origins as ReadonlyMap<string, number>) this.#origins.set(key, origin);
    this.#expiry.load(expiry as Value);
  }

  #loadWindow([key, start, rank, content, early]: ValueArray): void {
    const window: OpenWindow = {
      key: key as string,
      start: start as number,
      end: this.#endOf(start as number),
      rank: rank as number,
      content: this.#contents.load(content as Value),
      isOpen: true,
      picture: this.#pictures.taken,
    };
    this.#add(window);
    this.#early.load(window, early as Value);
  }
}
