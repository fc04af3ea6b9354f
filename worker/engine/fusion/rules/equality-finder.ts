import { PlacedSlots } from '../placed-slots.ts';
import type { Finder, PlacedRule } from './finder.ts';
import { listsByNumber } from './rule-lists.ts';

/** Rules by the constant that a column must equal. */
export function equalityFinder(rules: readonly PlacedRule[]): Finder {
  const byValue = new Map<unknown, number>();
  // The first list is that of the values of which there is no rule.
  const listOfRule = new Int32Array(rules.length);
  rules.forEach(({ bounds }, at) => {
    if (bounds.kind !== 'equals') return;
    const known = byValue.get(bounds.value);
    const list = known ?? byValue.size + 1;
    if (known === undefined) byValue.set(bounds.value, list);
    listOfRule[at] = list;
  });
  const byPlace = new PlacedSlots();
  return {
    lists: listsByNumber(rules, listOfRule, byValue.size + 1),
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
