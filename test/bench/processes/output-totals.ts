/** Counts outputs and adds up their numbers; holds the last one, so that none is optimised away. */
export class OutputTotals {
  #outputs = 0;
  #sum = 0;
  #last: unknown = null;

  take(output: unknown, sum: number): void {
    this.#outputs++;
    this.#sum += sum;
    this.#last = output;
  }

  get outputs(): number {
    return this.#outputs;
  }

  get sum(): number {
    return this.#sum;
  }

  get last(): unknown {
    return this.#last;
  }
}
