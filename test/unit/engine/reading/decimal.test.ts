import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decimal } from '../../../../worker/engine/reading/decimal.ts';

function read(text: string): number {
  return decimal(new TextEncoder().encode(text), 0, text.indexOf('.'), text.length);
}

const digit = fc.constantFrom(...'0123456789');
const digits = (maxLength: number): fc.Arbitrary<string> => fc.string({ unit: digit, minLength: 1, maxLength, size: 'max' });

it('a decimal is the nearest double, or it is not sure', () => {
  let sure = 0;
  const property = fc.property(digits(18), digits(18), (whole, fraction) => {
    const text = `${whole.replace(/^0+(?=.)/, '')}.${fraction}`;
    const value = read(text);
    if (Number.isNaN(value)) return;
    sure++;
    expect(value, text).toBe(Number(text));
  });
  fc.assert(property, { numRuns: 20_000 });
  expect(sure).toBeGreaterThan(6_000);
});

it('every double below 2^53 that is written with its shortest digits is read back, and nearly always surely', () => {
  let unsure = 0;
  const property = fc.property(fc.double({ min: 1e-4, max: 2 ** 53, noNaN: true }), (value) => {
    const text = String(value);
    if (!text.includes('.')) return;
    const found = read(text);
    if (Number.isNaN(found)) unsure++;
    else expect(found, text).toBe(value);
  });
  fc.assert(property, { numRuns: 50_000 });
  expect(unsure).toBeLessThan(500);
});

it.each([
  '9007199254740992.0',
  '9007199254740991.0',
  '1.00000000000000011',
  '1.00000000000000012',
  '4503599627370496.4',
  '4503599627370496.6',
  '0.000000000000000000001',
  '0.30000000000000004',
  '94.55977888910631',
  '123456789.123456789',
  '0.1',
  '0.0',
])('%s is the nearest double', (text) => {
  expect(read(text)).toBe(Number(text));
});

it.each(['9007199254740993.0', '4503599627370496.5', '4503599627370497.5'])('%s is in the middle between two doubles', (text) => {
  expect(read(text)).toBeNaN();
});

it.each(['1234567890.1234567890', '100000000000000000.0', '0.12345678901234567890123', '1.0000000000000001110223024625156541'])(
  '%s has too many digits',
  (text) => {
    expect(read(text)).toBeNaN();
  },
);
