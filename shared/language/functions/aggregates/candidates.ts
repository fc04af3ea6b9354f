import type { Value } from '../../../events/value.ts';

/**
 * The values of a window that are its best or may still become it when older ones have left: each is worse than the one
 * before it, or as good. Whoever adds a value drops those at the end that it beats, so each comes and goes once.
 */
export class Candidates {
  readonly #values: Value[] = [];
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  /** What lies before it has left. */
  #start = 0;

  get isEmpty(): boolean {
    return this.#start === this.#values.length;
  }

  /** Null when there are none. */
  get best(): Value {
    return this.isEmpty ? null : (this.#values[this.#start] as Value);
  }

  get last(): Value {
    return this.isEmpty ? null : (this.#values.at(-1) as Value);
  }

  get lastTime(): number {
    return this.#times.at(-1) as number;
  }

  /** `order`: arrival number, larger than those before. */
  push(value: Value, time: number, order: number): void {
    this.#values.push(value);
    this.#times.push(time);
    this.#orders.push(order);
  }

  pop(): void {
    this.#values.pop();
    this.#times.pop();
    this.#orders.pop();
  }

  /** Those that arrived up to `order` are no longer in the window. */
  leave(order: number): void {
    while (!this.isEmpty && (this.#orders[this.#start] as number) <= order) this.#start++;
    if (this.#start < 64 || this.#start * 2 < this.#values.length) return;
    for (const list of [this.#values, this.#times, this.#orders]) list.splice(0, this.#start);
    this.#start = 0;
  }
}
