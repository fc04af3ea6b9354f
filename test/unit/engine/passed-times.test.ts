import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { PassedTimes } from '../../../worker/engine/operators/passed-times.ts';

const PER_MS = 10;
/** Mostly in order; some far behind, and some after all that came are over. */
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 2 }) },
    { weight: 3, arbitrary: fc.integer({ min: -15, max: -1 }) },
    { weight: 1, arbitrary: fc.constant(12) },
  ),
  { maxLength: 250 },
);

test('rows pass as they do when all times that are kept are looked at, and are saved in order of arrival', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 100 }), fc.nat({ max: 250 }), (list, count, restoredAt) => {
      let kept: readonly number[] = [];
      let times = new PassedTimes('a');
      let newest = 0;
      for (const [at, step] of list.entries()) {
        const time = newest + step;
        newest = Math.max(newest, time);
        if (at === restoredAt) times = new PassedTimes('a', times.save());
        const recent = kept.filter((one) => time - one < PER_MS);
        expect(times.holds(count, PER_MS, time)).toBe(recent.length >= count);
        if (recent.length >= count) continue;
        kept = [...recent, time];
        times.dropBefore(time, PER_MS);
        times.add(time);
        expect(times.save()).toEqual(kept);
        expect(times.latest).toBe(Math.max(...kept));
      }
    }),
    { numRuns: 500 },
  );
});
