import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type CountWindowPlan = Extract<WindowPlan, { kind: 'count' }>;

interface Held {
  readonly content: WindowContent;
  /** Events since the last result, and whether there was one: a sliding window first emits when it is full. */
  since: number;
  hasEmitted: boolean;
  /** Arrival number of the last event, and of the first. */
  lastOrder: number;
  readonly firstOrder: number;
}

/**
 * Windows of n events by arrival. Tumbling ones start afresh after each result; sliding ones emit each `slide` events once
 * n are held. At the end of input tumbling ones close with what they hold, by last event, then first.
 */
export class CountWindow implements Operator {
  readonly #plan: CountWindowPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #contents: WindowContents;
  readonly #held = new Map<string, Held>();
  readonly #expiry: Expiry;
  #arrivals = 0;
  #ending: Held[] | null = null;

  constructor(plan: WindowOperatorPlan, window: CountWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment, window.slide !== null);
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#contents.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#held.delete(key);
    this.#expiry.touch(key, row.time);
    const held = this.#hold(key, row, order);
    if (held.content.count === this.#plan.size) this.#contents.dropOldest(held.content);
    this.#contents.add(held.content, row, sample);
    held.since++;
    held.lastOrder = order;
    if (held.content.count === this.#plan.size) this.#full(key, held);
  }

  endWindow(frame: WindowFrame): void {
    this.#next.endWindow(frame);
  }

  deadline(): number {
    return this.#expiry.deadline();
  }

  advance(watermark: number): void {
    if (watermark === Infinity) this.#end();
    else for (const key of this.#expiry.expired(watermark)) this.#held.delete(key);
  }

  #hold(key: string, row: Row, order: number): Held {
    let held = this.#held.get(key);
    if (held === undefined) {
      held = { content: this.#contents.create(row), since: 0, hasEmitted: false, lastOrder: order, firstOrder: order };
      this.#held.set(key, held);
    }
    return held;
  }

  #full(key: string, held: Held): void {
    const { slide } = this.#plan;
    if (slide === null) this.#held.delete(key);
    else if (held.hasEmitted && held.since < slide) return;
    held.since = 0;
    held.hasEmitted = true;
    this.#emit(held.content);
  }

  #emit(content: WindowContent): void {
    const { minTime, maxTime } = this.#bounds(content);
    this.#contents.emit(content, { time: content.last.time, start: minTime, end: maxTime, isFinal: true, lengthMs: maxTime - minTime });
  }

  /** A sliding window has dropped events since it began, so its bounds are those of what it holds. */
  #bounds(content: WindowContent): { minTime: number; maxTime: number } {
    const held = content.rows ?? content.samples;
    if (this.#plan.slide === null || held === null) return content;
    const times = held.map((one) => one.time);
    return { minTime: Math.min(...times), maxTime: Math.max(...times) };
  }

  /** Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  #end(): void {
    this.#ending ??= [...this.#held.values()].sort((a, b) => a.lastOrder - b.lastOrder || a.firstOrder - b.firstOrder);
    this.#held.clear();
    if (this.#plan.slide !== null) return;
    for (let held = this.#ending.shift(); held; held = this.#ending.shift()) this.#emit(held.content);
  }

  save(): Value {
    const held = [...this.#held].map(([key, h]) => [key, this.#contents.save(h.content), h.since, h.hasEmitted, h.lastOrder, h.firstOrder]);
    return [this.#arrivals, held, this.#expiry.save()];
  }

  load(saved: Value): void {
    const [arrivals, held, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of held as ValueArray) {
      const [key, content, since, hasEmitted, lastOrder, firstOrder] = one as ValueArray;
      this.#held.set(key as string, {
        content: this.#contents.load(content as Value),
        since: since as number,
        hasEmitted: hasEmitted as boolean,
        lastOrder: lastOrder as number,
        firstOrder: firstOrder as number,
      });
    }
    this.#expiry.load(expiry as Value);
  }
}
