import { limits } from '../../../shared/limits.ts';

/** A counter of `.tap` with one set of labels. */
export interface Tapped {
  readonly counter: string;
  readonly labels: readonly (readonly [label: string, value: string])[];
}

const OTHER = 'other';

/** Names what taps count. One counter has a bounded number of sets of labels; what has others is counted under one, whose labels are all "other". */
export class LabelSets {
  /** By counter, of the counts that were looked at last: those of a loaded state are another map. */
  #sizes = new Map<string, number>();
  #counts: ReadonlyMap<string, number> | undefined;

  /** The name under which it counts. */
  nameIn(counts: ReadonlyMap<string, number>, { counter, labels }: Tapped): string {
    const name = nameOf(counter, labels);
    if (labels.length === 0 || counts.has(name)) return name;
    if (counts !== this.#counts) this.#look(counts);
    const size = this.#sizes.get(counter) ?? 0;
    const isOther = size >= limits.tapLabelSetsMax;
    if (!isOther) this.#sizes.set(counter, size + 1);
    return isOther
      ? nameOf(
          counter,
          labels.map(([label]) => [label, OTHER] as const),
        )
      : name;
  }

  #look(counts: ReadonlyMap<string, number>): void {
    this.#counts = counts;
    this.#sizes = new Map();
    for (const name of counts.keys()) {
      const end = name.indexOf('{');
      const counter = end < 0 ? name : name.slice(0, end);
      this.#sizes.set(counter, (this.#sizes.get(counter) ?? 0) + 1);
    }
  }
}

function nameOf(counter: string, labels: Tapped['labels']): string {
  if (labels.length === 0) return counter;
  return `${counter}{${labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}}`;
}
