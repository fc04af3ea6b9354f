import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fieldsToJson } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { fieldsJson } from '../../../worker/runtime/threads/fields-json.ts';

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<Value>(null, -0, Number.NaN, Number.POSITIVE_INFINITY, new Timestamp(5), new Duration(7)),
);
const value = fc.oneof(
  { weight: 8, arbitrary: scalar },
  fc.array(scalar),
  fc.array(fc.tuple(fc.string(), scalar)).map((entries): Value => new Map(entries)),
);

it('the JSON text of fields is that of the general writer, for any values and names', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '"', 'a')), value)), (entries) => {
      const fields = new Map(entries);
      expect(fieldsJson(fields)).toBe(fieldsToJson(fields));
    }),
  );
});
