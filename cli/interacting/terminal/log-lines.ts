/** The newest entries of a log, and the place in it that somebody looks at: the end, or one that stays while more comes in. */
export class LogLines<Entry> {
  readonly #entriesMax: number;
  #entries: Entry[] = [];
  /** Entries that fell out. */
  #dropped = 0;
  /** Number of the entry behind the last that is shown; undefined: the end, whatever comes. */
  #end: number | undefined;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** How many came in all. */
  get total(): number {
    return this.#dropped + this.#entries.length;
  }

  /** Entries behind the last that is shown. */
  get below(): number {
    return this.#end === undefined ? 0 : this.total - this.#end;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    // In pieces: one at a time would move all others each time.
    if (this.#entries.length < 2 * this.#entriesMax) return;
    this.#entries = this.#entries.slice(-this.#entriesMax);
    this.#dropped = this.#dropped + this.#entriesMax;
  }

  clear(): void {
    this.#dropped = this.total;
    this.#entries = [];
    this.#end = undefined;
  }

  /** `by` entries, towards the newest when it is above 0; at the newest it follows again. */
  scroll(by: number, height: number): void {
    const to = (this.#end ?? this.total) + by;
    this.#end = to >= this.total ? undefined : Math.max(to, Math.min(this.total, this.#dropped + height));
  }

  toOldest(height: number): void {
    this.scroll(-this.total, height);
  }

  toNewest(): void {
    this.#end = undefined;
  }

  /** What stands in so many lines. */
  shown(height: number): readonly Entry[] {
    const end = Math.max(0, (this.#end ?? this.total) - this.#dropped);
    return this.#entries.slice(Math.max(0, end - height), Math.max(end, Math.min(height, this.#entries.length)));
  }
}
