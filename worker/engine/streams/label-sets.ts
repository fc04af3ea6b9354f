import { limits } from '../../../shared/limits.ts';
import { isCountedByName } from './named-counts.ts';

/** A counter of `.tap` with one set of labels. */
export interface Tapped {
  readonly counter: string;
  readonly labels: readonly (readonly [label: string, value: string])[];
}

const OTHER = 'other';

/** Names what taps count. One counter has a bounded number of sets of labels, none of them long; what has others is counted under one, whose labels are all "other". */
export class LabelSets {
  /** By counter, of the counts that were looked at last: those of a loaded state are another map. */
  #sizes = new Map<string, number>();
  #counts: ReadonlyMap<string, number> | undefined;

  /** Counts that were saved, which may be anybody's, within the same bounds. */
  static load(saved: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const [sets, counts] = [new LabelSets(), new Map<string, number>()];
    const counters = new Set<string>();
    for (const [saidName, count] of saved) {
      const tapped = tappedOf(saidName);
      counters.add(tapped.counter);
      if (counters.size > limits.streamOperatorsMax || !isCountedByName(tapped.counter)) continue;
      const name = sets.nameIn(counts, tapped);
      counts.set(name, (counts.get(name) ?? 0) + count);
    }
    return counts;
  }

  /** The name under which it counts. */
  nameIn(counts: ReadonlyMap<string, number>, { counter, labels }: Tapped): string {
    if (labels.some(([, value]) => !isCountedByName(value))) return otherOf(counter, labels);
    const name = nameOf(counter, labels);
    if (labels.length === 0 || counts.has(name) || isOther(labels)) return name;
    if (counts !== this.#counts) this.#look(counts);
    const size = this.#sizes.get(counter) ?? 0;
    if (size >= limits.tapLabelSetsMax) return otherOf(counter, labels);
    this.#sizes.set(counter, size + 1);
    return name;
  }

  #look(counts: ReadonlyMap<string, number>): void {
    this.#counts = counts;
    this.#sizes = new Map();
    for (const name of counts.keys()) {
      const { counter, labels } = tappedOf(name);
      if (isOther(labels)) continue;
      this.#sizes.set(counter, (this.#sizes.get(counter) ?? 0) + 1);
    }
  }
}

function otherOf(counter: string, labels: Tapped['labels']): string {
  return nameOf(
    counter,
    labels.map(([label]) => [label, OTHER] as const),
  );
}

function isOther(labels: Tapped['labels']): boolean {
  return labels.every(([, value]) => value === OTHER);
}

/** What `nameOf` made the name of. */
function tappedOf(name: string): Tapped {
  const end = name.indexOf('{');
  if (end < 0) return { counter: name, labels: [] };
  const labels = name.slice(end + 1, -1).matchAll(/([^=,]+)=("(?:[^"\\]|\\.)*")/g);
  return { counter: name.slice(0, end), labels: Array.from(labels, ([, label = '', value = '""']) => [label, textOf(value)] as const) };
}

function textOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return OTHER; // No tap has made it.
  }
}

function nameOf(counter: string, labels: Tapped['labels']): string {
  if (labels.length === 0) return counter;
  return `${counter}{${labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}}`;
}
