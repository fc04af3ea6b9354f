import { invariant } from '../../../shared/errors/error.ts';
import type { Entry, Index, Term } from './messages.ts';

/**
 * The log in memory, from behind `baseIndex` on; what is before it is in a snapshot.
 *
 * Invariant: `baseIndex <= commit <= lastIndex`; the indexes of entries follow each other, and their terms never fall.
 */
export class RaftLog {
  #baseIndex: Index;
  #baseTerm: Term;
  #entries: Entry[];
  #commit: Index;
  /** Everything at and after it has not been handed out to be written yet. */
  #unwrittenFrom: Index | undefined;

  constructor(baseIndex: Index, baseTerm: Term, entries: readonly Entry[], commit: Index) {
    this.#baseIndex = baseIndex;
    this.#baseTerm = baseTerm;
    this.#entries = [...entries];
    this.#commit = Math.max(commit, baseIndex);
    this.#entries.forEach((entry, at) => {
      invariant(entry.index === baseIndex + 1 + at, `the log has entry ${entry.index} where ${baseIndex + 1 + at} belongs`);
    });
    invariant(this.#commit <= this.lastIndex, `the log ends at ${this.lastIndex}, before what is committed: ${this.#commit}`);
  }

  get baseIndex(): Index {
    return this.#baseIndex;
  }

  get commit(): Index {
    return this.#commit;
  }

  get lastIndex(): Index {
    return this.#baseIndex + this.#entries.length;
  }

  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? this.#baseTerm;
  }

  /** Undefined where the log does not reach, at either end. */
  termAt(index: Index): Term | undefined {
    return index === this.#baseIndex ? this.#baseTerm : this.#entries[index - this.#baseIndex - 1]?.term;
  }

  /** The entries `from <= index <= through`. */
  slice(from: Index, through: Index): Entry[] {
    invariant(from > this.#baseIndex && through <= this.lastIndex, () => `entries ${from} to ${through} are not in the log`);
    return this.#entries.slice(from - this.#baseIndex - 1, through - this.#baseIndex);
  }

  /** As many entries from `from` on as fit into a message; at least one if there is any. */
  batch(from: Index, entriesMax: number, bytesMax: number): Entry[] {
    const found: Entry[] = [];
    let bytes = 0;
    for (let at = from - this.#baseIndex - 1; at < this.#entries.length && found.length < entriesMax; at++) {
      const entry = this.#entries[at] as Entry;
      bytes += entry.data.length;
      if (found.length > 0 && bytes > bytesMax) break;
      found.push(entry);
    }
    return found;
  }

  /** Paper §5.4.1: later term wins, then the longer log. */
  isUpToDate(lastIndex: Index, lastTerm: Term): boolean {
    return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.lastIndex);
  }

  append(entries: readonly Entry[]): void {
    for (const entry of entries) {
      invariant(entry.index === this.lastIndex + 1, () => `entry ${entry.index} is appended behind ${this.lastIndex}`);
      invariant(entry.term >= this.lastTerm, 'the terms of the log fall');
      this.#entries.push(entry);
      this.#unwrittenFrom = Math.min(this.#unwrittenFrom ?? entry.index, entry.index);
    }
  }

  /**
   * Takes over what a leader sent (paper, figure 2, AppendEntries 3 and 4): removes entries from the first conflict on, and only from
   * there, since a late message must not take away what a newer one brought. `entries` follow an entry that agrees. Returns those that are
   * new here, the first of which is where the log was cut off if it was.
   */
  merge(entries: readonly Entry[]): readonly Entry[] {
    const at = entries.findIndex(({ index, term }) => this.termAt(index) !== term && index > this.#baseIndex);
    if (at < 0) return [];
    const added = entries.slice(at);
    const first = added[0] as Entry;
    if (first.index <= this.lastIndex) this.#truncateFrom(first.index);
    this.append(added);
    return added;
  }

  #truncateFrom(index: Index): void {
    invariant(index > this.#commit, `the committed entry ${index} would be removed`);
    this.#entries.length = index - this.#baseIndex - 1;
    this.#unwrittenFrom = Math.min(this.#unwrittenFrom ?? index, index);
  }

  commitTo(index: Index): void {
    invariant(index >= this.#commit, () => `the commit index falls from ${this.#commit} to ${index}`);
    invariant(index <= this.lastIndex, () => `entry ${index} is committed, but the log ends at ${this.lastIndex}`);
    this.#commit = index;
  }

  /**
   * The last index at or before `index` whose term is not above `term`: where two logs can agree at the latest. When the term of the base is
   * above it too, that is somewhere before the base, of which no more is known.
   */
  lastAtOrBelow(index: Index, term: Term): Index {
    let found = Math.min(index, this.lastIndex);
    while (found >= this.#baseIndex && (this.termAt(found) as Term) > term) found--;
    return found;
  }

  compactTo(index: Index): void {
    invariant(index <= this.#commit, `entry ${index} is not committed, so no snapshot has it`);
    if (index <= this.#baseIndex) return;
    this.#baseTerm = this.termAt(index) as Term;
    this.#entries = this.#entries.slice(index - this.#baseIndex);
    this.#baseIndex = index;
    if (this.#unwrittenFrom !== undefined && this.#unwrittenFrom <= index) this.#unwrittenFrom = index + 1;
  }

  /** Forgets everything: a snapshot stands for all up to `index`. */
  reset(index: Index, term: Term): void {
    invariant(index > this.#commit, `a snapshot of ${index} would undo what is committed: ${this.#commit}`);
    this.#baseIndex = index;
    this.#baseTerm = term;
    this.#entries = [];
    this.#commit = index;
    this.#unwrittenFrom = undefined;
  }

  /** What has changed since the last call, as the first index and the entries that now stand there. */
  takeUnwritten(): { readonly from: Index; readonly entries: readonly Entry[] } | undefined {
    const from = this.#unwrittenFrom;
    this.#unwrittenFrom = undefined;
    return from === undefined ? undefined : { from, entries: this.slice(from, this.lastIndex) };
  }
}
