import { invariant } from '../../../../shared/errors/error.ts';
import { keyOf } from '../../../../shared/events/text.ts';
import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { Accumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { Next, Operator, OperatorEnvironment, WindowFrame } from '../../operators/operator.ts';
import type { Row } from '../../operators/row.ts';
import { loadRow, saveRow } from '../../state/saved-row.ts';
import { firstCause, lastCause } from '../../windows/window-content.ts';
import type { Kernel } from '../fused-runtime.ts';
import { inputReader } from './aggregate-inputs.ts';
import { HEADER, type Intake } from './intake.ts';
import { KeyTable } from './key-table.ts';
import { Slots } from './slots.ts';

type Take = (time: number, order: number, ...given: unknown[]) => void;
type Close = (slot: number) => void;

/**
 * A window operator on numbers: each open window has a slot, generated code takes rows into it and makes its results. It
 * saves what the window operator saves that works on rows.
 */
export abstract class WindowKernel implements Operator, Kernel {
  due = Infinity;
  /** Rows that came so far. */
  arrivals = 0;
  readonly slots: Slots;
  readonly table: KeyTable;
  /** By key part, then by slot. */
  readonly keys: readonly Value[][];
  /** Type of the newest row of each slot, where there are several. */
  readonly types: string[] = [];
  /** By call, then by slot. */
  readonly objects: readonly Accumulator[][];
  protected readonly intake: Intake;
  protected readonly environment: OperatorEnvironment;
  readonly #next: Next;
  readonly #inputs: (row: Row) => Value[];
  #take: Take | null = null;
  #close: Close | null = null;

  constructor(intake: Intake, next: Next, environment: OperatorEnvironment) {
    this.intake = intake;
    this.#next = next;
    this.environment = environment;
    this.slots = new Slots(intake.columns.width);
    this.table = new KeyTable(intake.keys.length);
    this.keys = intake.keys.map(() => []);
    this.objects = intake.columns.objects.map(() => []);
    this.#inputs = inputReader(intake.columns.inputs.all, environment);
  }

  abstract advance(watermark: number): void;
  abstract save(): Value;
  abstract load(saved: Value): void;

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
      if (value !== null && intake.columns.inputs.all[i]?.as === 'number')
        invariant(typeof value === 'number', 'what is typed as a number is one');
    });
    const causes = intake.hasCauses ? [firstCause(row), lastCause(row)] : [];
    this.#take?.(row.time, row.order, ...(intake.isTyped ? [row.type] : []), ...causes, ...keys, ...inputs);
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

  /** `order` of a result. */
  order(): number {
    return this.environment.order();
  }

  /** A slot without events for a key that has none. */
  begin(...keys: Value[]): number {
    const slot = this.slots.allot();
    this.slots.numbers[slot * this.slots.width] = 0;
    keys.forEach((key, part) => {
      (this.keys[part] as Value[])[slot] = key;
    });
    return slot;
  }

  protected close(slot: number): void {
    this.#close?.(slot);
  }

  protected keysOf(row: Row): Value[] {
    return this.environment.partitionFields(row).map(([, value]) => value);
  }

  protected keysAt(slot: number): Value[] {
    return this.keys.map((values) => values[slot] as Value);
  }

  /** Canonical text of the key. */
  protected keyText(slot: number): string {
    return this.keys.length === 0 ? '' : keyOf(this.keysAt(slot));
  }

  protected at(slot: number, field: number): number {
    return this.slots.numbers[slot * this.slots.width + field] as number;
  }

  /** The content of a window, as `WindowContents.save` has it. */
  protected saveContent(slot: number): Value {
    const at = (field: number): number => this.at(slot, field);
    const calls = this.intake.columns.forms.map((form) => form.save(this, slot));
    const { count, firstOrder, firstCause: first, lastOrder, minTime, maxTime } = HEADER;
    return [null, null, calls, at(count), at(firstOrder), at(first), this.#saveLast(slot), at(lastOrder), at(minTime), at(maxTime)];
  }

  /** Of the last row only its key is read again, and what caused it. */
  #saveLast(slot: number): Value {
    const fields = new Map(this.intake.keys.map(({ field }, part) => [field, this.keys[part]?.[slot] ?? null]));
    const [time, cause] = [this.at(slot, HEADER.time), this.at(slot, HEADER.lastCause)];
    return saveRow({
      type: this.types[slot] ?? this.intake.typeName,
      time,
      order: cause,
      fields,
      bound: null,
      attributes: null,
      causes: [cause],
    });
  }

  /** Puts a saved content into a new slot. */
  protected loadContent(saved: Value): number {
    const [, , calls, count, firstOrder, first, last, lastOrder, minTime, maxTime] = saved as ValueArray;
    const row = loadRow(last as Value);
    const slot = this.begin(...this.keysOf(row));
    this.types[slot] = row.type;
    const put = (field: number, value: Value | undefined): void => {
      this.slots.numbers[slot * this.slots.width + field] = value as number;
    };
    put(HEADER.count, count);
    put(HEADER.lastOrder, lastOrder);
    put(HEADER.time, row.time);
    put(HEADER.lastCause, lastCause(row));
    put(HEADER.minTime, minTime);
    put(HEADER.maxTime, maxTime);
    put(HEADER.firstOrder, firstOrder);
    put(HEADER.firstCause, first);
    this.intake.columns.forms.forEach((form, i) => void form.load(this, slot, (calls as ValueArray)[i] ?? null));
    return slot;
  }
}
