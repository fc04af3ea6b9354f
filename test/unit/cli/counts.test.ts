import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counted, tenths, thousands } from '../../../cli/counts.ts';

describe('counts in texts', () => {
  it('are grouped by thousands as the language has it', () => {
    for (const [decimals, text] of [thousands, tenths].entries()) {
      const shown = new Intl.NumberFormat('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
      fc.assert(
        fc.property(fc.integer({ min: -1e9, max: 1e14 }), (count) => {
          const value = count / 10 ** decimals;
          expect(text(value)).toBe(shown.format(value));
        }),
      );
    }
  });

  it('are rounded', () => {
    expect([thousands(1_999.7), tenths(999_999.96), thousands(0.4)]).toEqual(['2,000', '1,000,000.0', '0']);
  });

  it('name what is counted, one or several', () => {
    expect([counted(1, 'event'), counted(0, 'event'), counted(2_000, 'event')]).toEqual(['1 event', '0 events', '2,000 events']);
  });
});
