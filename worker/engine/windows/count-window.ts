import type { Value, ValueArray } from '../../../shared/events/value.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../shared/language/plan/plan.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../operators/operator.ts';
import type { Row } from '../operators/row.ts';
import { Expiry } from '../state/expiry.ts';
import { Pictures, type Piece } from '../state/pictures.ts';
import { DeadlineQueue } from '../time/deadline-queue.ts';
import type { WindowView } from '../trace/views.ts';
import { type WindowContent, WindowContents } from './window-content.ts';

type CountWindowPlan = Extract<WindowPlan, { kind: 'count' }>;

interface Held extends Piece {
  readonly key: string;
  readonly content: WindowContent;
  /** Sliding: events since the last result, and whether there was one: it first emits when it is full. */
  since: number;
  hasEmitted: boolean;
}

/**
 * Windows of n events by arrival. Tumbling ones start afresh after each result; sliding ones emit each `slide` events once
 * n are held. At the end of input tumbling ones close with what they hold, by last event, then first. The bounds of a
 * window are the lowest and the highest time of its events.
 */
export class CountWindow implements Operator {
  readonly #plan: CountWindowPlan;
  readonly #environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #contents: WindowContents;
  readonly #held = new Map<string, Held>();
  readonly #pictures = new Pictures<Held>((held) => this.#saveHeld(held));
  readonly #expiry: Expiry;
  /** Windows that the end of input closes and that have not been handed on yet. */
  readonly #ending = new DeadlineQueue<WindowContent>();
  #arrivals = 0;

  constructor(plan: WindowOperatorPlan, window: CountWindowPlan, next: Next, environment: OperatorEnvironment) {
    this.#plan = window;
    this.#environment = environment;
    this.#next = next;
    this.#contents = new WindowContents(plan, next, environment, { takesOut: window.slide !== null });
    this.#expiry = new Expiry(environment.stream.partition.expireMs);
  }

  process(row: Row): void {
    const order = this.#arrivals + 1;
    const key = this.#environment.partition(row);
    const sample = this.#contents.sample(row, order);
    this.#arrivals = order;
    if (this.#expiry.isGone(key, row.time)) this.#held.delete(key);
    this.#expiry.touch(key, row.time);
    let held = this.#held.get(key);
    if (held === undefined) {
      const content = this.#contents.begin(row, order, sample);
      held = { key, content, since: 1, hasEmitted: false, picture: this.#pictures.taken };
      this.#held.set(key, held);
    } else {
      this.#pictures.beforeChange(held);
      if (held.content.count === this.#plan.size) this.#contents.dropOldest(held.content);
      this.#contents.add(held.content, row, order, sample);
      held.since++;
    }
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

  #full(key: string, held: Held): void {
    const { slide } = this.#plan;
    if (slide === null) this.#held.delete(key);
    else if (held.hasEmitted && held.since < slide) return;
    held.since = 0;
    held.hasEmitted = true;
    if (slide !== null) this.#contents.measure(held.content);
    this.#emit(held.content);
  }

  #emit(content: WindowContent): void {
    const { last, minTime, maxTime } = content;
    this.#contents.emit(content, { time: last.time, start: minTime, end: maxTime, isFinal: true, lengthMs: maxTime - minTime });
  }

  /** Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  #end(): void {
    if (this.#plan.slide === null)
      for (const { content } of this.#held.values()) this.#ending.push(content.lastOrder, content.firstOrder, content);
    this.#held.clear();
    for (let content = this.#ending.popDue(Infinity); content; content = this.#ending.popDue(Infinity)) this.#emit(content);
  }

  openWindows(): readonly WindowView[] {
    return [...this.#held.values()].map(({ content, since, hasEmitted }) => {
      const { last, count, minTime: start, maxTime } = content;
      const { size, slide } = this.#plan;
      const missing = slide !== null && hasEmitted ? slide - since : size - count;
      const frame = { time: last.time, start, end: maxTime, isFinal: true, lengthMs: maxTime - start };
      return { last, count, start, end: null, closesAt: null, missing, soFar: this.#contents.soFar(content, frame) };
    });
  }

  save(): Value {
    return this.capture()();
  }

  capture(): () => Value {
    const [arrivals, expiry] = [this.#arrivals, this.#expiry.save()];
    const held = this.#pictures.take([...this.#held.values()]);
    return () => [arrivals, held(), expiry];
  }

  #saveHeld({ key, content, since, hasEmitted }: Held): Value {
    return [key, this.#contents.save(content), since, hasEmitted];
  }

  load(saved: Value): void {
    const [arrivals, held, expiry] = saved as ValueArray;
    this.#arrivals = arrivals as number;
    for (const one of held as ValueArray) this.#loadHeld(one as ValueArray);
    this.#expiry.load(expiry as Value);
  }

  #loadHeld([key, content, since, hasEmitted]: ValueArray): void {
    this.#held.set(key as string, {
      key: key as string,
      content: this.#contents.load(content as Value),
      since: since as number,
      hasEmitted: hasEmitted as boolean,
      picture: this.#pictures.taken,
    });
  }
}
