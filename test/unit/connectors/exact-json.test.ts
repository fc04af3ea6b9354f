import { describe, expect, it } from 'vitest';
import { exactJson, exactNumber } from '../../../worker/connectors/lookups/exact-json.ts';

describe('JSON that is looked up', () => {
  it.each([
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['1e400', '1e400'],
    ['12e345', '12e345'],
    ['1e20', 1e20],
    ['1e-400', 0],
    ['0.1234567890123456789', 0.123_456_789_012_345_68],
    ['"9007199254740993 \\" 9007199254740993"', '9007199254740993 " 9007199254740993'],
    [
      '{"9007199254740993": [9007199254740993, 1, {"\\\\": -9007199254740993}]}',
      { '9007199254740993': ['9007199254740993', 1, { '\\': '-9007199254740993' }] },
    ],
  ])('holds in %s no other number than the one that is written', (text, value) => {
    expect(exactJson(text)).toEqual(value);
  });

  it.each(['{9007199254740993: 1}', '09007199254740993', '9007199254740993.', '--9007199254740993', ''])('is not %j', (text) => {
    expect(() => exactJson(text)).toThrow(SyntaxError);
  });

  it('may have long texts', () => {
    const text = '\\"x'.repeat(1_000_000);
    expect(exactJson(`["${text}", 9007199254740993]`)).toEqual(['"x'.repeat(1_000_000), '9007199254740993']);
  });
});

describe('an exact number that is looked up', () => {
  it.each([
    ['1.50', 1.5],
    ['3.3333333333333333', 3.333_333_333_333_333_5],
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740992', '-9007199254740992'],
    ['12345678901234567890.25', '12345678901234567890.25'],
    [`1${'0'.repeat(400)}`, `1${'0'.repeat(400)}`],
    ['NaN', Number.NaN],
  ])('is of %s a number, unless its whole digits are more than that holds', (text, value) => {
    expect(exactNumber(text)).toBe(value);
  });
});
