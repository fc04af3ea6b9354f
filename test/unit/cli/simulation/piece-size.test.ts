import { expect, it } from 'vitest';
import { PieceSize } from '../../../../cli/simulation/piece-size.ts';

/** What each piece takes when a byte takes so many milliseconds. */
function pieces(size: PieceSize, msPerByte: number, count: number): number[] {
  return Array.from({ length: count }, () => {
    const ms = size.bytes * msPerByte;
    size.took(ms);
    return ms;
  });
}

it('keeps pieces short however slow a program is, and however fast it was before', () => {
  const size = new PieceSize();
  pieces(size, 0, 20);
  expect(size.bytes).toBeGreaterThan(1_000_000_000);
  const slow = pieces(size, 1e-3, 20);
  expect(Math.max(...slow.slice(1))).toBeLessThanOrEqual(50);
  expect(Math.max(...pieces(size, 0.1, 20).slice(1))).toBeLessThanOrEqual(50);
});

it('lets pieces grow as long as they take no time to speak of, and never makes them less than a part of a line', () => {
  const size = new PieceSize();
  pieces(size, 1, 20);
  expect(size.bytes).toBe(64);
  pieces(size, 1e-6, 20);
  expect(size.bytes).toBe(25_000_000);
});
