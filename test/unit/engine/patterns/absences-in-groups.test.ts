import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../../worker/engine/operators/row.ts';
import { Harness, type TestEvent } from './harness.ts';
import { and, type Draft, group, maybe, not, or, type PatternOptions, pattern, plus, seq, star, step } from './pattern-builder.ts';

/**
 * `NOT` wherever it may stand: in brackets, at the beginning of a group, between the parts of a branch. What holds of such patterns
 * whatever they are, is asked of random ones. Each step has a type of its own.
 */
const TYPES = ['B', 'C', 'D', 'E'];

const SETTINGS = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 400) };
const TIMEOUT_MS = 20_000 + 20 * SETTINGS.numRuns;

type Selection = NonNullable<PatternOptions['selection']>;

const forms = [step, step, step, plus, star, maybe, (type: string): Draft => step(type, { min: 2, max: 2 })];

function absence(types: readonly string[], withinMs: number | null): Draft {
  return not('X', { as: `x${types.join('')}`, ...(withinMs === null ? {} : { withinMs }) });
}

/** A time of its own, now and then. */
const gap = fc.constantFrom(null, null, null, 2_000);

/** Over all of these types, in their order. */
function draftOver(types: readonly string[], depth: number): fc.Arbitrary<Draft> {
  const [only] = types;
  if (only !== undefined && (types.length === 1 || depth === 0)) return fc.constantFrom(...forms).map((form) => form(only));
  return fc.integer({ min: 1, max: types.length - 1 }).chain((cut) => {
    const parts = fc.tuple(draftOver(types.slice(0, cut), depth - 1), draftOver(types.slice(cut), depth - 1), gap);
    const kinds = fc.constantFrom('or', 'and', 'sequence', 'negated', 'negated', 'leading', 'optional', 'repeated');
    return fc.tuple(kinds, parts).map(([kind, [first, second, withinMs]]) => {
      switch (kind) {
        case 'or':
          return or(first, second);
        case 'and':
          return and(first, second);
        case 'optional':
          return seq(group(first, 0, 1), second);
        case 'repeated':
          return seq(group(first, 1, 2), second);
        case 'leading':
          return seq(group(seq(absence(types, withinMs), first), 0, 2), second);
        case 'negated':
          return seq(first, absence(types, withinMs), second);
        default:
          return seq(first, second);
      }
    });
  });
}

const inputs: fc.Arbitrary<readonly TestEvent[]> = fc
  .array(fc.tuple(fc.constantFrom('A', 'X', 'X', 'F', 'Z', ...TYPES, ...TYPES), fc.constantFrom(0, 1, 1, 2, 3)), {
    minLength: 4,
    maxLength: 14,
  })
  .map((drafts) => {
    let time = 0;
    return drafts.map(([type, gapSeconds]) => {
      time += gapSeconds * 1000;
      return { type, v: null, k: null, time };
    });
  });

const drafts = fc.integer({ min: 2, max: TYPES.length }).chain((types) => draftOver(TYPES.slice(0, types), 3));
const first = step('A');
const last = step('Z');

function matchesOf(draft: Draft, events: readonly TestEvent[], selection: Selection, restartAt = -1): readonly string[] {
  const harness = new Harness(pattern(draft, { selection, withinMs: 30_000, emission: 'longest' }));
  events.forEach((event, at) => {
    if (at === restartAt) harness.restart();
    harness.push(event);
  });
  harness.end();
  return harness.matches.map(({ bound }) =>
    JSON.stringify((bound ?? []).flat().flatMap((row) => (row === null ? [] : [(row as Row).order]))),
  );
}

const HOURS_1000 = 3_600_000_000;

describe('NOT in groups', { timeout: TIMEOUT_MS }, () => {
  test.each(['next', 'strict', 'any'] as const)('a time that is never over changes nothing, under %s', (selection) => {
    fc.assert(
      fc.property(drafts, inputs, (draft, events) => {
        const within = seq(draft, step('F'));
        const bare = matchesOf(seq(first, within, last), events, selection);
        expect(matchesOf(seq(first, group(within, 1, 1, HOURS_1000), last), events, selection)).toEqual(bare);
      }),
      SETTINGS,
    );
  });

  test('every match that skips to the next event is one of those that skip to any', () => {
    fc.assert(
      fc.property(drafts, inputs, fc.boolean(), (draft, events, isNegated) => {
        const all = seq(first, draft, ...(isNegated ? [not('X', { as: 'x' })] : []), last);
        const any = new Set(matchesOf(all, events, 'any'));
        expect(matchesOf(all, events, 'next').filter((match) => !any.has(match))).toEqual([]);
      }),
      SETTINGS,
    );
  });

  test.each(['next', 'strict', 'any'] as const)('a restart at any point changes nothing, under %s', (selection) => {
    fc.assert(
      fc.property(drafts, inputs, fc.nat({ max: 13 }), (draft, events, at) => {
        const all = seq(first, draft, last);
        expect(matchesOf(all, events, selection, at)).toEqual(matchesOf(all, events, selection));
      }),
      SETTINGS,
    );
  });
});
