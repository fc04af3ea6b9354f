const SPAN_MS = 2_000;

/** How much a count grows a second, by looks at it over the last two seconds. */
export class Rate {
  #looks: { readonly at: number; readonly count: number }[] = [];

  /** `at` in milliseconds of any clock. Gives the rate; undefined before there is one. */
  look(at: number, count: number): number | undefined {
    const last = this.#looks.at(-1);
    // A count that goes back began anew.
    if (last !== undefined && count < last.count) this.#looks = [];
    this.#looks.push({ at, count });
    while (this.#looks.length > 2 && (this.#looks[1]?.at ?? at) <= at - SPAN_MS) this.#looks.shift();
    const [first] = this.#looks;
    if (first === undefined || at - first.at < 1) return undefined;
    return ((count - first.count) * 1_000) / (at - first.at);
  }
}
