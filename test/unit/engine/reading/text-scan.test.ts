import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesBefore, fewDigits, fourDigits, noDigits, plainBytes, special } from '../../../../worker/engine/reading/text-scan.ts';

/** Four characters of one byte each as a word. */
function wordOf(text: string): number {
  return new DataView(Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer).getInt32(0, true);
}

const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)), minLength: 4, maxLength: 4 });
const nearDigits = fc.string({ unit: fc.constantFrom(...'0123456789/:.-,} \u00b0\u00ff'), minLength: 4, maxLength: 4 });

describe('a word of text', () => {
  it('tells how many digits it begins with, and the number that they spell', () => {
    const property = fc.property(fc.oneof(bytes, nearDigits), (text) => {
      const digits = /^[0-9]*/.exec(text)?.[0] ?? '';
      const marked = noDigits(wordOf(text));
      expect(marked === 0).toBe(digits.length === 4);
      if (digits.length === 4) expect(fourDigits(wordOf(text))).toBe(Number(text));
      else expect([plainBytes(marked), fewDigits(wordOf(text), plainBytes(marked))]).toEqual([digits.length, Number(digits)]);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('tells where something else than plain text comes', () => {
    const property = fc.property(fc.oneof(bytes, nearDigits), (text) => {
      const plain = [...text].findIndex((character) => !/^[ !#-[\]-\u007f]$/.test(character));
      const marked = special(wordOf(text));
      expect(marked === 0).toBe(plain < 0);
      if (plain < 0) return;
      expect(plainBytes(marked)).toBe(plain);
      expect(bytesBefore(marked, wordOf(text))).toBe(wordOf(text.slice(0, plain).padEnd(4, '\0')));
    });
    fc.assert(property, { numRuns: 2_000 });
  });
});
