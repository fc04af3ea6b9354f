import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineRange } from '../../../../cli/event-files/line-range.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a range takes of a text that is shown in chunks of this many bytes. */
function taken(text: string, from: number, to: number, chunkBytes: number): string {
  const bytes = encoder.encode(text);
  const range = new LineRange(from, to);
  let result = '';
  for (let at = range.start; at < bytes.length && !range.isThrough; at += chunkBytes) {
    result += decoder.decode(range.cut(bytes.subarray(at, at + chunkBytes), at));
  }
  return result;
}

/** The lines that begin from one byte on and before another, by looking at each. */
function linesBetween(text: string, from: number, to: number): string {
  let at = 0;
  return text
    .split(/(?<=\n)/)
    .filter((line) => {
      const begin = at;
      at += line.length;
      return begin >= from && begin < to;
    })
    .join('');
}

const text = fc.array(fc.constantFrom('\n', 'a\n', 'ab\n', 'abcdefghij\n', 'x')).map((lines) => lines.join(''));

it('takes the lines that begin in the range, whatever chunks it is shown', () => {
  fc.assert(
    fc.property(text, fc.nat(40), fc.nat(40), fc.integer({ min: 1, max: 9 }), (all, from, length, chunkBytes) => {
      expect(taken(all, from, from + length, chunkBytes)).toBe(linesBetween(all, from, from + length));
    }),
    { numRuns: 1_000 },
  );
});

it('ranges side by side have each line once', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 9 }), (all, pieceBytes, chunkBytes) => {
      const pieces = Array.from({ length: Math.ceil(all.length / pieceBytes) }, (_, number) =>
        taken(all, number * pieceBytes, (number + 1) * pieceBytes, chunkBytes),
      );
      expect(pieces.join('')).toBe(all);
    }),
    { numRuns: 500 },
  );
});

it('is through with a line that is longer than the range without seeing its end', () => {
  const range = new LineRange(5, 10);
  expect(range.cut(encoder.encode('xxxxxxxx'), 4)).toHaveLength(0);
  expect(range.isThrough).toBe(true);
});
