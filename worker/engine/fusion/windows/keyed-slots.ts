import { keyOf } from '../../../../shared/events/text.ts';
import type { Value } from '../../../../shared/events/value.ts';
import type { Accumulator } from '../../../../shared/language/functions/descriptor.ts';
import type { TextPlace } from '../event-entry.ts';
import { PlacedSlots } from '../placed-slots.ts';
import type { WindowStore } from './call-forms.ts';
import { KeyTable } from './key-table.ts';
import type { SlotField, SlotLayout } from './slot-fields.ts';
import { Slots } from './slots.ts';

/** Slots without events to keep before it is worth looking for them. */
const EMPTY_MIN = 1024;

/**
 * Each key, or open window, has a slot. A key keeps its slot while it holds nothing, as it will often come again; when half of the
 * slots are empty, those are given back that can be.
 */
export abstract class KeyedSlots {
  /** Keys that hold nothing at present. */
  empty = 0;
  readonly slots: Slots;
  readonly table: KeyTable;
  readonly placed = new PlacedSlots();
  /** By key part, then by slot. */
  readonly keys: Value[][];
  /** By call, then by slot. */
  readonly objects: readonly Accumulator[][];
  protected readonly layout: SlotLayout;
  /** Keys that have been given a slot since empty ones were looked for. */
  #begun = 0;
  /** By canonical text: the one object that stands for all equal ones that are, or are part of, a key. */
  readonly #keyObjects = new Map<string, Value>();

  constructor(layout: SlotLayout) {
    this.layout = layout;
    this.slots = new Slots(layout.width, layout.fields.coldWidth);
    this.keys = layout.keys.map(() => []);
    this.table = new KeyTable(layout.keys.length, layout.isTextKey ? (this.keys[0] ?? null) : null);
    this.objects = layout.columns.objects.map(() => []);
  }

  /** The slot of a text whose place is not known to have one. */
  slotAt(text: string, place: TextPlace | undefined): number {
    const known = this.table.find(text);
    const slot = known < 0 ? this.begin(text) : known;
    if (place !== undefined) this.placed.remember(place, slot);
    return slot;
  }

  /** The part of a key that tables know a value by: equal values have the same one. @throws EvaluationError when it is too large */
  keyPart(value: Value): Value {
    if (typeof value !== 'object' || value === null) return value;
    const text = keyOf([value]);
    const known = this.#keyObjects.get(text);
    if (known !== undefined) return known;
    this.#keyObjects.set(text, value);
    return value;
  }

  /** A slot for a key that has none. */
  begin(...keys: Value[]): number {
    if (this.empty > EMPTY_MIN && this.empty * 2 > this.slots.size && this.mayForget && this.isWorthSweeping) this.sweep();
    this.#begun++;
    const slot = this.allot(keys);
    this.table.set(keys, slot);
    this.empty++;
    if (this.layout.expireMs !== null) this.put(slot, 'touched', -Infinity);
    return slot;
  }

  /** A key that holds nothing leaves no trace. */
  protected get mayForget(): boolean {
    return this.layout.expireMs === null;
  }

  protected allot(keys: readonly Value[]): number {
    const slot = this.slots.allot();
    this.put(slot, 'count', 0);
    keys.forEach((key, part) => {
      (this.keys[part] as Value[])[slot] = key;
    });
    return slot;
  }

  /** A sweep looks at all slots, and may find none to give back: so there is one for as many new keys. */
  protected get isWorthSweeping(): boolean {
    return this.#begun * 2 > this.slots.size;
  }

  protected sweep(): void {
    this.#begun = 0;
    for (const slot of this.owners()) {
      if (this.at(slot, 'count') !== 0 || !this.canRelease(slot)) continue;
      this.release(slot);
      this.empty--;
    }
    this.placed.forget();
  }

  /** Nothing but its number is left of the slot's key. */
  protected canRelease(_slot: number): boolean {
    return true;
  }

  /** The slots that keys are known by. */
  protected *owners(store: Pick<WindowStore, 'slots'> = this): Iterable<number> {
    const hasOwners = this.layout.fields.has('owner');
    for (let slot = 0; slot < store.slots.size; slot++) {
      if (this.at(slot, 'count', store) >= 0 && (!hasOwners || this.at(slot, 'owner', store) === slot)) yield slot;
    }
  }

  /** The key of an empty slot is forgotten, and so must be what is remembered of its places. */
  protected release(slot: number): void {
    const keys = this.keysAt(slot);
    this.table.delete(keys);
    this.freeSlot(slot);
    // With one part no other key has the object; with several, what is left is no more than the keys that there have been.
    if (keys.length === 1 && typeof keys[0] === 'object' && keys[0] !== null) this.#keyObjects.delete(keyOf(keys));
  }

  protected freeSlot(slot: number): void {
    this.put(slot, 'count', -1);
    for (const ofCall of this.objects) delete ofCall[slot];
    this.slots.free(slot);
  }

  protected keysAt(slot: number, keys: readonly (readonly Value[])[] = this.keys): Value[] {
    return keys.map((values) => values[slot] as Value);
  }

  /** Canonical text of the key. */
  protected keyText(slot: number, { keys }: WindowStore): string {
    return this.layout.textOfKey(this.keysAt(slot, keys));
  }

  /** The slot of a key, given by its canonical text. */
  protected slotOfText(text: string): number {
    return this.slotOf(this.layout.partsOfKey(text).map((value) => this.keyPart(value)));
  }

  protected slotOf(keys: Value[]): number {
    return this.table.get(keys) ?? this.begin(...keys);
  }

  protected at(slot: number, field: SlotField, { slots }: Pick<WindowStore, 'slots'> = this): number {
    return slots.get(slot, this.layout.fields.at(field));
  }

  protected put(slot: number, field: SlotField, value: number): void {
    this.slots.set(slot, this.layout.fields.at(field), value);
  }

  /** Slots that hold events. */
  protected open(store: Pick<WindowStore, 'slots'> = this): number[] {
    const { numbers, width, size } = store.slots;
    const open: number[] = [];
    for (let slot = 0; slot < size; slot++) if ((numbers[slot * width] as number) > 0) open.push(slot);
    return open;
  }
}

/** Slots by the numbers that they have, no two the same, lowest first. */
export function slotsByOrder(slots: readonly number[], orderOf: (slot: number) => number): number[] {
  const orders = new Float64Array(slots.length);
  slots.forEach((slot, i) => {
    orders[i] = orderOf(slot);
  });
  const sorted = orders.slice().sort();
  const result = new Array<number>(slots.length);
  slots.forEach((slot, i) => {
    result[rankOf(orders[i] as number, sorted)] = slot;
  });
  return result;
}

function rankOf(order: number, sorted: Float64Array): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < order) low = middle + 1;
    else high = middle;
  }
  return low;
}
