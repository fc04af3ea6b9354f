import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planOf } from '../../../scenarios/run-program.ts';
import { start } from '../support/engine-run.ts';
import { AGGREGATES, EMIT } from './naive-aggregates.ts';
import { slotReads } from './slot-reads.ts';
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

describe('a key with many open windows', () => {
  const timelines = inputs({ displacedMs: 400, stepMs: 40, keys: ['a', 'a', 'b'], eventsMin: 60, eventsMax: 90 });

  test('has them as if all of them were looked through, also after a restore', () => {
    const many = shapes.map((shape): TimeWindowShape => ({ ...shape, latenessUs: 800_000 }));
    fc.assert(
      fc.property(timelines, many, fc.constantFrom(0, 30_000), fc.nat({ max: 90 }), (events, shape, outOfOrderUs, restartAt) => {
        const program = programOf(shape, outOfOrderUs);
        const outputs = outputsOf(program, events);
        expect(outputs).toEqual(timeWindowOutputs({ events, outOfOrderUs }, shape));
        expect(outputsOf(program, events, { restartAt })).toEqual(outputs);
      }),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });

  const WINDOWS = 2_000;
  /** Every second window, then those between; each has an event. */
  const times = Array.from({ length: WINDOWS }, (_, i) => 10 * (i < WINDOWS / 2 ? 2 * i : 2 * i - WINDOWS + 1));

  test.each([
    ['that are fused', '.allowed_lateness(1h).window(10ms)', 'n: count()', 2, WINDOWS],
    ['that wait for the watermark', '.watermark(out_of_order: 1h).window(10ms)', 'n: count()', 2, WINDOWS],
    ['whose rows are whole', '.allowed_lateness(1h).window(10ms)', 'n: count(), all: collect(i)', 2, WINDOWS],
    ['that have early results', '.watermark(out_of_order: 1h).window(10ms, early: 5ms)', 'n: count()', 2, WINDOWS],
    [
      'that overlap and have early results',
      '.watermark(out_of_order: 1h).window(20ms, sliding: 10ms, early: 10ms)',
      'n: count()',
      4,
      WINDOWS - 1,
    ],
  ])('looks through a few of them for each event: %s', (_, window, aggregates, count, whole) => {
    const run = start(planOf(`${EVENT}stream W = E.partition_by(k)${window}.aggregate(${aggregates}).emit(n: n)`));
    const reads = slotReads(() => {
      for (const [i, time] of times.entries()) run.push('E', time, { i, k: 'a', v: 1 });
      for (const [i, time] of times.toReversed().entries()) run.push('E', time + 1, { i, k: 'a', v: 1 });
      run.engine.end();
    });
    expect(reads / (2 * WINDOWS)).toBeLessThan(200);
    expect(run.outputs.filter((text) => text.includes(`"n":${count}}`)).length).toBe(whole);
  });
});
