import { analyticsOperators } from './analytics.ts';
import type { OperatorDescriptor, RefusedOperator } from './descriptor.ts';
import { effectOperators } from './effects.ts';
import { filteringOperators } from './filtering.ts';
import { hygieneOperators } from './hygiene.ts';
import { patternOperators } from './patterns.ts';
import { shapingOperators } from './shaping.ts';
import { sourceOperators } from './sources.ts';
import { structureOperators } from './structure.ts';
import { timeOperators } from './time.ts';
import { windowOperators } from './windows.ts';

/** Every operator of the language, by family. */
export const operators: readonly OperatorDescriptor[] = [
  ...filteringOperators,
  ...shapingOperators,
  ...windowOperators,
  ...hygieneOperators,
  ...effectOperators,
  ...structureOperators,
  ...timeOperators,
  ...sourceOperators,
  ...patternOperators,
  ...analyticsOperators,
];

/** Operators that users of other languages reach for. */
export const refusedOperators: readonly RefusedOperator[] = [
  { name: 'collect', hint: 'write `.window(..).aggregate(items: collect(field))`' },
  { name: 'any', hint: 'write `.having(any(items, x => ..))` behind `.aggregate(items: collect(..))`, or `.where(..)`' },
  { name: 'all', hint: 'write `.having(all(items, x => ..))` behind `.aggregate(items: collect(..))`, or a pattern `all X as x -> ..`' },
  { name: 'flat_map', hint: 'write `.process(f(..))` with a function that emits once per item' },
];

const byName = new Map(
  operators.flatMap((operator) => [operator.name, ...(operator.aliases ?? [])].map((name) => [name, operator] as const)),
);

/** Names and second spellings of all operators. */
export const operatorNames: readonly string[] = [...byName.keys()];

/** The operator that a name or a second spelling means. */
export function findOperator(name: string): OperatorDescriptor | undefined {
  return byName.get(name);
}
