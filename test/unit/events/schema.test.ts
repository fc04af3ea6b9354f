import { describe, expect, it } from 'vitest';
import type { InputEvent } from '../../../shared/events/event.ts';
import { type Admission, EventSchemas } from '../../../shared/events/schema.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { check } from '../../../shared/language/checker/check.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import {
  ANY,
  arrayOf,
  BOOL,
  DURATION,
  FLOAT,
  INT,
  mapOf,
  type RecordType,
  STR,
  TIMESTAMP,
  type Type,
} from '../../../shared/language/plan/types.ts';
import { declare, events, plain } from './reading.ts';

const event = (fields: Readonly<Record<string, Value>>, rest: Partial<InputEvent> = {}): InputEvent => ({
  type: 'E',
  fields: new Map(Object.entries(fields)),
  fallbackTime: 0,
  ...rest,
});

const admit = (schemas: EventSchemas, input: InputEvent, strict = false): Admission => schemas.admit(input, { strict });
const withField = (type: Type, value: Value): Admission => admit(declare({ E: { f: type } }), event({ f: value }));
const admitted = (type: Type, value: Value): unknown => {
  const admission = withField(type, value);
  return admission.status === 'valid' ? plain(admission.fields.get('f') ?? null) : admission.message;
};

describe('a declared field', () => {
  it.each<[Type, Value, unknown]>([
    [INT, 7, 7],
    [INT, -0, -0],
    [INT, 9_007_199_254_740_991, 9_007_199_254_740_991],
    [FLOAT, 7, 7],
    [FLOAT, 7.5, 7.5],
    [FLOAT, 1e300, 1e300],
    [STR, '', ''],
    [BOOL, false, false],
    [ANY, 'x', 'x'],
    [TIMESTAMP, '2026-01-31T10:00:00Z', { timestamp: 1769853600000 }],
    [TIMESTAMP, '2026-01-31', { timestamp: 1769817600000 }],
    [TIMESTAMP, 1769853600, { timestamp: 1769853600000 }],
    [TIMESTAMP, 1769853600.25, { timestamp: 1769853600250 }],
    [TIMESTAMP, 1769853600000, { timestamp: 1769853600000 }],
    [TIMESTAMP, new Timestamp(5), { timestamp: 5 }],
    [DURATION, 1500, { duration: 1500 }],
    [DURATION, '5m', { duration: 300_000 }],
    [DURATION, '1h30m', { duration: 5_400_000 }],
    [DURATION, new Duration(5), { duration: 5 }],
    [arrayOf(INT), [], []],
    [arrayOf(DURATION), ['1s', 5], [{ duration: 1000 }, { duration: 5 }]],
    [mapOf(INT), new Map([['a', 1]]), { a: 1 }],
    [mapOf(TIMESTAMP), new Map([['a', '1970-01-01']]), { a: { timestamp: 0 } }],
  ])('of type %o takes %o', (type, value, expected) => {
    expect(admitted(type, value)).toEqual(expected);
  });

  it.each<[Type, Value, string]>([
    [INT, 7.5, 'found 7.5, expected int: send a whole number, or declare the field `float` or `str`'],
    [INT, '7', 'found text "7", expected int: send a whole number, or declare the field `float` or `str`'],
    [INT, 1e21, 'found 1e+21, expected an int within +-(2^53-1): declare the field `float`, or send text and declare it `str`'],
    [FLOAT, '7.5', 'found text "7.5", expected float: send a number, or declare the field `str`'],
    [FLOAT, true, 'found true, expected float: send a number, or declare the field `str`'],
    [STR, 7, 'found 7, expected str: send text in quotes'],
    [BOOL, 1, 'found 1, expected bool: send true or false'],
    [
      TIMESTAMP,
      'noon',
      'found text "noon", expected timestamp: send ISO 8601 text such as "2026-01-31T10:00:00Z", or epoch seconds or milliseconds',
    ],
    [
      TIMESTAMP,
      1e300,
      'found 1e+300, expected timestamp: send ISO 8601 text such as "2026-01-31T10:00:00Z", or epoch seconds or milliseconds',
    ],
    [DURATION, 'soon', 'found text "soon", expected duration: send milliseconds, or text such as "5m"'],
    [DURATION, true, 'found true, expected duration: send milliseconds, or text such as "5m"'],
    [arrayOf(INT), 1, 'found 1, expected [int]: send an array'],
    [mapOf(INT), [1], 'found an array, expected {str: int}: send a map'],
    [STR, new Map(), 'found a map, expected str: send text in quotes'],
    [
      INT,
      'x'.repeat(100),
      `found text "${'x'.repeat(40)}...", expected int: send a whole number, or declare the field \`float\` or \`str\``,
    ],
  ])('of type %o refuses %o', (type, value, message) => {
    expect(withField(type, value)).toEqual({ status: 'invalid', field: 'f', message });
  });

  it('keeps its place in the written order, and what is missing is not added', () => {
    const admission = admit(declare({ E: { a: INT, at: TIMESTAMP, b: INT } }), event({ extra: 1, at: '1970-01-01', a: 2 }));
    expect(admission.status === 'valid' && [...admission.fields.keys()]).toEqual(['extra', 'at', 'a']);
  });

  it('that is inside an array or a record is named with its path', () => {
    const item: RecordType = { kind: 'record', name: 'Item', fields: [{ name: 'price', type: FLOAT, optional: false }] };
    const schemas = declare({ E: { items: arrayOf(item), rates: mapOf(INT) } });
    const items: Value = [new Map([['price', 1]]), new Map([['price', 'x']])];
    expect(admit(schemas, event({ items }))).toMatchObject({ status: 'invalid', field: 'items[1].price' });
    expect(admit(schemas, event({ rates: new Map<string, Value>([['eur', 'x']]) }))).toMatchObject({ field: 'rates.eur' });
  });

  it('of an event is not changed in the event that was handed in', () => {
    const input = event({ at: '1970-01-01', list: ['1s'] });
    admit(declare({ E: { at: TIMESTAMP, list: arrayOf(DURATION) } }), input);
    expect(plain(input.fields)).toEqual({ at: '1970-01-01', list: ['1s'] });
  });
});

describe('an event that lacks a declared field', () => {
  const address: RecordType = {
    kind: 'record',
    name: 'Address',
    fields: [
      { name: 'city', type: STR, optional: false },
      { name: 'zip', type: STR, optional: true },
    ],
  };
  const schemas = declare({
    E: { user: STR, 'score?': FLOAT, 'address?': address, 'tags?': arrayOf(STR), 'more?': arrayOf(address), 'rates?': mapOf(INT) },
  });
  const incomplete = (fields: Readonly<Record<string, Value>>): unknown => {
    const admission = admit(schemas, event(fields));
    return admission.status === 'valid' ? admission.incomplete : admission;
  };

  it('without ? is incomplete, and says which', () => {
    expect(incomplete({})).toEqual(['user']);
    expect(incomplete({ user: null })).toEqual(['user']);
    expect(incomplete({ user: 'ann' })).toEqual([]);
  });

  it('or has null in an array or a record is incomplete', () => {
    const user = 'ann';
    expect(incomplete({ user, tags: ['a', null, null] })).toEqual(['tags[]']);
    expect(incomplete({ user, address: new Map([['zip', '1']]) })).toEqual(['address.city']);
    expect(incomplete({ user, address: new Map([['city', null]]) })).toEqual(['address.city']);
    expect(incomplete({ user, more: [new Map([['city', 'x']]), new Map(), new Map(), null] })).toEqual(['more[].city', 'more[]']);
    expect(incomplete({ user, rates: new Map([['a', null]]) })).toEqual([]);
  });

  it('may be null in an array whose items are declared with ?', () => {
    const text = 'type Maybe = int?\nevent E: a: [int?], b: [Maybe], c: [[int?]], d: [int]\nstream S = E.emit(a: a)\n';
    const declared = new EventSchemas(check(new SourceText('test.vpl', text)).plan?.events ?? []);
    const items = [1, null];
    const strict = admit(declared, event({ a: items, b: items, c: [items], d: [1] }), true);
    expect(strict).toMatchObject({ status: 'valid', incomplete: [] });
    expect(admit(declared, event({ a: items, b: items, c: [items, null], d: items }))).toMatchObject({ incomplete: ['c[]', 'd[]'] });
    expect(admit(declared, event({ a: ['x'], b: items, c: [items], d: [1] }))).toMatchObject({ status: 'invalid', field: 'a[0]' });
  });

  it('is invalid when events are strict', () => {
    expect(admit(schemas, event({}), true)).toEqual({
      status: 'invalid',
      field: 'user',
      message: 'missing or null, expected a value: send one, or declare it with `?`',
    });
    expect(admit(schemas, event({ user: 'ann' }), true).status).toBe('valid');
  });
});

describe('an event of an undeclared type', () => {
  it('is open: its fields stay as they are', () => {
    const input = event({ a: 1, b: 'x', at: '1970-01-01', c: [1, null] });
    expect(admit(new EventSchemas([]), input, true)).toEqual({ status: 'valid', fields: input.fields, time: 0, incomplete: [] });
  });

  it('may hold a float beyond 2^53-1', () => {
    expect(admit(new EventSchemas([]), event({ x: 1e21 })).status).toBe('valid');
  });
});

describe('the time of an event', () => {
  const schemas = declare({ E: { 'first?': TIMESTAMP, 'second?': TIMESTAMP } });
  const time = (input: InputEvent): unknown => {
    const admission = admit(schemas, input);
    return admission.status === 'valid' ? admission.time : admission;
  };
  const all = { second: '1970-01-01T00:00:02Z', first: '1970-01-01T00:00:01Z', timestamp: '1970-01-01T00:00:03Z' };

  it('is what the envelope says', () => {
    expect(time(event(all, { timestamp: 4000, fallbackTime: 5000 }))).toBe(4000);
  });

  it('is else that of the first declared field of type timestamp', () => {
    expect(time(event(all, { fallbackTime: 5000 }))).toBe(1000);
  });

  it('is else that of a field timestamp, ISO 8601 or epoch seconds or milliseconds', () => {
    expect(time(event({ ...all, first: null }, { fallbackTime: 5000 }))).toBe(3000);
    expect(time(event({ timestamp: 1769853600 }))).toBe(1769853600000);
    expect(time(event({ timestamp: 1769853600000.5 }))).toBe(1769853600000.5);
    expect(admit(new EventSchemas([]), event({ timestamp: '1970-01-01' }, { fallbackTime: 5 }))).toMatchObject({ time: 0 });
  });

  it('is else its offset in the file, or its arrival', () => {
    expect(time(event({ second: '1970-01-01T00:00:02Z' }, { fallbackTime: 5000 }))).toBe(5000);
    expect(time(event({ timestamp: 'noon' }, { fallbackTime: 5000 }))).toBe(5000);
  });
});

describe('an event over a limit', () => {
  const message = (fields: Readonly<Record<string, Value>>): unknown => {
    const admission = admit(new EventSchemas([]), event(fields));
    return admission.status === 'valid' ? 'valid' : [admission.field, admission.message];
  };
  const nested = (depth: number): Value => (depth === 0 ? 1 : depth % 2 ? [nested(depth - 1)] : new Map([['k', nested(depth - 1)]]));
  const many = (count: number): Record<string, Value> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index]));

  it('of 1,024 fields is invalid', () => {
    expect(message(many(1024))).toBe('valid');
    expect(message(many(1025))).toEqual(['', 'found 1025 fields, expected at most 1024: send less, or several events']);
  });

  it('of 32 levels of nesting is invalid', () => {
    expect(message({ f: nested(31) })).toBe('valid');
    expect(message({ f: nested(32) })).toEqual(['f', 'nested more than 32 levels deep: flatten it, or send a part of it']);
    expect(message({ f: nested(2000) })).toEqual(['f', 'nested more than 32 levels deep: flatten it, or send a part of it']);
  });

  it('of 256 KiB in one text is invalid, in UTF-8', () => {
    expect(message({ f: 'x'.repeat(262_144) })).toBe('valid');
    expect(message({ f: 'x'.repeat(262_145) })).toEqual([
      'f',
      'found a text of 262145 bytes, expected at most 262144: shorten it, or split it',
    ]);
    expect(message({ f: ['é'.repeat(131_073)] })).toEqual([
      'f[0]',
      'found a text of 262146 bytes, expected at most 262144: shorten it, or split it',
    ]);
  });

  it('of 1 MiB in all is invalid', () => {
    const text = 'x'.repeat(262_000);
    expect(message({ a: text, b: text, c: text, d: text })).toBe('valid');
    expect(message({ a: text, b: text, c: text, d: text, e: text })).toEqual([
      '',
      'found about 1310006 bytes, expected at most 1048576: send less, or several events',
    ]);
  });

  it('that holds a number that is not finite is invalid', () => {
    expect(message({ f: [Number.NaN] })).toEqual(['f[0]', 'found NaN, expected a finite number: leave the field out, or send null']);
    expect(message({ f: Number.POSITIVE_INFINITY })).toEqual([
      'f',
      'found Infinity, expected a finite number: leave the field out, or send null',
    ]);
  });
});

describe('a literal in an event file', () => {
  const schemas = declare({ E: { n: INT, f: FLOAT } });
  const status = (line: string): unknown => events('.evt', line).map((input) => admit(schemas, input).status)[0];

  it('7.0 fits an int, 7.5 does not', () => {
    expect(status('E { n: 7.0, f: 1 }')).toBe('valid');
    expect(status('E { n: 7.5, f: 1 }')).toBe('invalid');
  });

  it('a whole number beyond 2^53-1 with a point or an exponent fits a float, not an int', () => {
    expect(status('E { n: 1, f: 9007199254740993.0 }')).toBe('valid');
    expect(status('E { n: 1, f: 1e21 }')).toBe('valid');
    expect(status('E { n: 9007199254740993.0, f: 1 }')).toBe('invalid');
  });
});
