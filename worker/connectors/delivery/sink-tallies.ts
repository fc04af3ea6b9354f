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
  /** Those of the others that no sink was to get, by what they came of; absent in those of earlier versions. */
  readonly unsent?: readonly (readonly [connector: string, deadLetters: number])[];
}

/** Names remembered whose sinks are gone: alerts may go to ever new servers. */
const REMEMBERED_MAX = 1_000;

/** Tallies by the name of the sink, which outlive it: a connector that is declared anew counts on. */
export class SinkTallies {
  readonly #tallies = new Map<string, SinkTally>();
  /** Dead letters that no sink was to get: of sources, and of rows that a stream could not evaluate. */
  readonly #unsent = new Map<string, number>();
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
    const bySink = Array.from(this.#tallies.values()).reduce((sum, { deadLetters }) => sum + deadLetters, this.#forgottenLetters);
    return Array.from(this.#unsent.values()).reduce((sum, unsent) => sum + unsent, bySink);
  }

  /** Of these, and of all that no sink was to get. A connector may be a sink and a source. */
  lettersOf(names: readonly string[]): Map<string, number> {
    const all = [...names, ...this.#unsent.keys()];
    return new Map(all.map((name) => [name, (this.#tallies.get(name)?.deadLetters ?? 0) + (this.#unsent.get(name) ?? 0)]));
  }

  countUnsent(connector: string): void {
    this.#unsent.set(connector, (this.#unsent.get(connector) ?? 0) + 1);
    if (this.#unsent.size <= REMEMBERED_MAX) return;
    const [[oldest, letters] = ['', 0]] = this.#unsent;
    this.#forgottenLetters += letters;
    this.#unsent.delete(oldest);
  }

  /** Those of each name, and of all others. */
  saveLetters(): SavedLetterCounts {
    const counted = Array.from(this.#tallies, ([name, { deadLetters }]) => [name, deadLetters] as const);
    const bySink = counted.filter(([, deadLetters]) => deadLetters > 0);
    const unsent = [...this.#unsent];
    return { bySink, others: unsent.reduce((sum, [, letters]) => sum + letters, this.#forgottenLetters), unsent };
  }

  loadLetters({ bySink, others, unsent = [] }: SavedLetterCounts): void {
    for (const [name, deadLetters] of bySink) this.of(name).deadLetters = deadLetters;
    for (const [name, letters] of unsent) this.#unsent.set(name, letters);
    this.#forgottenLetters = unsent.reduce((left, [, letters]) => left - letters, others);
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
