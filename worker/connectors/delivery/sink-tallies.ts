import type { BreakerState } from './circuit-breaker.ts';

/** What the sinks of one name have come to, one after the other. */
export interface SinkTally {
  delivered: number;
  deadLetters: number;
  /** How often the breaker has become each state. */
  readonly transitions: Record<BreakerState, number>;
}

export function newSinkTally(): SinkTally {
  return { delivered: 0, deadLetters: 0, transitions: { closed: 0, half_open: 0, open: 0 } };
}

/** How many events became dead letters. */
export interface SavedLetterCounts {
  readonly bySink: readonly (readonly [sink: string, deadLetters: number])[];
  readonly others: number;
}

/** Names remembered whose sinks are gone: alerts may go to ever new servers. */
const REMEMBERED_MAX = 1_000;

/** Tallies by the name of the sink, which outlive it: a connector that is declared anew counts on. */
export class SinkTallies {
  readonly #tallies = new Map<string, SinkTally>();
  #forgottenLetters = 0;

  of(name: string): SinkTally {
    const known = this.#tallies.get(name);
    if (known !== undefined) return known;
    const made = newSinkTally();
    this.#tallies.set(name, made);
    return made;
  }

  /** Of all names there were. */
  get deadLetters(): number {
    return Array.from(this.#tallies.values()).reduce((sum, { deadLetters }) => sum + deadLetters, this.#forgottenLetters);
  }

  /** Those of each name, and of names that are forgotten. */
  saveLetters(): SavedLetterCounts {
    const counted = Array.from(this.#tallies, ([name, { deadLetters }]) => [name, deadLetters] as const);
    return { bySink: counted.filter(([, deadLetters]) => deadLetters > 0), others: this.#forgottenLetters };
  }

  loadLetters({ bySink, others }: SavedLetterCounts): void {
    for (const [name, deadLetters] of bySink) this.of(name).deadLetters = deadLetters;
    this.#forgottenLetters = others;
  }

  /** Keeps those of these names, and of the others the newest. */
  forget(names: ReadonlySet<string>): void {
    for (const [name, { deadLetters }] of this.#tallies) {
      if (this.#tallies.size <= REMEMBERED_MAX) return;
      if (names.has(name)) continue;
      this.#forgottenLetters += deadLetters;
      this.#tallies.delete(name);
    }
  }
}
