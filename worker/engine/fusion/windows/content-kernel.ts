import type { Value } from '../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { WindowView } from '../../trace/views.ts';
import type { SavedContent, WindowContent, WindowContents } from '../../windows/window-content.ts';
import { lastCause } from '../../windows/window-result.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import type { SlotField } from './slot-fields.ts';
import type { WholeRows } from './whole-rows.ts';
import { WindowKernel } from './window-kernel.ts';

export type WholeWindows = WholeRows<WindowContent, WindowContents>;

/** What a slot says of a content that it has, where it has a field for it. */
const NOTED = ['count', 'firstOrder', 'lastOrder', 'minTime', 'maxTime'] as const;
/** What a slot is told of a saved content, where it has a field for it. */
const LOADED = ['count', 'lastOrder', 'time', 'lastCause', 'minTime', 'maxTime', 'firstOrder', 'firstCause'] as const;

/** A window each of whose slots is one that is open. */
export abstract class ContentKernel extends WindowKernel<WindowContent, WholeWindows> {
  readonly #noted: readonly (readonly [field: (typeof NOTED)[number], at: number])[];
  readonly #loaded: readonly (typeof LOADED)[number][];
  #close: ((slot: number) => void) | null = null;

  constructor(form: Intake | WholeWindows, next: Next, environment: OperatorEnvironment) {
    super(form, next, environment);
    this.#noted = NOTED.filter((field) => form.fields.has(field)).map((field) => [field, form.fields.at(field)]);
    this.#loaded = LOADED.filter((field) => form.fields.has(field));
  }

  /** The window in a slot, where rows come whole, as it would close now. */
  abstract frameOf(slot: number): WindowFrame;
  /** When the window in the slot closes, or what it lacks. */
  protected abstract closingOf(slot: number): Pick<WindowView, 'end' | 'closesAt' | 'missing'>;

  /** `close` hands on the result of a slot and empties it. */
  override link(take: Parameters<WindowKernel<WindowContent>['link']>[0], close: (slot: number) => void): void {
    super.link(take);
    this.#close = close;
  }

  /** Hands on the result of the window in the slot, which is over. */
  protected close(slot: number): void {
    if (this.whole === null) {
      this.#close?.(slot);
      return;
    }
    const [content, frame] = [this.whole.at(slot), this.frameOf(slot)];
    this.closed(slot);
    this.whole.contents.emit(content, frame);
  }

  countAt(slot: number): number {
    return this.at(slot, 'count');
  }

  /** Number of the first event of the window, by which it is known again. */
  rankAt(slot: number): number {
    return this.at(slot, 'firstOrder');
  }

  /** In order of their first events. Only where rows come whole, as they do in a program that is explained. */
  openWindows(): readonly WindowView[] {
    const { whole } = this;
    if (whole === null) return [];
    const views = this.open().map((slot) => ({ rank: this.rankAt(slot), view: this.#viewOf(slot, whole) }));
    return views.sort((a, b) => a.rank - b.rank || a.view.start - b.view.start).map(({ view }) => view);
  }

  #viewOf(slot: number, whole: WholeWindows): WindowView {
    const [content, frame] = [whole.at(slot), this.frameOf(slot)];
    const { last, count } = content;
    return { last, count, start: frame.start, ...this.closingOf(slot), soFar: whole.contents.soFar(content, frame) };
  }

  /** The content of a window, as `WindowContents.save` has it. */
  protected saveContent(slot: number, store: WindowStore): Value {
    if (store.contents !== undefined) return store.contents.get(slot) as Value;
    const at = (field: SlotField): number => this.at(slot, field, store);
    const type = this.intake.typeName ?? (store.types[slot] as string);
    const last = this.saveLast(slot, { time: at('time'), cause: at('lastCause'), type }, store);
    const bounds = [at('lastOrder'), at('minTime'), at('maxTime')];
    // What `savedContent` would save: there may be very many of them.
    return [null, null, this.saveCalls(slot, store), at('count'), at('firstOrder'), at('firstCause'), last, ...bounds];
  }

  /** Puts a saved content into a slot. */
  protected loadContent(slot: number, saved: SavedContent): void {
    if (this.whole !== null) {
      this.hold(slot, this.whole.contents.load(saved), this.whole);
      return;
    }
    const { calls, last, count, firstOrder, firstCause, lastOrder, minTime, maxTime } = saved;
    this.types[slot] = last.type;
    const fields = { count, lastOrder, time: last.time, lastCause: lastCause(last), minTime, maxTime, firstOrder, firstCause };
    for (const field of this.#loaded) this.put(slot, field, fields[field]);
    this.loadCalls(slot, calls);
  }

  /** A content that the slot begins with, where rows come whole. */
  protected hold(slot: number, content: WindowContent, whole: WholeWindows): void {
    whole.put(slot, content);
    this.note(slot, content);
  }

  /** What the fields of the slot say of its content. */
  protected note(slot: number, content: WindowContent): void {
    for (const [field, at] of this.#noted) this.slots.set(slot, at, content[field]);
  }
}
