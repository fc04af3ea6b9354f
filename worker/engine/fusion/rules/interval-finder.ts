import { type Finder, type Interval, isWithin, type PlacedRule } from './finder.ts';
import { listsOf, WrittenList } from './rule-lists.ts';

/** Entries of all lists together; rules that overlap more are tried one by one. */
const ENTRIES_MAX = 4_000_000;

type PlacedInterval = { readonly place: number; readonly bounds: Interval };

/**
 * Rules by the numbers between which a column must lie. The ends of all rules cut the line into points and the gaps between
 * them; each has the list of rules that reach over it.
 */
export function intervalFinder(rules: readonly PlacedRule[]): Finder {
  const intervals = rules.flatMap(({ place, bounds }) => (bounds.kind === 'between' ? { place, bounds } : []));
  const all = intervals.flatMap(({ bounds: { low, high } }) => [low, high]);
  const ends = Float64Array.from(new Set(all.filter(Number.isFinite))).sort();
  const placeOf = placesAmong(ends);
  const lists = listsBetween(intervals, ends, placeOf);
  return lists === null ? tryingFinder(intervals) : { lists: listsOf(lists), listOf: (value) => placeOf(value as number) };
}

/**
 * List 2i is the gap below end i, 2i + 1 the end itself; the last is the gap above all. Null = too much overlap.
 */
function listsBetween(intervals: readonly PlacedInterval[], ends: Float64Array, placeOf: (value: number) => number): number[][] | null {
  const lists: number[][] = Array.from({ length: 2 * ends.length + 1 }, () => []);
  let entries = 0;
  for (const { place, bounds } of intervals) {
    const from = bounds.low === -Infinity ? 0 : placeOf(bounds.low) + (bounds.hasLow ? 0 : 1);
    const to = bounds.high === Infinity ? lists.length - 1 : placeOf(bounds.high) - (bounds.hasHigh ? 0 : 1);
    entries += Math.max(0, to - from + 1);
    if (entries > ENTRIES_MAX) return null;
    for (let at = from; at <= to; at++) lists[at]?.push(place);
  }
  return lists;
}

function tryingFinder(intervals: readonly PlacedInterval[]): Finder {
  const list = new WrittenList(intervals.length);
  const listOf = (value: unknown): number => {
    list.clear();
    for (const { place, bounds } of intervals) if (isWithin(value as number, bounds)) list.add(place);
    return 0;
  };
  return { lists: list, listOf };
}

/**
 * Which list a value belongs to. The line from the first end to the last is divided into as many equal parts as there are ends;
 * a value is sought among the ends of its part alone. Rounding does no harm: of two values the smaller is never in a later part.
 */
function placesAmong(ends: Float64Array): (value: number) => number {
  const count = ends.length;
  if (count === 0) return () => 0;
  const [first, last] = [ends[0] as number, ends[count - 1] as number];
  const perUnit = count / (last - first);
  const isDivided = perUnit > 0 && perUnit < Infinity;
  const partOf = (value: number): number => (isDivided ? Math.floor((value - first) * perUnit) : 0);
  /** How many ends lie before each part. */
  const before = new Int32Array(partOf(last) + 2);
  for (const end of ends) (before[partOf(end) + 1] as number)++;
  for (let part = 1; part < before.length; part++) (before[part] as number) += before[part - 1] as number;
  return (value) => {
    if (value < first) return 0;
    if (value > last) return 2 * count;
    const part = partOf(value);
    let low = before[part] as number;
    let high = before[part + 1] as number;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return ends[low] === value ? 2 * low + 1 : 2 * low;
  };
}
