import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readJson } from '../../../shared/events/json-text.ts';
import { withPoints } from '../../../worker/placements/with-points.ts';

it.each([
  ['{"a":9007199254740991,"b":-9007199254740992}', '{"a":9007199254740991,"b":-9007199254740992.0}'],
  ['{"a":[12345678901234567000,{"b":1e21}],"c":0.12345678901234567}', '{"a":[12345678901234567000.0,{"b":1e21}],"c":0.12345678901234567}'],
  ['{"12345678901234567000":"12345678901234567000 \\" 12345678901234567000"}', undefined],
])('%s', (json, expected = json) => {
  expect(withPoints(json)).toBe(expected);
});

it('reads back as the same numbers, whatever they are', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.bigInt().map(Number))),
      (numbers) => {
        const finite = numbers.filter(Number.isFinite);
        expect(readJson(withPoints(JSON.stringify(finite)))).toEqual({
          kind: 'value',
          value: JSON.parse(JSON.stringify(finite)),
          problems: [],
        });
      },
    ),
  );
});
