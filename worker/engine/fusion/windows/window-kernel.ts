import { InvariantError, invariant } from '../../../../shared/errors/error.ts';
import type { Value, ValueArray, ValueMap } from '../../../../shared/events/value.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter, plus } from '../../time/instants.ts';
import type { WindowView } from '../../trace/views.ts';
import { lastCause, type WindowContent } from '../../windows/window-content.ts';
import type { Kernel } from '../fused-runtime.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import { KeyedSlots } from './keyed-slots.ts';
import type { SlotField } from './slot-fields.ts';
import { type Given, WholeRows } from './whole-rows.ts';

/** Gives true when the row was late. */
type Take = (time: number, order: number, ...given: unknown[]) => unknown;
type Close = (slot: number) => void;

/** What a slot says of a content that it has, where it has a field for it. */
const NOTED = ['count', 'firstOrder', 'lastOrder', 'minTime', 'maxTime'] as const;

/**
 * A window, or a running aggregate. Either generated code takes rows into the slot of their key, or of its open window, and makes the
 * results, on numbers; or rows come whole, and each slot has a content of them. Both save the same, so one can take over from the other.
 */
export abstract class WindowKernel extends KeyedSlots implements Operator, Kernel {
  due = Infinity;
  /** Rows that came so far, where they are counted here. */
  counted = 0;
  /** Type of the newest row of each slot, where there are several. */
  readonly types: string[] = [];
  protected readonly environment: OperatorEnvironment;
  readonly next: Next;
  /** Null where generated code takes rows. */
  protected readonly whole: WholeRows | null;
  readonly #intake: Intake | null;
  readonly #noted: readonly (readonly [field: (typeof NOTED)[number], at: number])[];
  readonly #inputs: ((row: Row) => Value[]) | null;
  readonly #touchedAt: number;
  /** Where keys expire: every key once, at or before the time of its end. */
  readonly #expiring = new DeadlineQueue<number>();
  #take: Take | null = null;
  #close: Close | null = null;

  constructor(form: Intake | WholeRows, next: Next, environment: OperatorEnvironment) {
    super(form);
    this.whole = form instanceof WholeRows ? form : null;
    this.#intake = form instanceof WholeRows ? null : form;
    this.next = next;
    this.environment = environment;
    this.#inputs = this.#intake?.reader(environment) ?? null;
    this.#touchedAt = form.fields.at('touched');
    this.#noted = NOTED.filter((field) => form.fields.has(field)).map((field) => [field, form.fields.at(field)]);
  }

  abstract advance(watermark: number): void;
  abstract load(saved: Value): void;
  /** What the operator saves, of a store that may be a copy. */
  protected abstract saveFrom(store: WindowStore): Value;
  /** What the key of the slot holds is gone. */
  protected abstract drop(slot: number): void;
  /** The window in the slot is over. */
  abstract closed(slot: number): void;

  /** What generated code is given of a row. */
  protected get intake(): Intake {
    invariant(this.#intake !== null, 'rows do not come whole here');
    return this.#intake;
  }

  /** Takes a row that came whole, of the key of the slot. */
  protected takeWhole(_slot: number, _given: Given, _whole: WholeRows): void {
    throw new InvariantError('this kernel takes no whole rows');
  }

  /** The window in a slot, where rows come whole, as it would close now. */
  frameOf(_slot: number): WindowFrame {
    throw new InvariantError('this kernel takes no whole rows');
  }

  /** `take` takes a row in, `close` hands on the result of a slot and empties it. */
  link(take: Take, close: Close): void {
    this.#take = take;
    this.#close = close;
  }

  process(row: Row): void {
    if (this.whole === null) this.#hand(row, this.intake);
    else this.#takeWhole(row, this.whole);
  }

  /** What may fail is evaluated before anything changes. */
  #takeWhole(row: Row, whole: WholeRows): void {
    const order = this.counted + 1;
    const key = this.environment.partition(row);
    const sample = whole.contents.sample(row, order);
    this.counted = order;
    const slot = this.slotOf([key]);
    if (this.layout.expireMs !== null) this.touch(slot, row.time);
    this.takeWhole(slot, { row, order, sample }, whole);
  }

  #hand(row: Row, intake: Intake): void {
    const keys = this.keysOf(row);
    const inputs = this.#inputs?.(row) ?? [];
    inputs.forEach((value, i) => {
      const isFitting = value === null || intake.columns.inputs.all[i]?.as !== 'number' || typeof value === 'number';
      invariant(isFitting, 'what is typed as a number is one');
    });
    if (this.#take?.(row.time, row.order, ...intake.partsOf(row), ...keys, ...inputs) === true) this.late(row);
  }

  late(row: Row): void {
    this.environment.late(row);
  }

  endWindow(frame: WindowFrame): void {
    this.next.endWindow(frame);
  }

  /** Called when the result of a window has been handed on, where an operator behind acts on that. */
  ended(time: number, start: number, end: number, isFinal: boolean, lengthMs: number): void {
    this.next.endWindow({ time, start, end, isFinal, lengthMs });
  }

  deadline(): number {
    return this.due;
  }

  /** Arrival number of the newest row. */
  get arrivals(): number {
    return this.whole !== null || this.intake.isCounting ? this.counted : this.environment.order();
  }

  /** `order` of a result. */
  order(): number {
    return this.environment.order();
  }

  /** Where keys expire: an event of the key at this time. What the key holds may have ended before it. */
  touch(slot: number, time: number): void {
    const last = this.slots.get(slot, this.#touchedAt);
    if (last === -Infinity) {
      this.slots.set(slot, this.#touchedAt, time);
      this.#expireLater(slot, time);
      return;
    }
    if (this.isGone(slot, time)) this.drop(slot);
    if (time > last) this.slots.set(slot, this.#touchedAt, time);
  }

  #expireLater(slot: number, last: number): void {
    this.#expiring.push(justAfter(plus(last, this.layout.expireMs as number)), 0, slot);
    this.due = Math.min(this.due, this.#expiring.next());
  }

  /** Whether what the key held had ended before event time `time`. */
  protected isGone(slot: number, time: number): boolean {
    const { expireMs } = this.layout;
    return expireMs !== null && time > plus(this.at(slot, 'touched'), expireMs);
  }

  protected get nextExpiry(): number {
    return this.#expiring.next();
  }

  /** Forgets the keys that ended before the watermark. */
  protected expire(watermark: number): void {
    for (let slot = this.#expiring.popDue(watermark); slot !== undefined; slot = this.#expiring.popDue(watermark)) {
      if (!this.isGone(slot, watermark)) {
        this.#expireLater(slot, this.at(slot, 'touched'));
        continue;
      }
      this.drop(slot);
      this.empty--;
      this.release(slot);
    }
  }

  /** Hands on the result of the window in the slot, which is over. */
  protected close(slot: number): void {
    if (this.whole === null) this.#close?.(slot);
    else this.#closeWhole(slot, this.whole);
  }

  #closeWhole(slot: number, whole: WholeRows): void {
    const [content, frame] = [whole.at(slot), this.frameOf(slot)];
    this.closed(slot);
    whole.contents.emit(content, frame);
  }

  countAt(slot: number): number {
    return this.at(slot, 'count');
  }

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

  #viewOf(slot: number, whole: WholeRows): WindowView {
    const [content, frame] = [whole.at(slot), this.frameOf(slot)];
    const { last, count } = content;
    return { last, count, start: frame.start, ...this.closingOf(slot), soFar: whole.contents.soFar(content, frame) };
  }

  /** When the window in the slot closes, or what it lacks. */
  protected closingOf(_slot: number): Pick<WindowView, 'end' | 'closesAt' | 'missing'> {
    throw new InvariantError('this kernel takes no whole rows');
  }

  protected keysOf(row: Row): Value[] {
    if (this.whole !== null) return [this.environment.partition(row)];
    return this.environment.partitionFields(row).map(([, value]) => this.keyPart(value));
  }

  save(): Value {
    return this.whole === null ? this.saveFrom(this) : this.capture()();
  }

  /** A copy of numbers is made in no time; accumulators are saved at once. */
  capture(): () => Value {
    if (this.objects.length > 0) {
      const saved = this.saveFrom(this);
      return () => saved;
    }
    const { arrivals, types, objects, whole } = this;
    const contents = whole?.capture(this.open());
    const early = this.captureEarly();
    const store = { arrivals, slots: this.slots.copy(), keys: this.keys.map((values) => [...values]), types: [...types], objects };
    return () => this.saveFrom(contents === undefined ? store : { ...store, contents: contents(), early });
  }

  /** What is to be kept of interim results, by slot. */
  protected captureEarly(): ReadonlyMap<number, Value> {
    return new Map();
  }

  /** Highest event time of each key, where keys expire. */
  protected saveTouched(store: WindowStore): Value {
    const touched = new Map<string, number>();
    if (this.layout.expireMs === null) return touched;
    for (const slot of this.owners(store)) {
      const last = this.at(slot, 'touched', store);
      if (last > -Infinity) touched.set(this.keyText(slot, store), last);
    }
    return touched;
  }

  protected loadTouched(saved: Value): void {
    if (this.layout.expireMs === null) return;
    for (const [text, last] of saved as ValueMap) this.touch(this.slotOfText(text), last as number);
  }

  /** The content of a window, as `WindowContents.save` has it. */
  protected saveContent(slot: number, store: WindowStore): Value {
    if (store.contents !== undefined) return store.contents.get(slot) as Value;
    const at = (field: SlotField): number => this.at(slot, field, store);
    const calls = this.intake.columns.forms.map((form) => form.save(store, slot));
    const last = this.#saveLast(slot, store);
    return [null, null, calls, at('count'), at('firstOrder'), at('firstCause'), last, at('lastOrder'), at('minTime'), at('maxTime')];
  }

  /** Of the last row only its key is read again, and what caused it. */
  #saveLast(slot: number, store: WindowStore): Value {
    const fields = new Map(this.intake.keys.map(({ field }, part) => [field, store.keys[part]?.[slot] ?? null]));
    const [time, cause] = [this.at(slot, 'time', store), this.at(slot, 'lastCause', store)];
    const type = this.intake.typeName ?? (store.types[slot] as string);
    return saveRow({ type, time, order: cause, fields, bound: null, attributes: null, causes: [cause] });
  }

  /** The slot of the key of a saved content. */
  protected slotOfSaved(key: Value, content: Value): number {
    return this.slotOf(this.whole === null ? this.keysOf(loadRow((content as ValueArray)[6] as Value)) : [key]);
  }

  /** Puts a saved content into a slot. */
  protected loadContent(slot: number, saved: Value): void {
    if (this.whole !== null) {
      this.hold(slot, this.whole.contents.load(saved), this.whole);
      return;
    }
    const [, , calls, count, firstOrder, first, last, lastOrder, minTime, maxTime] = saved as ValueArray;
    const row = loadRow(last as Value);
    this.types[slot] = row.type;
    const fields = { count, lastOrder, time: row.time, lastCause: lastCause(row), minTime, maxTime, firstOrder, firstCause: first };
    for (const [field, value] of Object.entries(fields))
      if (this.intake.fields.has(field as SlotField)) this.put(slot, field as SlotField, value as number);
    this.loadCalls(slot, calls as Value);
  }

  /** A content that the slot begins with, where rows come whole. */
  protected hold(slot: number, content: WindowContent, whole: WholeRows): void {
    whole.put(slot, content);
    this.note(slot, content);
  }

  /** What the fields of the slot say of its content. */
  protected note(slot: number, content: WindowContent): void {
    for (const [field, at] of this.#noted) this.slots.set(slot, at, content[field]);
  }

  protected loadCalls(slot: number, saved: Value): void {
    this.intake.columns.forms.forEach((form, i) => void form.load(this, slot, (saved as ValueArray)[i] ?? null));
  }
}
