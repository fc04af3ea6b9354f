import * as fc from 'fast-check';
import type { PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { TestEvent } from './harness.ts';
import {
  and,
  binary,
  type Condition,
  constant,
  count,
  type Draft,
  field,
  group,
  held,
  or,
  type PatternOptions,
  pattern,
  type StepOptions,
  seq,
  step,
  unlessFirst,
} from './pattern-builder.ts';

/** Random patterns, small enough to be written out, and random events for them. */

type Shape =
  | {
      readonly kind: 'step';
      readonly type: string;
      readonly quantifier: readonly [number, number];
      readonly where: number;
      readonly withinMs: number | null;
    }
  | { readonly kind: 'sequence' | 'and' | 'or'; readonly items: readonly Shape[] }
  | { readonly kind: 'group'; readonly item: Shape; readonly quantifier: readonly [number, number]; readonly withinMs: number | null };

interface TopItem {
  readonly item: Shape;
  readonly absence: {
    readonly type: string;
    readonly where: number;
    readonly withinMs: number | null;
    /** `NOT (A OR B)`. */
    readonly or: { readonly type: string; readonly where: number } | null;
  } | null;
}

const typeName = fc.constantFrom('A', 'A', 'B', 'B', 'C');
const sometimes = <T>(value: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(null) }, { weight, arbitrary: value });
const gap = fc.integer({ min: 1, max: 5 }).map((seconds) => seconds * 1000);
const QUANTIFIERS: readonly (readonly [number, number])[] = [
  [1, Infinity],
  [0, Infinity],
  [0, 1],
  [2, 2],
  [1, 2],
  [2, 3],
  [2, Infinity],
];
const one: readonly [number, number] = [1, 1];
const quantifier = fc.oneof(
  { weight: 6, arbitrary: fc.constant(one) },
  {
    weight: 5,
    arbitrary: fc.constantFrom(...QUANTIFIERS),
  },
);

const stepShape: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constant('step' as const),
  type: typeName,
  quantifier,
  where: fc.nat({ max: 19 }),
  withinMs: sometimes(gap, 1),
});

const shape: fc.Arbitrary<Shape> = fc.letrec<{ shape: Shape; inner: Shape }>((tie) => ({
  shape: fc.oneof({ maxDepth: 2 }, { weight: 6, arbitrary: stepShape }, { weight: 3, arbitrary: tie('inner') }),
  inner: fc.oneof(
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const, 'sequence' as const),
      items: fc.array(tie('shape'), { minLength: 2, maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant('group' as const), item: tie('shape'), quantifier, withinMs: sometimes(gap, 3) }),
  ),
})).shape;

const topItem: fc.Arbitrary<TopItem> = fc.record({
  item: shape,
  absence: sometimes(
    fc.record({
      type: fc.constantFrom('A', 'B', 'C', 'X', 'X'),
      where: fc.nat({ max: 19 }),
      withinMs: sometimes(gap, 4),
      or: sometimes(fc.record({ type: fc.constantFrom('A', 'B', 'C', 'X'), where: fc.nat({ max: 19 }) }), 3),
    }),
    2,
  ),
});

const options: fc.Arbitrary<PatternOptions> = fc.record({
  selection: fc.constantFrom('next' as const, 'next' as const, 'next' as const, 'strict' as const, 'any' as const),
  emission: fc.constantFrom('longest' as const, 'each' as const, 'subsets' as const),
  afterMatch: fc.constantFrom('no_skip' as const, 'no_skip' as const, 'skip_to_next' as const, 'skip_past_last' as const),
  subsetsMax: fc.constantFrom(3, 10_000),
});

export const randomEvents: fc.Arbitrary<readonly TestEvent[]> = fc
  .array(
    fc.record({
      type: fc.constantFrom('A', 'A', 'A', 'B', 'B', 'B', 'C', 'X'),
      v: fc.oneof({ weight: 12, arbitrary: fc.integer({ min: 0, max: 4 }) }, { weight: 1, arbitrary: fc.constant(null) }),
      k: fc.constantFrom('p', 'p', 'q'),
      gap: fc.constantFrom(0, 1, 1, 1, 2, 3),
    }),
    { minLength: 2, maxLength: 8 },
  )
  .map((drafts) => {
    let time = 0;
    return drafts.map(({ type, v, k, gap: seconds }) => {
      time += seconds * 1000;
      return { type, v, k, time };
    });
  });

/** The same, but now and then an event lies some seconds back. */
export const displacedEvents: fc.Arbitrary<readonly TestEvent[]> = fc
  .tuple(
    randomEvents,
    fc.array(fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 8 }) }), {
      maxLength: 8,
    }),
  )
  .map(([events, back]) => events.map((event, index) => ({ ...event, time: Math.max(0, event.time - (back[index] ?? 0) * 1000) })));

/** Patterns as the checker lets them through: none of the combinations that exclude each other. */
export const randomPattern: fc.Arbitrary<PatternPlan> = fc
  .record({
    items: fc.array(topItem, { minLength: 1, maxLength: 3 }),
    options,
    withinMs: sometimes(
      fc.integer({ min: 2, max: 12 }).map((seconds) => seconds * 1000),
      5,
    ),
    cancel: sometimes(fc.nat({ max: 19 }), 1),
    monotone: fc.nat({ max: 9 }),
  })
  .map(({ items, options: chosen, withinMs, cancel, monotone }) => {
    const names: Names = { all: [], closures: [] };
    const drafts = items.flatMap(({ item, absence }, index) => {
      const isLast = index === items.length - 1;
      const isEndless = isLast && withinMs === null && absence?.withinMs === null;
      return absence === null || isEndless ? [draftOf(item, names)] : [draftOf(item, names), absenceOf(absence, names)];
    });
    const [only] = names.closures;
    const isMonotone = monotone === 0 && names.closures.length === 1 && only !== undefined && chosen.selection !== 'any';
    return pattern(seq(...drafts), {
      ...allowed(chosen, isMonotone, items.at(-1)?.absence !== null),
      ...(withinMs === null ? {} : { withinMs }),
      ...(cancel === null ? {} : { not: [{ type: 'X', ...whereOf(cancel, null, ['x0']) }] }),
      ...(isMonotone ? { monotone: { alias: only, direction: 'increasing' as const } } : {}),
    });
  });

/** What excludes each other in the language is left out here too. */
function allowed(options: PatternOptions, isMonotone: boolean, endsWithAbsence: boolean): PatternOptions {
  const emission = isMonotone || options.selection === 'any' ? 'longest' : (options.emission ?? 'longest');
  const afterMatch = emission === 'each' && options.afterMatch === 'skip_past_last' ? 'no_skip' : (options.afterMatch ?? 'no_skip');
  const selection = options.selection === 'strict' && endsWithAbsence ? 'next' : (options.selection ?? 'next');
  return { ...options, selection, emission, afterMatch };
}

/** Steps are called `x0, x1, ..`; a condition may read those before it. */
interface Names {
  readonly all: string[];
  readonly closures: string[];
}

function draftOf(item: Shape, names: Names): Draft {
  switch (item.kind) {
    case 'step':
      return stepOf(item, names);
    case 'group':
      return group(draftOf(item.item, names), item.quantifier[0], item.quantifier[1], item.withinMs);
    case 'and':
      return and(...item.items.map((one) => draftOf(one, names)));
    case 'or':
      return or(...item.items.map((one) => draftOf(one, names)));
    case 'sequence':
      return seq(...item.items.map((one) => draftOf(one, names)));
  }
}

function stepOf({ type, quantifier: [min, max], where, withinMs }: Extract<Shape, { kind: 'step' }>, names: Names): Draft {
  const alias = `x${names.all.length}`;
  const condition = whereOf(where, max > 1 ? alias : null, names.all);
  if (max > 1) names.closures.push(alias);
  names.all.push(alias);
  return step(type, { as: alias, min, max, ...condition, ...(withinMs === null ? {} : { withinMs }) });
}

function absenceOf({ type, where, withinMs, or: other }: NonNullable<TopItem['absence']>, names: Names): Draft {
  const condition = whereOf(where, null, names.all);
  const alias = `x${names.all.length}`;
  names.all.push(alias);
  const or = other === null ? [] : [absenceOf({ ...other, withinMs, or: null }, names)];
  return step(type, { as: alias, not: true, or, ...condition, ...(withinMs === null ? {} : { withinMs }) });
}

function whereOf(choice: number, own: string | null, before: readonly string[]): Pick<StepOptions, 'where'> {
  const where = conditionOf(choice, own, before);
  return where === undefined ? {} : { where };
}

function conditionOf(choice: number, own: string | null, before: readonly string[]): Condition | undefined {
  const earlier = before[choice % Math.max(1, before.length)];
  if (choice === 0) return binary('>', field('v'), constant(1));
  if (choice === 1) return binary('<', field('v'), constant(3));
  if ((choice === 2 || choice === 3) && own !== null) return unlessFirst(own, binary('>=', field('v'), held(own, 'v')));
  if ((choice === 4 || choice === 5) && earlier !== undefined) return binary('==', field('v'), held(earlier, 'v'));
  if (choice === 6 && earlier !== undefined) return binary('>=', field('v'), held(earlier, 'v'));
  if (choice === 7 && earlier !== undefined) return binary('<=', count(earlier), constant(1));
  return undefined;
}
