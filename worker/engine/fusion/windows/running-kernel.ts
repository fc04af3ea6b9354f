import type { Value, ValueArray } from '../../../../shared/events/value.ts';
import type { WindowStore } from './call-forms.ts';
import { WindowKernel } from './window-kernel.ts';

/** `.aggregate` without a window: one slot for each key, which keeps what it has. */
export class RunningKernel extends WindowKernel {
  protected drop(slot: number): void {
    if (this.at(slot, 'count') > 0) this.closed(slot);
  }

  closed(slot: number): void {
    this.put(slot, 'count', 0);
    this.empty++;
  }

  advance(watermark: number): void {
    this.expire(watermark);
    this.due = this.nextExpiry;
  }

  protected saveFrom(store: WindowStore): Value {
    const states = this.open(store).map((slot) => [
      this.keyText(slot, store),
      this.intake.columns.forms.map((form) => form.save(store, slot)),
    ]);
    return [store.arrivals, states, [], this.saveTouched(store)];
  }

  /** Without numbers of events: those that `count()` gives are what matters. */
  load(saved: Value): void {
    const [arrivals, states, , touched] = saved as ValueArray;
    this.counted = arrivals as number;
    for (const [key, calls] of states as readonly (readonly [string, Value])[]) {
      const slot = this.slotOfText(key);
      this.put(slot, 'count', 1);
      this.empty--;
      this.loadCalls(slot, calls);
    }
    this.loadTouched(touched as Value);
  }
}
