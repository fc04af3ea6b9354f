import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inputs, outputsOf, type TestEvent, timeOperators } from '../windows/timeline.ts';
import { type JoinShape, joinOutputs } from './oracle.ts';

const RUNS = Number(process.env['JOIN_RUNS'] ?? 200);

const EVENTS = ['A', 'B', 'C'].map((type) => `event ${type}:\n    i: int\n    k: str?\n    v: int?\n`).join('');

const times = fc.constantFrom(1_000, 5_000, 10_000, 25_000);
const common = { latenessUs: fc.constantFrom(0, 0, 4_000), isRising: fc.boolean() };
const all = fc.constant(null);

const twoSides: fc.Arbitrary<JoinShape> = fc.record({
  join: fc.constantFrom('inner' as const, 'left' as const, 'right' as const, 'full' as const),
  sides: fc.constantFrom(['A', 'B'], ['B', 'A'], ['A', 'A']),
  withinUs: times,
  newest: all,
  ...common,
});
const threeSides: fc.Arbitrary<JoinShape> = fc.record({
  join: fc.constantFrom('inner' as const, 'left' as const, 'right' as const, 'full' as const),
  sides: fc.constantFrom(['A', 'B', 'C'], ['A', 'B', 'A']),
  withinUs: times,
  newest: all,
  ...common,
});
const latest: fc.Arbitrary<JoinShape> = fc.record({
  join: fc.constant('inner' as const),
  sides: fc.constantFrom(['A', 'B'], ['A', 'B', 'C'], ['A', 'A']),
  withinUs: times,
  newest: fc.constant(1),
  ...common,
});
const counted: fc.Arbitrary<JoinShape> = fc.record({
  join: fc.constant('inner' as const),
  sides: fc.constantFrom(['A', 'B'], ['A', 'B', 'C'], ['A', 'A']),
  withinUs: fc.constant(null),
  newest: fc.integer({ min: 1, max: 3 }),
  ...common,
});

function programOf(shape: JoinShape, outOfOrderUs: number): string {
  const { join, sides, withinUs, newest, latenessUs, isRising } = shape;
  const names = sides.map((_, side) => `s${side}`);
  const equalities = names.slice(1).map((name, at) => `${names[at]}.k == ${name}.k`);
  const rising = isRising ? [`s0.v < ${names.at(-1)}.v`] : [];
  const window = withinUs === null ? `${newest}` : `${withinUs}us${newest === null ? '' : ', policy: latest'}`;
  const kind = join === 'inner' ? 'join' : `${join}_join`;
  return `${EVENTS}stream J = ${kind}(${sides.map((type, side) => `${type} as s${side}`).join(', ')})${timeOperators(outOfOrderUs, latenessUs)}.on(${[...equalities, ...rising].join(' and ')}).window(${window}).emit(${names.map((name) => `${name}: ${name}.i`).join(', ')})
`;
}

/** Some of the keys are null: those join with nothing. */
const events = fc
  .tuple(inputs({ types: ['A', 'B', 'B', 'C'] }), fc.array(fc.constantFrom(false, false, false, true), { minLength: 18, maxLength: 18 }))
  .map(([list, nulls]): readonly TestEvent[] => list.map((event, at) => (nulls[at] === true ? { ...event, k: null } : event)));

describe.each([
  ['of two sides', twoSides],
  ['of three sides', threeSides],
  ['with the newest of each side', latest],
  ['with the newest n of each side', counted],
])('a join %s', (_, shapes) => {
  test('gives every combination of partners within the window, in the order of their arrival', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 0, 6_000, 30_000), (list, shape, outOfOrderUs) => {
        expect(outputsOf(programOf(shape, outOfOrderUs), list)).toEqual(joinOutputs({ events: list, outOfOrderUs }, shape));
      }),
      { numRuns: RUNS },
    );
  });

  test('gives the same when it is restored at any point', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 6_000), fc.nat({ max: 18 }), (list, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs);
        expect(outputsOf(program, list, { restartAt })).toEqual(outputsOf(program, list));
      }),
      { numRuns: RUNS },
    );
  });
});
