import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { WindowStore } from './call-forms.ts';
import { slotsByOrder } from './slots-by-order.ts';
import { WindowKernel } from './window-kernel.ts';

/** Tumbling windows of n events. */
export class CountWindowKernel extends WindowKernel {
  /** Slots that the end of input closes and that have not been handed on yet, the last one first. */
  #ending: number[] = [];

  protected drop(slot: number): void {
    if (this.at(slot, 'count') > 0) this.empty++;
    this.put(slot, 'count', 0);
  }

  advance(watermark: number): void {
    if (watermark === Infinity) this.#end();
    else this.expire(watermark);
    this.due = this.nextExpiry;
  }

  /** By last event. Each is off the list before it is handed on: one that fails there does not take the rest with it. */
  #end(): void {
    if (this.#ending.length === 0) this.#ending = slotsByOrder(this.open(), (slot) => this.at(slot, 'lastOrder')).reverse();
    for (let slot = this.#ending.pop(); slot !== undefined; slot = this.#ending.pop()) this.close(slot);
  }

  protected saveFrom(store: WindowStore): Value {
    const held = this.open(store).map((slot) => {
      const count = this.at(slot, 'count', store);
      return [this.keyText(slot, store), this.saveContent(slot, store), count, false];
    });
    return [store.arrivals, held, this.saveTouched(store)];
  }

  load(saved: Value): void {
    const [arrivals, held, touched] = saved as ValueArray;
    this.counted = arrivals as number;
    for (const [, content] of held as readonly (readonly [string, Value])[]) {
      this.loadContent(this.slotOf(this.keysOfContent(content)), content);
      this.empty--;
    }
    this.loadTouched(touched as Value);
  }
}
