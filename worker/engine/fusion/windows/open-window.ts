import type { WindowFrame } from '../../operators/operator.ts';
import type { EarlyWindow } from '../../windows/early-results.ts';

/** What tells of the windows in its slots. */
interface WindowSlots {
  countAt(slot: number): number;
  /** Number of the first event of the window, by which it is known again. */
  rankAt(slot: number): number;
  /** As it would close now. */
  frameOf(slot: number): WindowFrame;
}

/** A window in a slot, as its interim results see it. */
export class OpenWindow implements EarlyWindow {
  readonly slot: number;
  readonly rank: number;
  readonly #slots: WindowSlots;

  constructor(slot: number, slots: WindowSlots) {
    this.slot = slot;
    this.rank = slots.rankAt(slot);
    this.#slots = slots;
  }

  get start(): number {
    return this.#slots.frameOf(this.slot).start;
  }

  get end(): number {
    return this.#slots.frameOf(this.slot).end;
  }

  get isOpen(): boolean {
    return this.#slots.countAt(this.slot) > 0 && this.#slots.rankAt(this.slot) === this.rank;
  }

  get content(): { readonly count: number } {
    return { count: this.#slots.countAt(this.slot) };
  }
}
