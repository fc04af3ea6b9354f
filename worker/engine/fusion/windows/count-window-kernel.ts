import { invariant } from '../../../../shared/errors/error.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { WindowOperatorPlan, WindowPlan } from '../../../../shared/language/plan/plan.ts';
import { evaluationFailure } from '../../evaluate/failure.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { anyValue, flag, list, mapOf, number, record, stateOf, text } from '../../state/codec.ts';
import type { WindowView } from '../../trace/views.ts';
import { savedContent } from '../../windows/window-content.ts';
import type { WindowStore } from './call-forms.ts';
import { ContentKernel, type WholeWindows } from './content-kernel.ts';
import type { Intake } from './intake.ts';
import { slotsByOrder } from './keyed-slots.ts';
import type { SlotField } from './slot-fields.ts';
import type { Given } from './whole-rows.ts';

export type CountWindowPlan = Extract<WindowPlan, { kind: 'count' }>;

/** `held`: by key; `since`: events since the last result, and whether there was one, where windows overlap. */
const savedState = stateOf({
  name: 'count window',
  version: 1,
  members: {
    arrivals: number,
    held: list(record({ key: text, content: anyValue, since: number, hasGiven: flag })),
    touched: mapOf(number),
  },
});

/**
 * Windows of n events by arrival. Tumbling ones start afresh after each result; sliding ones, whose rows come whole, emit each `slide`
 * events once n are held. At the end of input tumbling ones close with what they hold, by last event. The bounds of a window are the
 * lowest and the highest time of its events.
 */
export class CountWindowKernel extends ContentKernel {
  static readonly wholeFields: { readonly hot: readonly SlotField[]; readonly cold: readonly SlotField[] } = {
    hot: ['minTime', 'maxTime', 'since', 'hasGiven'],
    cold: ['firstOrder', 'lastOrder'],
  };
  readonly #operator: WindowOperatorPlan;
  readonly #plan: CountWindowPlan;
  /** Slot of the window that is full of a row some value of which was refused; -1 = there is none. */
  full = -1;
  /** Slots that the end of input closes and that have not been handed on yet, the last one first. */
  #ending: number[] = [];

  constructor(form: Intake | WholeWindows, operator: WindowOperatorPlan, next: Next, environment: OperatorEnvironment) {
    super(form, next, environment);
    const { window } = operator;
    invariant(window.kind === 'count', 'these are windows of counts');
    this.#operator = operator;
    this.#plan = window;
    if (window.slide === null && !this.isNumberedByEvents) environment.completes?.(0, Number.NaN);
  }

  /** What an aggregate threw that refused a value, unless another has before. @throws what is no evaluation failure */
  firstRefused(first: EvaluationError | undefined, thrown: unknown): EvaluationError {
    const failure = evaluationFailure(thrown);
    return first ?? failure;
  }

  override refused(failure: EvaluationError, row: Row): void {
    this.environment.fail(failure, row, this.#operator);
    const slot = this.full;
    this.full = -1;
    if (slot >= 0) this.close(slot);
  }

  protected override takeWhole(slot: number, { row, order, sample: given }: Given, whole: WholeWindows): void {
    const held = this.at(slot, 'count') === 0 ? [] : [whole.at(slot)];
    const sample = whole.contents.taken(given, row, held, this.at(slot, 'count') === this.#plan.size);
    if (held.length === 0) {
      this.hold(slot, whole.contents.begin(row, order, sample), whole);
      this.empty--;
      this.#count(slot, 1, 0);
    } else {
      const content = whole.beforeChange(slot);
      if (content.count === this.#plan.size) whole.contents.dropOldest(content);
      whole.contents.add(content, row, order, sample);
      this.note(slot, content);
      this.#count(slot, this.at(slot, 'since') + 1, this.at(slot, 'hasGiven'));
    }
    if (this.at(slot, 'count') === this.#plan.size) this.#full(slot, whole);
  }

  #count(slot: number, since: number, hasGiven: number): void {
    this.put(slot, 'since', since);
    this.put(slot, 'hasGiven', hasGiven);
  }

  #full(slot: number, whole: WholeWindows): void {
    const { slide } = this.#plan;
    if (slide === null) {
      this.close(slot);
      return;
    }
    if (this.at(slot, 'hasGiven') === 1 && this.at(slot, 'since') < slide) return;
    this.#count(slot, 0, 1);
    const content = whole.at(slot);
    whole.contents.measure(content);
    this.note(slot, content);
    whole.contents.emit(content, this.frameOf(slot));
  }

  frameOf(slot: number): WindowFrame {
    const [start, end] = [this.at(slot, 'minTime'), this.at(slot, 'maxTime')];
    return { time: this.whole?.at(slot).last.time ?? end, start, end, isFinal: true, lengthMs: end - start };
  }

  protected closingOf(slot: number): Pick<WindowView, 'end' | 'closesAt' | 'missing'> {
    const { size, slide } = this.#plan;
    const isSliding = slide !== null && this.at(slot, 'hasGiven') === 1;
    return { end: null, closesAt: null, missing: isSliding ? slide - this.at(slot, 'since') : size - this.at(slot, 'count') };
  }

  advance(watermark: number): void {
    if (watermark === Infinity) this.#end();
    else this.expire(watermark);
    this.due = this.nextExpiry;
  }

  /** Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  #end(): void {
    if (this.#plan.slide !== null) for (const slot of this.open()) this.closed(slot);
    if (this.#ending.length === 0) this.#ending = slotsByOrder(this.open(), (slot) => this.at(slot, 'lastOrder')).reverse();
    for (let slot = this.#ending.pop(); slot !== undefined; slot = this.#ending.pop()) {
      this.environment.completes?.(0, this.at(slot, 'lastOrder'));
      this.close(slot);
    }
  }

  protected saveFrom(store: WindowStore): Value {
    const isCounted = this.layout.fields.has('since');
    const held = this.open(store).map((slot) => {
      const since = this.at(slot, isCounted ? 'since' : 'count', store);
      const hasGiven = isCounted && this.at(slot, 'hasGiven', store) === 1;
      return { key: this.keyText(slot, store), content: this.saveContent(slot, store), since, hasGiven };
    });
    return savedState.save({ arrivals: store.arrivals, held, touched: this.saveTouched(store) });
  }

  load(saved: Value): void {
    const { arrivals, held, touched } = savedState.load(saved);
    this.counted = arrivals;
    for (const { key, content, since, hasGiven } of held) {
      const loaded = savedContent.load(content);
      const slot = this.slotOfSaved(key, loaded.last);
      this.loadContent(slot, loaded);
      this.empty--;
      if (this.whole !== null) this.#count(slot, since, hasGiven ? 1 : 0);
    }
    this.loadTouched(touched);
  }
}
