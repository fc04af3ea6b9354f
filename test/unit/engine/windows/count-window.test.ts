import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CountShape, countOutputs } from './count-oracle.ts';
import { AGGREGATES, EMIT } from './naive-aggregates.ts';
import { EVENT, inputs, outputsOf, timeOperators } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

const shapes: fc.Arbitrary<CountShape> = fc
  .record({
    size: fc.integer({ min: 1, max: 4 }),
    slide: fc.option(fc.integer({ min: 1, max: 4 })),
    expireUs: fc.constantFrom(null, null, 20_000),
  })
  .map(({ size, slide, expireUs }) => ({ size, slide: slide === null ? null : Math.min(slide, size), expireUs }));

function programOf({ size, slide, expireUs }: CountShape, outOfOrderUs: number): string {
  const expire = expireUs === null ? '' : `, expire: ${expireUs}us`;
  const sliding = slide === null ? '' : `, sliding: ${slide}`;
  return `${EVENT}stream W = E.partition_by(k${expire})${timeOperators(outOfOrderUs, 0)}.window(${size}${sliding}).aggregate(${AGGREGATES.join(', ')})${EMIT}
`;
}

describe('count windows', () => {
  test('give what each run of n events of a key gives', () => {
    fc.assert(
      fc.property(inputs(), shapes, fc.constantFrom(0, 0, 15_000), (events, shape, outOfOrderUs) => {
        expect(outputsOf(programOf(shape, outOfOrderUs), events)).toEqual(countOutputs({ events, outOfOrderUs }, shape));
      }),
      { numRuns: RUNS },
    );
  });

  test('give the same when they are restored at any point', () => {
    fc.assert(
      fc.property(inputs(), shapes, fc.constantFrom(0, 15_000), fc.nat({ max: 18 }), (events, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs);
        expect(outputsOf(program, events, { restartAt })).toEqual(outputsOf(program, events));
      }),
      { numRuns: RUNS },
    );
  });
});
