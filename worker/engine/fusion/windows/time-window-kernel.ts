import type { Value } from '../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import { anyValue, list, mapOf, number, orElse, record, stateOf, text } from '../../state/codec.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import type { WindowView } from '../../trace/views.ts';
import { type SavedContent, savedContent } from '../../windows/window-content.ts';
import type { WindowStore } from './call-forms.ts';
import { ChainKernel, LOOKED_THROUGH_MAX } from './chain-kernel.ts';
import type { WholeWindows } from './content-kernel.ts';
import type { Intake } from './intake.ts';
import { slotsByOrder } from './keyed-slots.ts';
import type { SlotField } from './slot-fields.ts';
import { TimeGrid, type TimeWindowPlan } from './time-grid.ts';
import type { Given } from './whole-rows.ts';

/** The windows that begin, and so end, together: they close one after the other. */
interface Pane {
  readonly start: number;
  readonly closesAt: number;
  /** In order of their first events, which `ranks` are the numbers of. */
  readonly slots: number[];
  readonly ranks: number[];
  /** How many have closed. */
  closed: number;
}

/** `early`: of its next result, where there are early ones. `origins`: where the windows of a key begin, if not at the epoch. */
const savedState = stateOf({
  name: 'time window',
  version: 1,
  members: {
    arrivals: number,
    open: list(record({ key: text, start: number, firstOrder: number, content: anyValue, early: orElse(anyValue, () => null) })),
    origins: mapOf(number),
    touched: mapOf(number),
  },
});

/**
 * Windows `[start, end)` of one length, aligned to the epoch or to a key's first event. One closes when the watermark reaches `end +
 * allowed lateness`; until then every event that belongs to it takes part. Those that overlap have their rows whole. A key's slot holds one of its open windows; others, of rows that came out of order, stand behind it in a
 * chain. That slot stays the key's, empty, when its window has closed.
 */
export class TimeWindowKernel extends ChainKernel {
  static readonly wholeFields: { readonly hot: readonly SlotField[]; readonly cold: readonly SlotField[] } = {
    hot: ['start', 'end'],
    cold: ['firstOrder', 'next', 'before', 'owner', 'origin'],
  };
  readonly #grid: TimeGrid;
  /** How many windows hold an event, at most. */
  readonly #overlapping: number;
  readonly #keepsOrigins: boolean;
  readonly #panes = new Map<number, Pane>();
  readonly #closings = new DeadlineQueue<Pane>();
  readonly #startAt: number;
  readonly #nextAt: number;
  /** The pane of the last window that began: the next one is often of the same. */
  #newest: Pane | null = null;

  constructor(form: Intake | WholeWindows, plan: TimeWindowPlan, next: Next, environment: OperatorEnvironment) {
    super(form, plan.earlyMs, next, environment);
    this.#grid = new TimeGrid(plan, environment.stream.time.allowedLatenessMs);
    this.#overlapping = Math.ceil(plan.sizeMs / plan.slideMs);
    this.#keepsOrigins = plan.align === 'first';
    this.#startAt = form.fields.at('start');
    this.#nextAt = form.fields.at('next');
    if (!this.isNumberedByEvents) environment.completes?.(0, Number.NaN);
  }

  override begin(...keys: Value[]): number {
    const slot = super.begin(...keys);
    this.put(slot, 'origin', Number.NaN);
    return slot;
  }

  /** Where windows are aligned to a key's first event, that is to be remembered. */
  protected override get mayForget(): boolean {
    return super.mayForget && !this.#keepsOrigins;
  }

  /** The key's window that holds `time`: open, or about to be filled. -1 when it has closed. */
  windowAt(owner: number, time: number): number {
    const start = this.#startFor(owner, time);
    const open = this.#openAt(owner, start);
    if (open >= 0) return open;
    if (this.#grid.closesAt(start) <= this.environment.watermark()) return -1;
    return this.#prepare(this.unused(owner), start);
  }

  /** The key's open window that begins then; -1 = none. */
  #openAt(owner: number, start: number): number {
    const ordered = this.orderedOf(owner);
    if (ordered !== undefined) return ordered.startingAt(start);
    let looked = 0;
    for (let slot = owner; slot >= 0; slot = this.behind(slot)) {
      if (++looked > LOOKED_THROUGH_MAX) return this.keepOrder(owner).startingAt(start);
      if (this.at(slot, 'count') > 0 && this.at(slot, 'start') === start) return slot;
    }
    return -1;
  }

  /** Into all windows of the key that hold its time and are open. */
  protected override takeWhole(owner: number, given: Given, whole: WholeWindows): void {
    const { row } = given;
    const { time } = row;
    const watermark = this.environment.watermark();
    const openAt = this.#overlaps && this.orderedOf(owner) === undefined ? this.#allOpen(owner) : null;
    let isLate = false;
    const grid = this.#grid;
    const windows: { readonly start: number; readonly slot: number }[] = [];
    for (let start = this.#startFor(owner, time); grid.endOf(start) > time; start = grid.before(start)) {
      if (grid.closesAt(start) <= watermark) isLate = true;
      else windows.push({ start, slot: openAt === null ? this.#openAt(owner, start) : (openAt.get(start) ?? -1) });
    }
    if (windows.length > 0) this.#takeInto(windows, owner, given, whole);
    if (isLate) this.late(row);
  }

  /** All windows take the event, or none does. */
  #takeInto(
    windows: readonly { readonly start: number; readonly slot: number }[],
    owner: number,
    { row, order, sample: given }: Given,
    whole: WholeWindows,
  ): void {
    const held = windows.flatMap(({ slot }) => (slot < 0 ? [] : [whole.at(slot)]));
    const sample = whole.contents.taken(given, row, held);
    for (const { start, slot } of windows) {
      if (slot < 0) this.#beginWhole(owner, start, { row, order, sample }, whole);
      else this.#addWhole(slot, { row, order, sample }, whole);
    }
  }

  get #overlaps(): boolean {
    return this.#overlapping > 1;
  }

  /** By start. */
  #allOpen(owner: number): ReadonlyMap<number, number> {
    const open = new Map<number, number>();
    const { slots } = this;
    for (let slot = owner; slot >= 0; slot = slots.get(slot, this.#nextAt) - 1) {
      if (slots.get(slot, 0) > 0) open.set(slots.get(slot, this.#startAt), slot);
    }
    if (open.size > LOOKED_THROUGH_MAX * this.#overlapping) this.keepOrder(owner);
    return open;
  }

  #beginWhole(owner: number, start: number, { row, order, sample }: Given, whole: WholeWindows): void {
    const content = whole.contents.begin(row, order, sample);
    const slot = this.#prepare(this.unusedOrMore(owner), start);
    this.hold(slot, content, whole);
    this.opened(slot);
    this.watchEarly(slot);
  }

  #addWhole(slot: number, { row, order, sample }: Given, whole: WholeWindows): void {
    const content = whole.beforeChange(slot);
    whole.contents.add(content, row, order, sample);
    this.slots.set(slot, 0, content.count);
  }

  frameOf(slot: number): WindowFrame {
    return this.#grid.frameOf(this.at(slot, 'start'));
  }

  protected closingOf(slot: number): Pick<WindowView, 'end' | 'closesAt' | 'missing'> {
    return { end: this.at(slot, 'end'), closesAt: this.#grid.closesAt(this.at(slot, 'start')), missing: null };
  }

  #prepare(slot: number, start: number): number {
    this.put(slot, 'start', start);
    this.put(slot, 'end', this.#grid.endOf(start));
    return slot;
  }

  protected startOf(slot: number): number {
    return this.at(slot, 'start');
  }

  #startFor(owner: number, time: number): number {
    if (!this.#keepsOrigins) return this.#grid.lastStart(time);
    const origin = this.#grid.originOf(this.at(owner, 'origin'), time);
    this.put(owner, 'origin', origin);
    return this.#grid.lastStart(time, origin);
  }

  override opened(slot: number): void {
    super.opened(slot);
    const start = this.at(slot, 'start');
    let pane = this.#newest;
    if (pane?.start !== start) {
      pane = this.#paneAt(start);
      this.#newest = pane;
    }
    pane.slots.push(slot);
    pane.ranks.push(this.at(slot, 'firstOrder'));
  }

  #paneAt(start: number): Pane {
    let pane = this.#panes.get(start);
    if (pane === undefined) {
      pane = { start, closesAt: this.#grid.closesAt(start), slots: [], ranks: [], closed: 0 };
      this.#panes.set(start, pane);
      this.#closings.push(pane.closesAt, 0, pane);
      this.due = Math.min(this.due, this.#closings.next());
    }
    return pane;
  }

  /** Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  protected closeDue(watermark: number): void {
    for (let pane = this.#closings.popDue(watermark); pane !== undefined; pane = this.#closings.popDue(watermark)) {
      this.#forgetPane(pane);
      try {
        this.#closeAll(pane);
      } finally {
        if (pane.closed < pane.slots.length) this.#closings.push(pane.closesAt, 0, pane);
      }
    }
  }

  protected nextClosing(): number {
    return this.#closings.next();
  }

  #forgetPane(pane: Pane): void {
    this.#panes.delete(pane.start);
    if (this.#newest === pane) this.#newest = null;
  }

  #closeAll(pane: Pane): void {
    while (pane.closed < pane.slots.length) {
      const at = pane.closed++;
      const slot = pane.slots[at] as number;
      const isOpen = this.at(slot, 'count') > 0 && this.at(slot, 'firstOrder') === pane.ranks[at];
      if (!isOpen) continue;
      if (this.layout.expireMs !== null && this.isGone(this.at(slot, 'owner'), pane.closesAt)) this.closed(slot);
      else {
        this.environment.completes?.(pane.closesAt, pane.ranks[at] as number);
        this.close(slot);
      }
    }
  }

  protected override drop(owner: number): void {
    super.drop(owner);
    this.put(owner, 'origin', Number.NaN);
  }

  protected saveFrom(store: WindowStore): Value {
    const open = this.open(store).map((slot) => {
      const at = (field: 'start' | 'firstOrder'): number => this.at(slot, field, store);
      const [content, early] = [this.saveContent(slot, store), store.early?.get(slot) ?? null];
      return { key: this.keyText(slot, store), start: at('start'), firstOrder: at('firstOrder'), content, early };
    });
    const origins = this.#keepsOrigins ? this.saveByKey('origin', Number.NaN, store) : new Map<string, number>();
    return savedState.save({ arrivals: store.arrivals, open, origins, touched: this.saveTouched(store) });
  }

  load(saved: Value): void {
    const { arrivals, open, origins, touched } = savedState.load(saved);
    const slots = open.map(({ key, start, content }) => this.#loadWindow(key, start, savedContent.load(content)));
    for (const slot of this.#byFirst(slots)) this.opened(slot);
    open.forEach(({ early }, at) => void this.loadEarly(slots[at] as number, early));
    this.counted = arrivals;
    this.loadByKey('origin', origins);
    this.loadTouched(touched);
  }

  /** Windows that overlap may begin with the same event. */
  #byFirst(slots: readonly number[]): readonly number[] {
    return this.#overlaps ? slots.toSorted((a, b) => this.rankAt(a) - this.rankAt(b)) : slotsByOrder(slots, (slot) => this.rankAt(slot));
  }

  #loadWindow(key: string, start: number, content: SavedContent): number {
    const slot = this.unusedOrMore(this.slotOfSaved(key, content.last));
    this.loadContent(slot, content);
    return this.#prepare(slot, start);
  }
}
