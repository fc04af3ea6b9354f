/**
 * The earliest deadline of each of some waiters, who stand in an order. A binary tree of minima, so that both a change and the
 * question who comes next cost as many steps as their number has digits.
 */
export class DeadlineTree {
  private readonly size: number;
  /** A power of two. */
  private readonly leaves: number;
  /** The children of the minimum at `n` are at `2n` and `2n + 1`; the waiters' deadlines begin at `leaves`. */
  private readonly minima: Float64Array;

  constructor(size: number) {
    this.size = size;
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(size, 1)));
    this.minima = new Float64Array(2 * this.leaves).fill(Infinity);
  }

  /** Infinity when nobody waits. */
  earliest(): number {
    return this.minima[1] as number;
  }

  set(place: number, deadline: number): void {
    const { minima } = this;
    let at = place + this.leaves;
    if (minima[at] === deadline) return;
    minima[at] = deadline;
    for (at >>= 1; at > 0; at >>= 1) {
      const [left, right] = [minima[2 * at] as number, minima[2 * at + 1] as number];
      const least = left < right ? left : right;
      if (minima[at] === least) return;
      minima[at] = least;
    }
  }

  /** The first place from `from` on whose deadline has come at `time`; the number of places when there is none. */
  next(from: number, time: number): number {
    const { minima, leaves, size } = this;
    if (from >= size || !((minima[1] as number) <= time)) return size;
    let at = from + leaves;
    while (!((minima[at] as number) <= time)) {
      while ((at & 1) === 1) at >>= 1;
      if (at === 0) return size;
      at++;
    }
    while (at < leaves) {
      at *= 2;
      if (!((minima[at] as number) <= time)) at++;
    }
    return Math.min(at - leaves, size);
  }
}
