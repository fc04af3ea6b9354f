import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGGREGATES, EMIT } from './naive-aggregates.ts';
import { type SessionShape, sessionOutputs } from './session-oracle.ts';
import { EVENT, inputs, outputsOf, timeOperators } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

const shapes: fc.Arbitrary<SessionShape> = fc.record({
  gapUs: fc.constantFrom(5_000, 8_000, 12_000),
  latenessUs: fc.constantFrom(0, 0, 6_000, 20_000),
  earlyUs: fc.constantFrom(null, null, 3_000, 10_000),
});

/** A session is remembered for two gaps after it has closed: what is displaced further than that is not tested. */
const events = inputs({ displacedMs: 10, stepMs: 15 });

function programOf(
  { gapUs, latenessUs, earlyUs }: SessionShape,
  outOfOrderUs: number,
  aggregates: readonly string[],
  emit: string,
): string {
  const early = earlyUs === null ? '' : `, early: ${earlyUs}us`;
  return `${EVENT}stream W = E.partition_by(k)${timeOperators(outOfOrderUs, latenessUs)}.window(session: ${gapUs}us${early}).aggregate(${aggregates.join(', ')})${emit}
stream L = W.late.emit(i: i)
`;
}

describe('session windows', () => {
  test('give what the events that lie within a gap of each other give, in order of their end', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 0, 5_000, 30_000), (list, shape, outOfOrderUs) => {
        const expected = sessionOutputs({ events: list, outOfOrderUs }, shape);
        expect(outputsOf(programOf(shape, outOfOrderUs, AGGREGATES, EMIT), list)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('merge whole when no aggregate needs the order of arrival', () => {
    const unordered = AGGREGATES.filter((one) => !one.includes('collect') && !one.includes('ema'));
    const kept = EMIT.replace(', all: all', '').replace(', smooth: smooth', '');
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(5_000, 30_000), (list, shape, outOfOrderUs) => {
        const expected = sessionOutputs({ events: list, outOfOrderUs }, shape).map((line) =>
          line.replace(/"all":\[[^\]]*\],/, '').replace(/"smooth":[^,]*,/, ''),
        );
        expect(outputsOf(programOf(shape, outOfOrderUs, unordered, kept), list)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('give the same when they are restored at any point', () => {
    fc.assert(
      fc.property(events, shapes, fc.constantFrom(0, 5_000, 30_000), fc.nat({ max: 18 }), (list, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs, AGGREGATES, EMIT);
        expect(outputsOf(program, list, { restartAt })).toEqual(outputsOf(program, list));
      }),
      { numRuns: RUNS },
    );
  });
});
