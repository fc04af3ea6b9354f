import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import { HEADER } from './intake.ts';
import { WindowKernel } from './window-kernel.ts';

/** Empty slots to keep before it is worth looking for them. */
const EMPTY_MIN = 1024;

/**
 * Tumbling windows of n events. A key keeps its slot when its window has closed, as it will often come again; when half of
 * the slots are empty, those are given back.
 */
export class CountWindowKernel extends WindowKernel {
  /** Slots of keys that hold no event at present. */
  empty = 0;
  /** Slots that the end of input closes and that have not been handed on yet, the last one first. */
  #ending: number[] = [];

  override begin(...keys: Value[]): number {
    if (this.empty > EMPTY_MIN && this.empty * 2 > this.slots.size) this.#sweep();
    const slot = super.begin(...keys);
    this.table.set(keys, slot);
    this.empty++;
    return slot;
  }

  /** Gives back the slots that hold nothing. */
  #sweep(): void {
    for (const slot of this.#held()) if (this.at(slot, HEADER.count) === 0) this.#release(slot);
    this.empty = 0;
  }

  #release(slot: number): void {
    this.table.delete(this.keysAt(slot));
    this.slots.free(slot);
  }

  #held(): readonly number[] {
    return Array.from({ length: this.slots.size }, (_, slot) => slot).filter((slot) => this.table.get(this.keysAt(slot)) === slot);
  }

  advance(watermark: number): void {
    if (watermark === Infinity) this.#end();
  }

  /** Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  #end(): void {
    const open = this.#held().filter((slot) => this.at(slot, HEADER.count) > 0);
    if (this.#ending.length === 0) this.#ending = open.sort((a, b) => this.at(b, HEADER.lastOrder) - this.at(a, HEADER.lastOrder));
    for (let slot = this.#ending.pop(); slot !== undefined; slot = this.#ending.pop()) this.close(slot);
  }

  save(): Value {
    const open = this.#held().filter((slot) => this.at(slot, HEADER.count) > 0);
    const held = open.map((slot) => [this.keyText(slot), this.saveContent(slot), this.at(slot, HEADER.count), false]);
    return [this.arrivals, held, new Map()];
  }

  load(saved: Value): void {
    const [arrivals, held] = saved as ValueArray;
    this.arrivals = arrivals as number;
    for (const one of held as ValueArray) {
      this.loadContent((one as ValueArray)[1] as Value);
      this.empty--;
    }
  }
}
