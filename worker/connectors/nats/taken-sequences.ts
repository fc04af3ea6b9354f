/** As many gaps as are remembered: what is older has been acknowledged long ago. */
const RANGES_MAX = 2_000;

type Range = readonly [from: number, to: number];

/** Numbers of messages that were taken, as ranges: what a server gives again because it has not heard of that need not be taken again. */
export class TakenSequences {
  #ranges: readonly Range[];

  constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
  }

  get ranges(): readonly Range[] {
    return this.#ranges;
  }

  has(sequence: number): boolean {
    const newestBefore = this.#ranges.findLast(([from]) => from <= sequence);
    return newestBefore !== undefined && sequence <= newestBefore[1];
  }

  with(sequences: readonly number[]): TakenSequences {
    return this.#and(sequences.map((sequence): Range => [sequence, sequence]));
  }

  withRange(range: Range): TakenSequences {
    return this.#and([range]);
  }

  #and(added: readonly Range[]): TakenSequences {
    const ranges: [from: number, to: number][] = [];
    for (const [from, to] of [...this.#ranges, ...added].sort(([one], [other]) => one - other)) {
      const last = ranges.at(-1);
      if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else ranges.push([from, to]);
    }
    return new TakenSequences(ranges.slice(-RANGES_MAX));
  }
}
