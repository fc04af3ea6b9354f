import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEventTime, readMilliseconds } from '../../../shared/events/event-time.ts';
import { parseTimestamp } from '../../../shared/events/text.ts';
import { Timestamp } from '../../../shared/events/value.ts';

describe('the time that an event states', () => {
  it('as a number is in seconds, milli-, micro- or nanoseconds, by magnitude', () => {
    expect([0, 5, -5, 1769853600, 99_999_999_999, 100_000_000_000, 1769853600000, -100_000_000_000].map(readEventTime)).toEqual([
      0, 5000, -5000, 1769853600000, 99_999_999_999_000, 100_000_000_000, 1769853600000, -100_000_000_000,
    ]);
    expect([99_999_999_999_999, 1e14, 1769853600_250_000, -1769853600_250_000, 1769853600_250_000_000].map(readEventTime)).toEqual([
      99_999_999_999_999, 1e11, 1769853600_250, -1769853600_250, 1769853600_250,
    ]);
  });

  it('of a request is in milliseconds, but for what can only be micro- or nanoseconds', () => {
    expect([5, 1769853600, 1769853600_000, 1769853600_250_000, 1769853600_250_000_000].map(readMilliseconds)).toEqual([
      5, 1769853600, 1769853600_000, 1769853600_250, 1769853600_250,
    ]);
  });

  it('as text has its offset in any form, and a point or a comma before the fraction', () => {
    const noon = ['Z', 'z', '+00:00', '+0000', '+00', '-00', ' +0000', ' Z', ''].map((offset) => `2026-01-31T12:00:00.250${offset}`);
    expect(
      new Set([...noon, '2026-01-31 12:00:00,250', '2026-01-31T14:00:00.25+02', '2026-01-31T06:30:00.25-0530'].map(readEventTime)),
    ).toEqual(new Set([Date.UTC(2026, 0, 31, 12, 0, 0, 250)]));
    expect(['2026-01-31T12:00:00+2', '2026-01-31T12:00:00+24', '2026-01-31T12:00:00+02:', '2026-01-31+02'].map(readEventTime)).toEqual(
      Array(4).fill(undefined),
    );
  });

  it('keeps fractions to the microsecond', () => {
    expect([1.5, 1769853600.1234567, 1769853600000.25].map(readEventTime)).toEqual([1500, 1769853600123.457, 1769853600000.25]);
  });

  it('is no time when it is beyond what a date can be, or no time at all', () => {
    expect([1e300, -8.7e21, Number.NaN, true, null, 'noon', '', [], new Map()].map(readEventTime)).toEqual(Array(9).fill(undefined));
    expect(readEventTime(new Timestamp(5))).toBe(5);
  });

  it('as text is read as every other timestamp', () => {
    const part = (max: number, width: number) => fc.nat(max).map((value) => String(value).padStart(width, '0'));
    const usual = fc
      .tuple(part(9999, 4), part(13, 2), part(32, 2), part(24, 2), part(60, 2), part(60, 2), fc.option(part(999, 3)))
      .map(
        ([year, month, day, hour, minute, second, ms]) =>
          `${year}-${month}-${day}T${hour}:${minute}:${second}${ms === null ? '' : `.${ms}`}Z`,
      );
    const changed = fc
      .tuple(usual, fc.nat(24), fc.constantFrom('', 'x', '-', ' ', '+', 'z', '１'))
      .map(([text, at, noise]) => text.slice(0, at) + noise + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(usual, changed), (text) => {
        expect(readEventTime(text)).toBe(parseTimestamp(text));
      }),
      { numRuns: 2000 },
    );
  });
});
