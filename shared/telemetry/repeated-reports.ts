export interface RepeatedReportsOptions<T> {
  /** How long what is like what was told is counted before it is told again. */
  readonly everyMs: number;
  /** So many kinds are counted each for itself at a time. */
  readonly kindsMax: number;
  /** Says the latest of a kind, and how many of it there were. */
  readonly tell: (latest: T, count: number) => void;
}

/** Tells of the first of a kind at once, and how many followed every so often: what goes wrong over and over is not to fill a log. */
export class RepeatedReports<T> {
  readonly #options: RepeatedReportsOptions<T>;
  readonly #counting = new Map<string, { latest: T; count: number; readonly timer: NodeJS.Timeout }>();

  constructor(options: RepeatedReportsOptions<T>) {
    this.#options = options;
  }

  /** `broader` is the kind under which it is counted where there are too many kinds. */
  count(found: T, { kind, broader }: { readonly kind: string; readonly broader: string }, count = 1): void {
    const key = this.#counting.has(kind) || this.#counting.size < this.#options.kindsMax ? kind : broader;
    const counting = this.#counting.get(key);
    if (counting !== undefined) {
      counting.latest = found;
      counting.count += count;
      return;
    }
    this.#options.tell(found, count);
    this.#begin(key, found);
  }

  #begin(key: string, latest: T): void {
    this.#counting.set(key, { latest, count: 0, timer: setTimeout(() => this.#end(key), this.#options.everyMs).unref() });
  }

  /** Goes on counting while there is something to count. */
  #end(key: string): void {
    const counted = this.#counting.get(key);
    this.#counting.delete(key);
    if (counted === undefined || counted.count === 0) return;
    this.#options.tell(counted.latest, counted.count);
    this.#begin(key, counted.latest);
  }

  /** Tells what was counted and not yet told. */
  close(): void {
    for (const { latest, count, timer } of this.#counting.values()) {
      clearTimeout(timer);
      if (count > 0) this.#options.tell(latest, count);
    }
    this.#counting.clear();
  }
}
