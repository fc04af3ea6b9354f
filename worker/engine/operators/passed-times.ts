/** Times of which so many are dropped are not worth the room any more that they take. */
const DROPPED_MAX = 64;

/** Times of the rows of one partition that passed. In order of time, whatever the order in which they came. */
export class PassedTimes {
  readonly partition: string;
  #times: number[] = [];
  /** Number of arrival of each; null while they came in order of time. */
  #arrivals: number[] | null = null;
  #arrived = 0;
  /** Those before it are dropped. */
  #head = 0;
  #seen = -Infinity;

  /** `times`: in order of arrival. `seen`: the time at which the newest was seen. */
  constructor(partition: string, times: readonly number[] = [], seen = -Infinity) {
    this.partition = partition;
    for (const time of times) this.add(time, seen);
  }

  get latest(): number {
    return this.#times.at(-1) ?? -Infinity;
  }

  /** The latest at which one of them was seen: its own time, or the watermark that it lay behind. */
  get seen(): number {
    return Math.max(this.#seen, this.latest);
  }

  /** Whether `count` of them lie less than `perMs` before the time, or behind it. */
  holds(count: number, perMs: number, time: number): boolean {
    const at = this.#times.length - count;
    return at >= this.#head && time - (this.#times[at] as number) < perMs;
  }

  /** Drops those that lie `perMs` or more before the time. */
  dropBefore(time: number, perMs: number): void {
    while (this.#head < this.#times.length && time - (this.#times[this.#head] as number) >= perMs) this.#head++;
    if (this.#head === this.#times.length) this.#keepFrom([], null);
    else if (this.#head > DROPPED_MAX && this.#head * 2 > this.#times.length)
      this.#keepFrom(this.#times.slice(this.#head), this.#arrivals?.slice(this.#head) ?? null);
  }

  #keepFrom(times: number[], arrivals: number[] | null): void {
    this.#times = times;
    this.#arrivals = arrivals;
    this.#head = 0;
  }

  add(time: number, seen = time): void {
    if (seen > this.#seen) this.#seen = seen;
    const arrival = this.#arrived++;
    if (time >= this.latest) {
      this.#times.push(time);
      this.#arrivals?.push(arrival);
      return;
    }
    this.#arrivals ??= this.#times.map((_, at) => arrival - this.#times.length + at);
    const at = this.#firstBehind(time);
    this.#times.splice(at, 0, time);
    this.#arrivals.splice(at, 0, arrival);
  }

  #firstBehind(time: number): number {
    let [low, high] = [this.#head, this.#times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#times[middle] as number) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** In order of arrival. */
  save(): readonly number[] {
    const [times, arrivals] = [this.#times.slice(this.#head), this.#arrivals?.slice(this.#head)];
    if (arrivals === undefined) return times;
    const order = Array.from(arrivals.keys()).sort((a, b) => (arrivals[a] as number) - (arrivals[b] as number));
    return order.map((at) => times[at] as number);
  }
}
