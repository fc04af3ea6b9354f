import type { WindowPlan } from '../../../../shared/language/plan/plan.ts';
import type { WindowFrame } from '../../operators/operator.ts';
import { plus, wholeSteps } from '../../time/instants.ts';

export type TimeWindowPlan = Extract<WindowPlan, { kind: 'time' }>;

/** Where windows `[start, end)` of one length lie: one begins every `slideMs`, before and after an origin. Times are ms. */
export class TimeGrid {
  readonly #plan: TimeWindowPlan;
  readonly #latenessMs: number;

  /** `latenessMs`: how long a window stays open after its end. */
  constructor(plan: TimeWindowPlan, latenessMs: number) {
    this.#plan = plan;
    this.#latenessMs = latenessMs;
  }

  /** The origin of a key's windows, of which an event comes: fixed, or (`align: first`) the `known` one, NaN before its first event. */
  originOf(known: number, time: number): number {
    if (this.#plan.align !== 'first') return this.#plan.offsetMs;
    return Number.isNaN(known) ? time : known;
  }

  /** Start of the last window that holds `time`. */
  lastStart(time: number, origin = this.#plan.offsetMs): number {
    const { slideMs } = this.#plan;
    return plus(wholeSteps(plus(time, -origin), slideMs) * slideMs, origin);
  }

  /** Start of the first window that holds `time`. */
  firstStart(time: number, origin = this.#plan.offsetMs): number {
    return this.after(this.lastStart(plus(time, -this.#plan.sizeMs), origin));
  }

  /** Start of the window behind that which begins at `start`. */
  after(start: number): number {
    return plus(start, this.#plan.slideMs);
  }

  before(start: number): number {
    return plus(start, -this.#plan.slideMs);
  }

  endOf(start: number): number {
    return plus(start, this.#plan.sizeMs);
  }

  /** The watermark at which the window closes. */
  closesAt(start: number): number {
    return plus(this.endOf(start), this.#latenessMs);
  }

  frameOf(start: number): WindowFrame {
    const end = this.endOf(start);
    return { time: plus(end, -1), start, end, isFinal: true, lengthMs: this.#plan.sizeMs };
  }
}
