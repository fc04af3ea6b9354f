import type { Finder, PlacedRule, Rule } from './rule-index.ts';

const NONE: readonly never[] = [];

/** Rules by the constant that a column must equal. */
export class EqualityFinder implements Finder {
  readonly #byValue = new Map<unknown, Rule[]>();

  constructor(rules: readonly PlacedRule[]) {
    for (const { rule, bounds } of rules) {
      if (bounds.kind !== 'equals') continue;
      const same = this.#byValue.get(bounds.value);
      if (same === undefined) this.#byValue.set(bounds.value, [rule]);
      else same.push(rule);
    }
  }

  readonly rules = (value: unknown): readonly Rule[] => this.#byValue.get(value) ?? NONE;
}
