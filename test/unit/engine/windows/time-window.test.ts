import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGGREGATES, EMIT } from './naive-aggregates.ts';
import { type TimeWindowShape, timeWindowOutputs } from './time-window-oracle.ts';
import { EVENT, inputs, outputsOf, timeOperators } from './timeline.ts';

const RUNS = Number(process.env['WINDOW_RUNS'] ?? 150);

const shapes: fc.Arbitrary<TimeWindowShape> = fc
  .record({
    sizeMs: fc.constantFrom(5, 10, 15, 0.5),
    slides: fc.constantFrom(1, 1, 2, 3, 0.75),
    offsetMs: fc.constantFrom(0, 0, 3, 12),
    align: fc.constantFrom('epoch' as const, 'epoch' as const, 'first' as const),
    earlyMs: fc.constantFrom(null, null, 2, 4, 7),
    latenessMs: fc.constantFrom(0, 0, 4, 20),
    isPartitioned: fc.boolean(),
  })
  .map(({ sizeMs, slides, offsetMs, align, earlyMs, latenessMs, isPartitioned }) => {
    const sizeUs = sizeMs * 1000;
    const slideUs = slides < 1 ? Math.round(sizeUs * slides) : Math.floor(sizeUs / slides);
    return {
      sizeUs,
      slideUs,
      offsetUs: align === 'first' ? 0 : offsetMs * 1000,
      align,
      earlyUs: earlyMs === null || earlyMs >= sizeMs ? null : earlyMs * 1000,
      latenessUs: latenessMs * 1000,
      isPartitioned,
    };
  });

function programOf(shape: TimeWindowShape, outOfOrderUs: number): string {
  const us = (value: number): string => `${value}us`;
  const window = [
    us(shape.sizeUs),
    ...(shape.slideUs === shape.sizeUs ? [] : [`sliding: ${us(shape.slideUs)}`]),
    ...(shape.offsetUs === 0 ? [] : [`offset: ${us(shape.offsetUs)}`]),
    ...(shape.align === 'first' ? ['align: first'] : []),
    ...(shape.earlyUs === null ? [] : [`early: ${us(shape.earlyUs)}`]),
  ].join(', ');
  const emit = shape.isPartitioned ? EMIT : EMIT.replace('k: k', 'k: null');
  const partition = shape.isPartitioned ? '.partition_by(k)' : '';
  return `${EVENT}stream W = E${partition}${timeOperators(outOfOrderUs, shape.latenessUs)}.window(${window}).aggregate(${AGGREGATES.join(', ')})${emit}
stream L = W.late.emit(i: i)
`;
}

describe('time windows', () => {
  test('give what each window of the whole input gives on its own, in order of end time', () => {
    fc.assert(
      fc.property(inputs(), shapes, fc.constantFrom(0, 0, 5_000, 30_000), (events, shape, outOfOrderUs) => {
        const expected = timeWindowOutputs({ events, outOfOrderUs }, shape);
        expect(outputsOf(programOf(shape, outOfOrderUs), events)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('give the same when they are restored at any point', () => {
    fc.assert(
      fc.property(inputs(), shapes, fc.constantFrom(0, 5_000), fc.nat({ max: 18 }), (events, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs);
        expect(outputsOf(program, events, { restartAt })).toEqual(outputsOf(program, events));
      }),
      { numRuns: RUNS },
    );
  });
});
