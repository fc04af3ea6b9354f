import fc from 'fast-check';
import { expect, it } from 'vitest';
import { codePointCount, codePointSlice } from '../../../shared/language/functions/code-points.ts';

/** Pieces with one unit, two, and half of a pair alone. */
const texts = fc.array(fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', 'x'.repeat(100), '😀'.repeat(70)), { maxLength: 40 });

it('cut long texts as they cut short ones, whichever was asked about before', () => {
  fc.assert(
    fc.property(
      fc.array(texts, { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { maxLength: 40 }),
      (all, asks) => {
        const written = all.map((pieces) => pieces.join(''));
        for (const [which, one, other] of asks) {
          const text = written[which % written.length] ?? '';
          const points = [...text];
          expect(codePointCount(text)).toBe(points.length);
          const [start, end] = [one % (points.length + 1), other % (points.length + 1)].sort((a, b) => a - b) as [number, number];
          expect(codePointSlice(text, start, end)).toBe(points.slice(start, end).join(''));
        }
      },
    ),
  );
});
