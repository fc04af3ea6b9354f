import { PlacedSlots } from '../placed-slots.ts';
import type { Finder, PlacedRule } from './finder.ts';
import { listsOf } from './rule-lists.ts';

/** Rules by the constant that a column must equal. */
export function equalityFinder(rules: readonly PlacedRule[]): Finder {
  const byValue = new Map<unknown, number>();
  const lists: number[][] = [[]];
  for (const { place, bounds } of rules) {
    if (bounds.kind !== 'equals') continue;
    const list = byValue.get(bounds.value);
    if (list === undefined) byValue.set(bounds.value, lists.push([place]) - 1);
    else lists[list]?.push(place);
  }
  const byPlace = new PlacedSlots();
  return {
    lists: listsOf(lists),
    listOf: (value, place) => {
      if (place === undefined) return byValue.get(value) ?? 0;
      const known = byPlace.slotOf(place);
      if (known >= 0) return known;
      const list = byValue.get(value) ?? 0;
      byPlace.remember(place, list);
      return list;
    },
  };
}
