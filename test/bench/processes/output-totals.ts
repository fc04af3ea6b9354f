/** Counts outputs and adds up their numbers; holds the last one, so that none is optimised away. */
export class OutputTotals {
  #outputs = 0;
  /**
   * One cell of doubles: kept as a number, the sum outgrows small ints in the middle of a run, and V8 throws away what it compiled for
   * it and for its callers, in the engine as in the bound.
   */
  readonly #sum = new Float64Array(1);
  #last: unknown = null;

  take(output: unknown, sum: number): void {
    this.#outputs++;
    (this.#sum[0] as number) += sum;
    this.#last = output;
  }

  get outputs(): number {
    return this.#outputs;
  }

  get sum(): number {
    return this.#sum[0] as number;
  }

  get last(): unknown {
    return this.#last;
  }
}
