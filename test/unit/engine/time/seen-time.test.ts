import { describe, expect, it } from 'vitest';
import { seenTime } from '../../../../worker/engine/time/seen-time.ts';

const HOUR = 3_600_000;
const at = (watermark: number) => ({ watermark: () => watermark, mayHavePassed: (time: number) => time < watermark });

describe('the time at which a row was seen', () => {
  it('is its own while the watermark has not passed it', () => {
    expect([seenTime(5, 10, at(-Infinity)), seenTime(5, 10, at(5)), seenTime(5, 10, at(4))]).toEqual([5, 5, 5]);
  });

  it('is the watermark for a source that lags: by an hour, or by ten times what is kept where that is more', () => {
    expect([seenTime(0, 10, at(1)), seenTime(0, 10, at(HOUR)), seenTime(0, HOUR, at(10 * HOUR))]).toEqual([1, HOUR, 10 * HOUR]);
  });

  it('is its own where the watermark ran ahead of everything', () => {
    expect([seenTime(0, 10, at(HOUR + 1)), seenTime(0, HOUR, at(10 * HOUR + 1)), seenTime(0, 10, at(Infinity))]).toEqual([0, 0, 0]);
  });
});
