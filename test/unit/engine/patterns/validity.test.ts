import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Row } from '../../../../worker/engine/operators/row.ts';
import { Harness, type TestEvent } from './harness.ts';
import { and, type Draft, group, maybe, not, or, pattern, plus, seq, star, step } from './pattern-builder.ts';

/**
 * Whatever a run does on its way, its match says by itself whether it is one: each step has as many events as it may, sequences are in order,
 * of the branches of `OR` one is there, and no X lies where `NOT X` stands. Each step of a pattern has a type of its own, so the
 * events of a match are told apart by their types.
 */
const TYPES = ['B', 'C', 'D', 'E', 'F', 'G'];

type Positions = ReadonlyMap<string, readonly number[]>;

const SETTINGS = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) };
const TIMEOUT_MS = 20_000 + 20 * SETTINGS.numRuns;

const forms = [step, step, plus, star, maybe, (type: string): Draft => step(type, { min: 2, max: 2 })];

/** Over all of these types, in their order. */
function draftOver(types: readonly string[], depth: number): fc.Arbitrary<Draft> {
  const [only] = types;
  if (only !== undefined && (types.length === 1 || depth === 0)) return fc.constantFrom(...forms).map((form) => form(only));
  return fc.integer({ min: 1, max: types.length - 1 }).chain((cut) => {
    const parts = fc.tuple(draftOver(types.slice(0, cut), depth - 1), draftOver(types.slice(cut), depth - 1));
    return fc
      .tuple(fc.constantFrom('or', 'or', 'and', 'sequence', 'negated', 'optional', 'leading'), parts)
      .map(([kind, [first, second]]) => {
        switch (kind) {
          case 'or':
            return or(first, second);
          case 'and':
            return and(first, second);
          case 'optional':
            return seq(group(first, 0, 1), second);
          case 'negated':
            return seq(first, not('X', { as: `x${cut}${types.length}${types[0]}` }), second);
          case 'leading':
            return seq(group(seq(not('X', { as: `y${cut}${types.length}${types[0]}` }), first), 0, 1), second);
          default:
            return seq(first, second);
        }
      });
  });
}

const drafts = fc
  .integer({ min: 2, max: TYPES.length })
  .chain((types) => draftOver(TYPES.slice(0, types), 3))
  .map((item) => seq(step('A'), not('X', { as: 'x' }), item));

const inputs: fc.Arbitrary<readonly TestEvent[]> = fc
  .array(fc.constantFrom('A', 'X', ...TYPES, ...TYPES), { minLength: 4, maxLength: 40 })
  .map((types) => types.map((type, at) => ({ type, v: null, k: null, time: at * 1000 })));

/** What is wrong with these events as a match; null = nothing. `before`: where the step before it lies. */
function problemOf(draft: Draft, held: Positions, barred: readonly number[], before = -1): string | null {
  switch (draft.kind) {
    case 'step': {
      const { min = 1, max = 1 } = draft.options;
      const number = heldBy(draft, held).length;
      return number >= min && number <= max ? null : `${number} of ${draft.type}`;
    }
    case 'group':
      return heldBy(draft, held).length === 0 ? null : problemOf(draft.item, held, barred, before);
    case 'and':
      return firstProblem(draft.items.map((item) => problemOf(item, held, barred, before)));
    case 'or': {
      const there = draft.items.filter((item) => heldBy(item, held).length > 0);
      if (there.length > 1) return 'two branches';
      const problems = (there.length === 1 ? there : draft.items).map((item) => problemOf(item, held, barred, before));
      return problems.includes(null) ? null : firstProblem(problems);
    }
    case 'sequence':
      return sequenceProblem(draft.items, held, barred, before);
  }
}

function sequenceProblem(items: readonly Draft[], held: Positions, barred: readonly number[], before: number): string | null {
  let last = before;
  let isBarred = false;
  for (const item of items) {
    if (isNot(item)) {
      isBarred = true;
      continue;
    }
    const problem = problemOf(item, held, barred, last);
    if (problem !== null) return problem;
    const own = heldBy(item, held);
    if (own.length === 0) continue;
    const first = Math.min(...own);
    if (first <= last) return `${first} is not behind ${last}`;
    if (isBarred && last >= 0 && barred.some((at) => at > last && at < first)) return `an X between ${last} and ${first}`;
    last = Math.max(...own);
    isBarred = false;
  }
  return null;
}

function isNot(draft: Draft): boolean {
  return draft.kind === 'step' && draft.options.not === true;
}

function heldBy(draft: Draft, held: Positions): readonly number[] {
  if (draft.kind === 'step') return held.get(draft.type) ?? [];
  return (draft.kind === 'group' ? [draft.item] : draft.items).flatMap((item) => (isNot(item) ? [] : heldBy(item, held)));
}

function firstProblem(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

/** By type, where in the input its events lie. */
function positionsOf({ bound }: Row): Positions {
  const positions = new Map<string, number[]>();
  for (const row of (bound ?? []).flat() as readonly (Row | null)[]) {
    if (row !== null) positions.set(row.type, [...(positions.get(row.type) ?? []), row.order - 1]);
  }
  return positions;
}

test.each(['next', 'strict', 'any'] as const)('every match under %s is one by itself', { timeout: TIMEOUT_MS }, (selection) => {
  fc.assert(
    fc.property(drafts, inputs, (draft, events) => {
      const few = selection === 'any' ? events.slice(0, 16) : events;
      const harness = new Harness(pattern(draft, { selection, withinMs: 12_000, emission: 'longest' }));
      for (const event of few) harness.push(event);
      harness.end();
      const barred = few.flatMap(({ type }, at) => (type === 'X' ? [at] : []));
      const problems = harness.matches.flatMap((match) => problemOf(draft, positionsOf(match), barred) ?? []);
      expect(problems).toEqual([]);
    }),
    SETTINGS,
  );
});
