import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PatternNode, PatternPlan } from '../../../../shared/language/plan/plan.ts';
import type { Binding, Row } from '../../../../worker/engine/operators/row.ts';
import { Harness, type HarnessOptions, rowOf, type TestEvent } from './harness.ts';
import { isCovered, Oracle } from './oracle.ts';
import { and, type Draft, group, maybe, not, or, pattern, seq, star, step } from './pattern-builder.ts';
import { displacedEvents, randomEvents, randomPattern } from './random-patterns.ts';
import { TooManyWords } from './words.ts';

/** How many cases each property runs. */
const SETTINGS = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) };
const TIMEOUT_MS = 20_000 + 20 * SETTINGS.numRuns;

function byTheOracle(plan: PatternPlan, events: readonly TestEvent[], by: string | undefined): readonly string[] | null {
  const rows = events.map((event, index) => rowOf(event, index + 1));
  const harness = new Harness(plan);
  const partition = (row: Row): string => (by === undefined ? '' : String(row.fields.get(by)));
  try {
    const oracle = new Oracle(plan, rows, { expression: (expression) => harness.expression(expression), partition, until: Infinity });
    return oracle.run().map(({ captures, time }) => `${time} ${JSON.stringify(captures)}`);
  } catch (thrown) {
    if (thrown instanceof TooManyWords) return null;
    throw thrown;
  }
}

function byTheMatcher(plan: PatternPlan, events: readonly TestEvent[], options: HarnessOptions, restartAt = -1): readonly string[] {
  const harness = new Harness(plan, options);
  events.forEach((event, index) => {
    if (index === restartAt) harness.restart();
    harness.push(event);
  });
  if (restartAt >= events.length) harness.restart();
  harness.end();
  return harness.matches.map((match) => `${match.time} ${JSON.stringify((match.bound ?? []).map(positions))}`);
}

function isInOrder(events: readonly TestEvent[]): boolean {
  return events.every(({ time }, index) => time >= (events[index - 1]?.time ?? 0));
}

/** A step or a group has a `within` of its own. */
function hasGaps({ root, steps }: PatternPlan): boolean {
  const isTimed = (node: PatternNode): boolean =>
    node.kind !== 'step' && ((node.kind === 'group' && node.withinMs !== null) || childrenOf(node).some(isTimed));
  return steps.some(({ withinMs, negated }) => !negated && withinMs !== null) || isTimed(root);
}

function childrenOf(node: Exclude<PatternNode, { kind: 'step' }>): readonly PatternNode[] {
  return node.kind === 'group' ? [node.item] : node.items;
}

function positions(binding: Binding): readonly number[] {
  const rows = binding === null ? [] : Array.isArray(binding) ? binding : [binding as Row];
  return rows.map((row: Row) => row.order - 1);
}

describe('the matcher against brute force', { timeout: TIMEOUT_MS }, () => {
  test('gives the same matches in the same order', () => {
    fc.assert(
      fc.property(randomPattern, displacedEvents, fc.constantFrom(undefined, 'k'), (plan, events, by) => {
        fc.pre(isCovered(plan) && (isInOrder(events) || !hasGaps(plan)));
        const expected = byTheOracle(plan, events, by);
        fc.pre(expected !== null);
        expect(byTheMatcher(plan, events, by === undefined ? {} : { by })).toEqual(expected);
      }),
      { ...SETTINGS, maxSkipsPerRun: 1000 },
    );
  });

  test('gives the same matches where a NOT stands behind a part of several steps', () => {
    const tail = maybe('B', { as: 'tail' });
    const parts: readonly Draft[] = [
      group(seq(step('B', { as: 'p' }), maybe('C', { as: 'q' })), 1, 1, 9_000),
      group(seq(step('B', { as: 'p' }), maybe('C', { as: 'q' })), 1, 2),
      group(seq(step('B', { as: 'p' }), star('A', { as: 'q' }), maybe('C', { as: 'r' })), 0, Infinity),
      and(seq(step('B', { as: 'p' }), maybe('A', { as: 'q' })), step('C', { as: 'r' })),
      and(group(seq(step('B', { as: 'p' }), maybe('A', { as: 'q' })), 1, 2), seq(step('C', { as: 'r' }), maybe('B', { as: 's' }))),
      or(seq(step('B', { as: 'p' }), maybe('A', { as: 'q' })), step('C', { as: 'r' })),
    ];
    const patterns = fc
      .tuple(fc.constantFrom(...parts), fc.boolean(), fc.constantFrom('next' as const, 'any' as const, 'strict' as const))
      .map(([part, hasTail, selection]) => {
        const items = [step('A', { as: 'first' }), part, ...(hasTail ? [tail] : []), not('X', { as: 'x' }), step('A', { as: 'last' })];
        return pattern(seq(...items), { selection, emission: 'longest', withinMs: 30_000 });
      });
    fc.assert(
      fc.property(patterns, randomEvents, (plan, events) => {
        fc.pre(isCovered(plan));
        const expected = byTheOracle(plan, events, undefined);
        fc.pre(expected !== null);
        expect(byTheMatcher(plan, events, {})).toEqual(expected);
      }),
      { ...SETTINGS, maxSkipsPerRun: 1000 },
    );
  });
});

describe('the matcher against itself', { timeout: TIMEOUT_MS }, () => {
  test('gives the same matches with and without the index', () => {
    fc.assert(
      fc.property(randomPattern, displacedEvents, (plan, events) => {
        expect(byTheMatcher(plan, events, { isIndexed: true })).toEqual(byTheMatcher(plan, events, { isIndexed: false }));
      }),
      SETTINGS,
    );
  });

  test('gives the same matches when its state is saved and loaded at any point', () => {
    fc.assert(
      fc.property(randomPattern, displacedEvents, fc.nat({ max: 7 }), (plan, events, at) => {
        expect(byTheMatcher(plan, events, { by: 'k' }, at)).toEqual(byTheMatcher(plan, events, { by: 'k' }));
      }),
      SETTINGS,
    );
  });
});
