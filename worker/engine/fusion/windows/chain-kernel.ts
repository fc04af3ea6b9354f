import type { Value } from '../../../../shared/events/value.ts';
import type { Next, OperatorEnvironment } from '../../operators/operator.ts';
import { EarlyResults } from '../../windows/early-results.ts';
import { ContentKernel, type WholeWindows } from './content-kernel.ts';
import type { Intake } from './intake.ts';
import { OrderedSlots } from './ordered-slots.ts';

/** So many open windows of a key are looked through; of more the order is kept. */
export const LOOKED_THROUGH_MAX = 16;
/** With so few left no order is kept any more. */
const ORDERED_MIN = 4;

/**
 * Windows of which a key may have several open. The key's slot holds one of them; the others, mostly of rows that came out of
 * order, stand behind it in a chain. That slot stays the key's, empty, when its window has closed.
 */
export abstract class ChainKernel extends ContentKernel {
  /** Windows that stand behind another one of their key. */
  extras = 0;
  /** Only where rows come whole; null = there are no interim results. */
  protected readonly interim: EarlyResults | null;
  /** The open windows of the keys that have many, by the slot of the key. */
  readonly #ordered = new Map<number, OrderedSlots>();

  constructor(form: Intake | WholeWindows, earlyMs: number | null, next: Next, environment: OperatorEnvironment) {
    super(form, next, environment);
    this.interim = earlyMs === null ? null : new EarlyResults(earlyMs, this);
  }

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

  /** Where the open window in the slot begins. */
  protected abstract startOf(slot: number): number;

  /** The open windows of a key in order, where that is kept. */
  protected orderedOf(owner: number): OrderedSlots | undefined {
    return this.#ordered.size === 0 ? undefined : this.#ordered.get(owner);
  }

  /** To be called when a key has more than can be looked through each time. */
  protected keepOrder(owner: number): OrderedSlots {
    const open: number[] = [];
    for (let slot = owner; slot >= 0; slot = this.behind(slot)) if (this.at(slot, 'count') > 0) open.push(slot);
    const ordered = new OrderedSlots(open, (slot) => this.startOf(slot));
    this.#ordered.set(owner, ordered);
    return ordered;
  }

  /** A slot of the key for one more window. One whose first event was refused stands right behind the key's own. */
  protected unused(owner: number): number {
    const behind = this.behind(owner);
    return behind >= 0 && this.at(owner, 'count') > 0 && this.at(behind, 'count') === 0 ? behind : this.unusedOrMore(owner);
  }

  /** As `unused`, where no slot but the key's own is ever empty. */
  protected unusedOrMore(owner: number): number {
    return this.at(owner, 'count') === 0 ? owner : this.#oneMore(owner);
  }

  #oneMore(owner: number): number {
    const slot = this.allot(this.keysAt(owner));
    this.put(slot, 'owner', owner);
    this.#link(slot, this.behind(owner));
    this.#link(owner, slot);
    this.extras++;
    return slot;
  }

  /** `behind`: -1 = none. */
  #link(slot: number, behind: number): void {
    this.put(slot, 'next', behind + 1);
    if (behind >= 0) this.put(behind, 'before', slot);
  }

  /** The window in the slot has been given its first event. */
  opened(slot: number): void {
    const owner = this.at(slot, 'owner');
    if (owner === slot) this.empty--;
    this.orderedOf(owner)?.add(slot);
  }

  override closed(slot: number): void {
    super.closed(slot);
    const owner = this.at(slot, 'owner');
    if (this.#ordered.size > 0) this.#takeOut(slot, owner);
    if (owner === slot) return;
    this.empty--;
    this.#link(this.at(slot, 'before'), this.behind(slot));
    this.freeSlot(slot);
    this.extras--;
  }

  #takeOut(slot: number, owner: number): void {
    const ordered = this.#ordered.get(owner);
    ordered?.delete(slot);
    if (ordered !== undefined && ordered.size <= ORDERED_MIN) this.#ordered.delete(owner);
  }

  /** All windows of the key. */
  protected override drop(owner: number): void {
    while (this.behind(owner) >= 0) this.closed(this.behind(owner));
    super.drop(owner);
  }

  /** A key with another window open keeps its slot. */
  protected override canRelease(slot: number): boolean {
    return this.at(slot, 'next') === 0;
  }

  /** A window has begun, or its start has moved. */
  protected watchEarly(slot: number): void {
    if (this.interim === null) return;
    this.interim.watch(slot, this.environment.watermark());
    this.due = Math.min(this.due, this.interim.next());
  }

  /** The watermark at which something closes, besides keys that expire and interim results. */
  protected abstract nextClosing(): number;
  protected abstract closeDue(watermark: number): void;

  /** Interim results come last of all that time completes. */
  advance(watermark: number): void {
    try {
      this.closeDue(watermark);
      this.expire(watermark);
      this.#giveEarly(watermark);
    } finally {
      this.due = Math.min(this.nextClosing(), this.nextExpiry, this.interim?.next() ?? Infinity);
    }
  }

  #giveEarly(watermark: number): void {
    const { interim, whole } = this;
    if (interim === null || whole === null) return;
    for (let slot = interim.popDue(watermark); slot !== undefined; slot = interim.popDue(watermark)) {
      whole.contents.emit(whole.at(slot), { ...this.frameOf(slot), time: watermark, isFinal: false });
    }
  }

  protected override captureEarly(): ReadonlyMap<number, Value> {
    const { interim } = this;
    return new Map(interim === null ? [] : this.open().map((slot) => [slot, interim.save(slot)]));
  }

  protected loadEarly(slot: number, saved: Value): void {
    if (this.interim === null) return;
    this.interim.load(slot, saved);
    this.due = Math.min(this.due, this.interim.next());
  }
}
