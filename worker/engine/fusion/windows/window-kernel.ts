import { InvariantError, invariant } from '../../../../shared/errors/error.ts';
import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { EvaluationError } from '../../../../shared/language/functions/descriptor.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { saveRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter, plus } from '../../time/instants.ts';
import { seenTime } from '../../time/seen-time.ts';
import type { Kernel } from '../fused-runtime.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import { KeyedSlots } from './keyed-slots.ts';
import type { SlotField } from './slot-fields.ts';
import { type Given, WholeRows } from './whole-rows.ts';

/** Gives true when the row was late, or what an aggregate threw that has refused a value. */
type Take = (time: number, order: number, ...given: unknown[]) => unknown;

/**
 * A window, or a running aggregate. Either generated code takes rows into the slot of their key, or of its open window, and makes the
 * results, on numbers; or rows come whole, and each slot has a content `C` of them, which `W` keeps. Both save the same, so one can take
 * over from the other.
 */
export abstract class WindowKernel<C, W extends WholeRows<C> = WholeRows<C>> extends KeyedSlots implements Operator, Kernel {
  /** Its earliest deadline, which generated code reads. */
  due = Infinity;
  /** Rows that came so far, where they are counted here. */
  counted = 0;
  /** Type of the newest row of each slot, where there are several. */
  readonly types: string[] = [];
  protected readonly environment: OperatorEnvironment;
  readonly next: Next;
  /** Null where generated code takes rows. */
  protected readonly whole: W | null;
  readonly #intake: Intake | null;
  readonly #inputs: ((row: Row) => Value[]) | null;
  readonly #touchedAt: number;
  /** Where keys expire: every key once, at or before the time of its end. */
  readonly #expiring = new DeadlineQueue<number>();
  #take: Take | null = null;

  constructor(form: Intake | W, next: Next, environment: OperatorEnvironment) {
    super(form);
    this.whole = form instanceof WholeRows ? form : null;
    this.#intake = form instanceof WholeRows ? null : form;
    this.next = next;
    this.environment = environment;
    this.#inputs = this.#intake?.reader(environment) ?? null;
    this.#touchedAt = form.fields.at('touched');
  }

  abstract advance(watermark: number): void;
  abstract load(saved: Value): void;
  /** What the operator saves, of a store that may be a copy. */
  protected abstract saveFrom(store: WindowStore): Value;

  /** What the slot holds is over. */
  closed(slot: number): void {
    this.whole?.forget(slot);
    this.put(slot, 'count', 0);
    this.empty++;
  }

  /** What the key of the slot holds is gone. */
  protected drop(slot: number): void {
    if (this.at(slot, 'count') > 0) this.closed(slot);
  }

  /** What generated code is given of a row. */
  protected get intake(): Intake {
    invariant(this.#intake !== null, 'rows do not come whole here');
    return this.#intake;
  }

  /** Takes a row that came whole, of the key of the slot. */
  protected takeWhole(_slot: number, _given: Given, _whole: W): void {
    throw new InvariantError('this kernel takes no whole rows');
  }

  /** `take` takes a row in. */
  link(take: Take, ..._others: readonly unknown[]): void {
    this.#take = take;
  }

  process(row: Row): void {
    if (this.whole === null) this.#hand(row, this.intake);
    else this.receive(row, this.counted + 1, this.whole);
  }

  /** A whole row and its number of arrival. What may fail is evaluated before anything changes. */
  protected receive(row: Row, order: number, whole: W): void {
    const key = this.environment.partition(row);
    const sample = whole.contents.sample(row, order);
    this.counted = Math.max(this.counted, order);
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
    const taken = this.#take?.(row.time, row.order, ...intake.partsOf(row), ...keys, ...inputs);
    if (taken === true) this.late(row);
    else if (taken instanceof EvaluationError) this.refused(taken, row);
  }

  /** A value of a row that was taken has been refused. */
  refused(_failure: EvaluationError, _row: Row): void {
    throw new InvariantError('this kernel keeps no row whose value is refused');
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

  /** Rows are numbered as the events that came to the program: so are they in another engine. */
  protected get isNumberedByEvents(): boolean {
    return this.whole === null && !this.intake.isCounting;
  }

  /** `order` of a result. */
  order(): number {
    return this.environment.order();
  }

  /** Where keys expire: an event of the key at this time. What the key holds may have ended before it. */
  touch(slot: number, time: number): void {
    this.#touchAt(slot, this.isSeenInOrder ? time : seenTime(time, this.layout.expireMs as number, this.environment));
  }

  /** Rows are seen when time has come to them, and no further. */
  protected get isSeenInOrder(): boolean {
    return false;
  }

  #touchAt(slot: number, time: number): void {
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
    const [waiting, early] = [this.captureWaiting(), this.captureEarly()];
    const keys = this.keys.map((values) => [...values]);
    const store: WindowStore = { arrivals, slots: this.slots.copy(), keys, types: [...types], objects, waiting, early };
    return () => this.saveFrom(contents === undefined ? store : { ...store, contents: contents() });
  }

  /** Rows that are held until the watermark reaches them. */
  protected captureWaiting(): ValueArray {
    return [];
  }

  /** What is to be kept of interim results, by slot. */
  protected captureEarly(): ReadonlyMap<number, Value> {
    return new Map();
  }

  /** What each key says in a field, by its canonical text, but those that say `nothing`. */
  protected saveByKey(field: SlotField, nothing: number, store: WindowStore): Map<string, number> {
    const saved = new Map<string, number>();
    for (const slot of this.owners(store)) {
      const value = this.at(slot, field, store);
      if (!Object.is(value, nothing)) saved.set(this.keyText(slot, store), value);
    }
    return saved;
  }

  protected loadByKey(field: SlotField, saved: ReadonlyMap<string, number>): void {
    for (const [text, value] of saved) this.put(this.slotOfText(text), field, value);
  }

  /** Highest time at which each key was seen, where keys expire. */
  protected saveTouched(store: WindowStore): ReadonlyMap<string, number> {
    return this.layout.expireMs === null ? new Map() : this.saveByKey('touched', -Infinity, store);
  }

  protected loadTouched(saved: ReadonlyMap<string, number>): void {
    if (this.layout.expireMs === null) return;
    for (const [text, last] of saved) this.#touchAt(this.slotOfText(text), last);
  }

  /** Of the last row only its key is read again, and what caused it. */
  protected saveLast(slot: number, { time, cause, type }: LastRow, { keys }: Pick<WindowStore, 'keys'>): Value {
    const fields = new Map(this.intake.keys.map(({ field }, part) => [field, keys[part]?.[slot] ?? null]));
    return saveRow({ type, time, order: cause, fields, bound: null, attributes: null, causes: [cause] });
  }

  /** The slot of the key that a saved content has, given by its text and by the last row. */
  protected slotOfSaved(key: string, last: Row): number {
    return this.slotOf(this.whole === null ? this.keysOf(last) : [key]);
  }

  protected saveCalls(slot: number, store: WindowStore): Value {
    return this.intake.columns.forms.map((form) => form.save(store, slot));
  }

  protected loadCalls(slot: number, saved: Value | undefined): void {
    this.intake.columns.forms.forEach((form, i) => void form.load(this, slot, (saved as ValueArray)[i] ?? null));
  }
}

/** What is known of the last row where rows come by columns. */
interface LastRow {
  readonly time: number;
  readonly cause: number;
  readonly type: string;
}
