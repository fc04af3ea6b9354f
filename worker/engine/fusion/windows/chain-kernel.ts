import type { Value } from '../../../../shared/events/value.ts';
import { WindowKernel } from './window-kernel.ts';

/**
 * Windows of which a key may have several open. The key's slot holds one of them; the others, mostly of rows that came out of
 * order, stand behind it in a chain. That slot stays the key's, empty, when its window has closed.
 */
export abstract class ChainKernel extends WindowKernel {
  /** Windows that stand behind another one of their key. */
  extras = 0;

  override begin(...keys: Value[]): number {
    const slot = super.begin(...keys);
    this.put(slot, 'owner', slot);
    this.put(slot, 'next', 0);
    return slot;
  }

  /** The next slot of the same key; -1 = none. */
  protected behind(slot: number): number {
    return this.at(slot, 'next') - 1;
  }

  /** A slot of the key for one more window. */
  protected unused(owner: number): number {
    for (let slot = owner; slot >= 0; slot = this.behind(slot)) if (this.at(slot, 'count') === 0) return slot;
    const slot = this.allot(this.keysAt(owner));
    this.put(slot, 'owner', owner);
    this.put(slot, 'next', this.at(owner, 'next'));
    this.put(owner, 'next', slot + 1);
    this.extras++;
    return slot;
  }

  /** The window in the slot is over. */
  closed(slot: number): void {
    this.put(slot, 'count', 0);
    const owner = this.at(slot, 'owner');
    if (owner === slot) {
      this.empty++;
      return;
    }
    let before = owner;
    while (this.behind(before) !== slot) before = this.behind(before);
    this.put(before, 'next', this.at(slot, 'next'));
    this.freeSlot(slot);
    this.extras--;
  }

  /** All windows of the key are gone. */
  protected dropAll(owner: number): void {
    while (this.behind(owner) >= 0) this.closed(this.behind(owner));
    if (this.at(owner, 'count') > 0) this.closed(owner);
  }

  /** A key with another window open keeps its slot. */
  protected override canRelease(slot: number): boolean {
    return this.at(slot, 'next') === 0;
  }
}
