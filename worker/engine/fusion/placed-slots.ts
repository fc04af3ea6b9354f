import type { TextPlace } from './event-entry.ts';

const PLACES_MIN = 1024;

/** Slots of keys, or other numbers, by where readers keep the texts of these: what is remembered here need not be looked up by its text. */
export class PlacedSlots {
  /** The list that the last place was in. */
  #texts: readonly string[] = [];
  /** By place: a slot + 1; 0 = nothing is remembered. */
  #slots: Int32Array = new Int32Array(PLACES_MIN);
  #byList = new WeakMap<readonly string[], Int32Array>();

  /** -1 = nothing is remembered. */
  slotOf({ texts, at }: TextPlace): number {
    const slots = this.#slots;
    return texts === this.#texts && at >= 0 && at < slots.length ? (slots[at] as number) - 1 : -1;
  }

  remember({ texts, at }: TextPlace, slot: number): void {
    if (at < 0) return;
    if (texts !== this.#texts) this.#turnTo(texts);
    if (at >= this.#slots.length) this.#grow(at);
    this.#slots[at] = slot + 1;
  }

  /** To be called when a key gives its slot back. */
  forget(): void {
    this.#byList = new WeakMap();
    this.#texts = [];
    this.#slots = new Int32Array(PLACES_MIN);
  }

  /** Readers may take turns. */
  #turnTo(texts: readonly string[]): void {
    this.#texts = texts;
    this.#slots = this.#byList.get(texts) ?? new Int32Array(PLACES_MIN);
    this.#byList.set(texts, this.#slots);
  }

  #grow(at: number): void {
    const grown = new Int32Array(Math.max(this.#slots.length * 2, at + 1));
    grown.set(this.#slots);
    this.#slots = grown;
    this.#byList.set(this.#texts, grown);
  }
}
