import { invariant } from '../../../../shared/errors/error.ts';
import type { Value, ValueArray, ValueMap } from '../../../../shared/events/value.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { DeadlineQueue } from '../../time/deadline-queue.ts';
import { justAfter, plus } from '../../time/instants.ts';
import { lastCause } from '../../windows/window-content.ts';
import type { Kernel } from '../fused-runtime.ts';
import { inputReader } from './aggregate-inputs.ts';
import type { WindowStore } from './call-forms.ts';
import type { Intake } from './intake.ts';
import { KeyedSlots } from './keyed-slots.ts';
import type { SlotField } from './slot-fields.ts';

/** Gives true when the row was late. */
type Take = (time: number, order: number, ...given: unknown[]) => unknown;
type Close = (slot: number) => void;

/**
 * An operator that aggregates by key, on numbers: generated code takes rows into the slot of their key, or of its open window, and
 * makes the results. It saves what the operator saves that works on rows.
 */
export abstract class WindowKernel extends KeyedSlots implements Operator, Kernel {
  due = Infinity;
  /** Rows that came so far, where they are counted here. */
  counted = 0;
  /** Type of the newest row of each slot, where there are several. */
  readonly types: string[] = [];
  protected readonly environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #inputs: (row: Row) => Value[];
  readonly #touchedAt: number;
  /** Where keys expire: every key once, at or before the time of its end. */
  readonly #expiring = new DeadlineQueue<number>();
  #take: Take | null = null;
  #close: Close | null = null;

  constructor(intake: Intake, next: Next, environment: OperatorEnvironment) {
    super(intake);
    this.#next = next;
    this.environment = environment;
    this.#inputs = inputReader(intake.columns.inputs.all, environment);
    this.#touchedAt = intake.fields.at('touched');
  }

  abstract advance(watermark: number): void;
  abstract load(saved: Value): void;
  /** What the operator saves, of a store that may be a copy. */
  protected abstract saveFrom(store: WindowStore): Value;
  /** What the key of the slot holds is gone. */
  protected abstract drop(slot: number): void;

  /** `take` takes a row in, `close` hands on the result of a slot and empties it. */
  link(take: Take, close: Close): void {
    this.#take = take;
    this.#close = close;
  }

  process(row: Row): void {
    const { intake } = this;
    const keys = this.keysOf(row);
    const inputs = this.#inputs(row);
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
    this.#next.endWindow(frame);
  }

  /** Called when the result of a window has been handed on, where an operator behind acts on that. */
  ended(time: number, start: number, end: number, isFinal: boolean, lengthMs: number): void {
    this.#next.endWindow({ time, start, end, isFinal, lengthMs });
  }

  deadline(): number {
    return this.due;
  }

  /** Arrival number of the newest row. */
  get arrivals(): number {
    return this.intake.isCounting ? this.counted : this.environment.order();
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
    this.#expiring.push(justAfter(plus(last, this.intake.expireMs as number)), 0, slot);
    this.due = Math.min(this.due, this.#expiring.next());
  }

  /** Whether what the key held had ended before event time `time`. */
  protected isGone(slot: number, time: number): boolean {
    const { expireMs } = this.intake;
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

  protected close(slot: number): void {
    this.#close?.(slot);
  }

  protected keysOf(row: Row): Value[] {
    return this.environment.partitionFields(row).map(([, value]) => value);
  }

  save(): Value {
    return this.saveFrom(this);
  }

  /** A copy of numbers is made in no time; accumulators are saved at once. */
  capture(): () => Value {
    if (this.objects.length > 0) {
      const saved = this.save();
      return () => saved;
    }
    const { arrivals, types, objects } = this;
    const store = { arrivals, slots: this.slots.copy(), keys: this.keys.map((values) => [...values]), types: [...types], objects };
    return () => this.saveFrom(store);
  }

  /** Highest event time of each key, where keys expire. */
  protected saveTouched(store: WindowStore): Value {
    const touched = new Map<string, number>();
    if (this.intake.expireMs === null) return touched;
    for (const slot of this.owners(store)) {
      const last = this.at(slot, 'touched', store);
      if (last > -Infinity) touched.set(this.keyText(slot, store), last);
    }
    return touched;
  }

  protected loadTouched(saved: Value): void {
    if (this.intake.expireMs === null) return;
    for (const [text, last] of saved as ValueMap) this.touch(this.slotOfText(text), last as number);
  }

  /** The content of a window, as `WindowContents.save` has it. */
  protected saveContent(slot: number, store: WindowStore): Value {
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

  /** The key of a saved content. */
  protected keysOfContent(saved: Value): Value[] {
    return this.keysOf(loadRow((saved as ValueArray)[6] as Value));
  }

  /** Puts a saved content into a slot. */
  protected loadContent(slot: number, saved: Value): void {
    const [, , calls, count, firstOrder, first, last, lastOrder, minTime, maxTime] = saved as ValueArray;
    const row = loadRow(last as Value);
    this.types[slot] = row.type;
    const fields = { count, lastOrder, time: row.time, lastCause: lastCause(row), minTime, maxTime, firstOrder, firstCause: first };
    for (const [field, value] of Object.entries(fields))
      if (this.intake.fields.has(field as SlotField)) this.put(slot, field as SlotField, value as number);
    this.loadCalls(slot, calls as Value);
  }

  protected loadCalls(slot: number, saved: Value): void {
    this.intake.columns.forms.forEach((form, i) => void form.load(this, slot, (saved as ValueArray)[i] ?? null));
  }
}
