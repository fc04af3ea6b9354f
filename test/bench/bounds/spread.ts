/** Mean and sample deviation of the values of one window, updated value by value (Welford). */
export class Spread {
  #count = 0;
  #mean = 0;
  #squares = 0;
  #time = 0;

  add(value: number, time: number): void {
    this.#time = time;
    const before = value - this.#mean;
    this.#mean += before / ++this.#count;
    this.#squares += before * (value - this.#mean);
  }

  clear(): void {
    this.#count = 0;
    this.#mean = 0;
    this.#squares = 0;
  }

  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return this.#mean;
  }

  /** NaN of a single value. */
  get deviation(): number {
    return Math.sqrt(this.#squares / (this.#count - 1));
  }

  /** Of the last value. */
  get time(): number {
    return this.#time;
  }
}
