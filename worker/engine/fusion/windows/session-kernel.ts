import type { Value } from '../../../../shared/events/value.ts';
import type { AggregateCall, AggregatePlan, WindowPlan } from '../../../../shared/language/plan/plan.ts';
import type { Next, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import { anyValue, list, mapOf, number, orNull, record, stateOf, text } from '../../state/codec.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter, plus } from '../../time/instants.ts';
import type { WindowView } from '../../trace/views.ts';
import { descriptorOf } from '../../windows/aggregate-call.ts';
import { savedContent, type WindowContent } from '../../windows/window-content.ts';
import type { CallForm, WindowStore } from './call-forms.ts';
import { ChainKernel, LOOKED_THROUGH_MAX } from './chain-kernel.ts';
import type { WholeWindows } from './content-kernel.ts';
import type { Intake } from './intake.ts';
import type { OrderedSlots } from './ordered-slots.ts';
import type { SlotField } from './slot-fields.ts';
import type { Given } from './whole-rows.ts';

export type SessionWindowPlan = Extract<WindowPlan, { kind: 'session' }>;

/** A session in the line of those that close, at a time at or before that of its end. */
interface Waiting {
  readonly slot: number;
  /** Number of its first event, by which it is known again. */
  readonly rank: number;
  readonly at: number;
}

/** `closed`: the end of the last closed session of each key. `open`: in order of their first events, as are the early results. */
const savedState = stateOf({
  name: 'session',
  version: 1,
  members: {
    arrivals: number,
    closed: mapOf(number),
    open: list(record({ key: text, content: anyValue })),
    early: orNull(list(anyValue)),
    touched: mapOf(number),
  },
});

/** Sessions. Of a key's open sessions, whose events are more than a gap apart, there is mostly one. */
export class SessionKernel extends ChainKernel {
  static readonly wholeFields: { readonly hot: readonly SlotField[]; readonly cold: readonly SlotField[] } = {
    hot: ['minTime', 'maxTime'],
    cold: ['firstOrder', 'next', 'before', 'owner', 'closedLast'],
  };
  /** The session that the row which is being taken in joins with the one that takes it; -1 = none. */
  joining = -1;
  readonly #aggregate: AggregatePlan | null;
  readonly #gapMs: number;
  readonly #graceMs: number;
  readonly #closings = new DeadlineQueue<Waiting>();
  /** Highest watermark seen. */
  #watermark = -Infinity;
  /** Watermark of the last sweep. */
  #sweptAt = -Infinity;

  constructor(
    form: Intake | WholeWindows,
    aggregate: AggregatePlan | null,
    plan: SessionWindowPlan,
    next: Next,
    environment: OperatorEnvironment,
  ) {
    super(form, plan.earlyMs, next, environment);
    const { gapMs } = plan;
    this.#aggregate = aggregate;
    this.#gapMs = gapMs;
    this.#graceMs = gapMs + environment.stream.time.allowedLatenessMs;
    if (!this.isNumberedByEvents) environment.completes?.(0, Number.NaN);
  }

  override begin(...keys: Value[]): number {
    const slot = super.begin(...keys);
    this.put(slot, 'closedLast', -Infinity);
    return slot;
  }

  /** What has closed no longer matters when an event near it would be late whatever is open. */
  protected override canRelease(slot: number): boolean {
    const forgottenAt = plus(this.at(slot, 'closedLast'), this.#rememberedMs);
    return super.canRelease(slot) && forgottenAt < this.#watermark;
  }

  /** How long what has closed is remembered. */
  get #rememberedMs(): number {
    return 2 * this.#gapMs + this.#graceMs;
  }

  /** Also when a good part of what had to be remembered no longer has to: after a rush of keys few new ones may come. */
  protected override get isWorthSweeping(): boolean {
    return super.isWorthSweeping || this.#watermark > this.#sweptAt + this.#rememberedMs / 2;
  }

  protected override sweep(): void {
    super.sweep();
    this.#sweptAt = this.#watermark;
  }

  /** The key's session that an event at `time` goes to: open, or about to be filled. -1 when it is late. */
  sessionAt(owner: number, time: number): number {
    this.joining = -1;
    if (time <= plus(this.at(owner, 'closedLast'), this.#gapMs)) return -1;
    let found = this.#findOpen(owner, time);
    if (found < 0) return plus(time, this.#graceMs) < this.environment.watermark() ? -1 : this.unused(owner);
    if (this.joining < 0 || this.at(found, 'firstOrder') < this.at(this.joining, 'firstOrder')) return found;
    const later = found;
    found = this.joining;
    this.joining = later;
    return found;
  }

  /** An open session of the key that an event at `time` touches; the one before or behind it, if it touches that too, is `joining`. */
  #findOpen(owner: number, time: number): number {
    const ordered = this.orderedOf(owner);
    if (ordered !== undefined) return this.#findAmong(ordered, time);
    let found = -1;
    let looked = 0;
    for (let slot = owner; slot >= 0; slot = this.behind(slot)) {
      if (++looked > LOOKED_THROUGH_MAX) return this.#findAmong(this.keepOrder(owner), time);
      if (!this.#touches(slot, time)) continue;
      if (found < 0) found = slot;
      else this.joining = slot;
    }
    return found;
  }

  /** Sessions lie more than a gap apart: only those on either side of the time can be near it. */
  #findAmong(ordered: OrderedSlots, time: number): number {
    const behind = ordered.countTo(time);
    const [found = -1, joining = -1] = [ordered.at(behind - 1), ordered.at(behind)].filter(
      (slot) => slot >= 0 && this.#touches(slot, time),
    );
    this.joining = joining;
    return found;
  }

  #touches(slot: number, time: number): boolean {
    if (this.at(slot, 'count') <= 0) return false;
    return plus(time, this.#gapMs) >= this.at(slot, 'minTime') && time <= plus(this.at(slot, 'maxTime'), this.#gapMs);
  }

  override opened(slot: number): void {
    super.opened(slot);
    this.#enqueue(slot);
  }

  protected startOf(slot: number): number {
    return this.at(slot, 'minTime');
  }

  #enqueue(slot: number): void {
    const [at, rank] = [this.#closesAt(slot), this.at(slot, 'firstOrder')];
    this.#closings.push(at, rank, { slot, rank, at });
    this.due = Math.min(this.due, at);
  }

  #closesAt(slot: number): number {
    return justAfter(plus(this.at(slot, 'maxTime'), this.#graceMs));
  }

  /** Two sessions become one: that of the earlier first event. */
  join(first: number): void {
    const second = this.joining;
    const [a, b] = [this.#read(first), this.#read(second)];
    const count = a('count') + b('count');
    this.loadCalls(first, this.#joined(first, second));
    this.put(first, 'count', count);
    if (b('lastOrder') > a('lastOrder')) this.#takeLast(first, second);
    this.put(first, 'minTime', Math.min(a('minTime'), b('minTime')));
    this.put(first, 'maxTime', Math.max(a('maxTime'), b('maxTime')));
    this.closed(second);
  }

  #read(slot: number): (field: SlotField) => number {
    return (field) => this.at(slot, field);
  }

  #takeLast(first: number, second: number): void {
    this.put(first, 'lastCause', this.at(second, 'lastCause'));
    if (this.intake.fields.has('lastOrder')) this.put(first, 'lastOrder', this.at(second, 'lastOrder'));
    if (this.intake.typeName === null) this.types[first] = this.types[second] as string;
  }

  /** Into the open session that it touches, the two that it joins, or one of its own. */
  protected override takeWhole(owner: number, { row, order, sample: given }: Given, whole: WholeWindows): void {
    const slot = this.sessionAt(owner, row.time);
    if (slot < 0) {
      this.late(row);
      return;
    }
    const held = [slot, this.joining].filter((one) => one >= 0 && this.at(one, 'count') > 0).map((one) => whole.at(one));
    if (held.length === 2) whole.contents.requireOne(held[0] as WindowContent, held[1] as WindowContent);
    const sample = whole.contents.taken(given, row, held);
    if (held.length === 0) {
      this.hold(slot, whole.contents.begin(row, order, sample), whole);
      this.opened(slot);
    } else {
      const content = whole.beforeChange(slot);
      whole.contents.add(content, row, order, sample);
      this.note(slot, content);
      if (this.joining >= 0) this.#joinWhole(slot, this.joining, whole);
    }
    this.watchEarly(slot);
  }

  #joinWhole(first: number, second: number, whole: WholeWindows): void {
    const content = whole.contents.merge(whole.beforeChange(first), whole.beforeChange(second));
    whole.put(first, content);
    this.note(first, content);
    this.closed(second);
  }

  frameOf(slot: number): WindowFrame {
    const [start, last] = [this.at(slot, 'minTime'), this.at(slot, 'maxTime')];
    const end = plus(last, this.#gapMs);
    return { time: plus(end, -1), start, end, isFinal: true, lengthMs: last - start };
  }

  protected closingOf(slot: number): Pick<WindowView, 'end' | 'closesAt' | 'missing'> {
    const last = this.at(slot, 'maxTime');
    return { end: plus(last, this.#gapMs), closesAt: plus(last, this.#graceMs), missing: null };
  }

  /** @throws EvaluationError when the values of the session in the slot and of the one that the row joins to it cannot be in one */
  requireOne(first: number): void {
    this.#joined(first, this.joining);
  }

  /** By way of the accumulators, which can join. Calls share numbers, so all are read before one is written. */
  #joined(first: number, second: number): Value[] {
    const { forms } = this.intake.columns;
    const calls = this.#aggregate?.calls ?? [];
    return calls.map((call, i) => {
      const form = forms[i] as CallForm;
      return joinedState(call, form.save(this, first), form.save(this, second));
    });
  }

  protected closeDue(watermark: number): void {
    this.#watermark = watermark;
    for (let one = this.#closings.popDue(watermark); one !== undefined; one = this.#closings.popDue(watermark)) this.#closeIfDue(one);
  }

  protected nextClosing(): number {
    return this.#closings.next();
  }

  /** A session that was prolonged since it was queued goes back in line. */
  #closeIfDue({ slot, rank, at }: Waiting): void {
    if (this.at(slot, 'count') <= 0 || this.at(slot, 'firstOrder') !== rank) return;
    if (this.#closesAt(slot) !== at) {
      this.#enqueue(slot);
      return;
    }
    const owner = this.at(slot, 'owner');
    this.put(owner, 'closedLast', Math.max(this.at(owner, 'closedLast'), this.at(slot, 'maxTime')));
    if (this.layout.expireMs !== null && this.isGone(owner, at)) this.closed(slot);
    else {
      this.environment.completes?.(at, rank);
      this.close(slot);
    }
  }

  protected override drop(owner: number): void {
    super.drop(owner);
    this.put(owner, 'closedLast', -Infinity);
  }

  protected saveFrom(store: WindowStore): Value {
    const closed = this.saveByKey('closedLast', -Infinity, store);
    const open = this.open(store).sort((a, b) => this.at(a, 'firstOrder', store) - this.at(b, 'firstOrder', store));
    const saved = open.map((slot) => ({ key: this.keyText(slot, store), content: this.saveContent(slot, store) }));
    const early = this.interim ? open.map((slot) => store.early?.get(slot) ?? null) : null;
    return savedState.save({ arrivals: store.arrivals, closed, open: saved, early, touched: this.saveTouched(store) });
  }

  load(saved: Value): void {
    const { arrivals, closed, open, early, touched } = savedState.load(saved);
    this.counted = arrivals;
    for (const [at, { key, content }] of open.entries()) {
      const loaded = savedContent.load(content);
      const slot = this.unusedOrMore(this.slotOfSaved(key, loaded.last));
      this.loadContent(slot, loaded);
      this.opened(slot);
      this.loadEarly(slot, early?.[at] ?? null);
    }
    this.loadByKey('closedLast', closed);
    this.loadTouched(touched);
  }
}

function joinedState(call: AggregateCall, one: Value, other: Value): Value {
  const descriptor = descriptorOf(call);
  const joined = descriptor.load(call.constants, one);
  joined.merge?.(descriptor.load(call.constants, other));
  return joined.save();
}
