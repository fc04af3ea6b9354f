import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { daysFromCivil, roundToMicrosecond } from '../../../shared/events/calendar.ts';
import { EvaluationError } from '../../../shared/events/evaluation-error.ts';
import { decodeValue, encodeValue } from '../../../shared/events/stored-value.ts';
import { fieldsToJson, fromJson, parseDuration, parseTimestamp, toJson, toText } from '../../../shared/events/text.ts';
import { durationText, timestampText } from '../../../shared/events/time-text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { requireBounded } from '../../../shared/events/value-limits.ts';
import { deepArray, numbers, values, wideArray } from './values.ts';

describe('to_string', () => {
  test.each<[Value, string]>([
    [null, 'null'],
    [true, 'true'],
    ['a "b"', 'a "b"'],
    [7.0, '7'],
    [-0, '0'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [new Timestamp(0), '1970-01-01T00:00:00Z'],
    [new Timestamp(1_500), '1970-01-01T00:00:01.500Z'],
    [new Timestamp(0.001), '1970-01-01T00:00:00.000001Z'],
    [new Timestamp(-1), '1969-12-31T23:59:59.999Z'],
    [new Timestamp(-62_198_755_200_000), '-000001-01-01T00:00:00Z'],
    [new Timestamp(253_402_300_800_000), '+010000-01-01T00:00:00Z'],
    [new Timestamp(1e300), '1e+300'],
    [new Duration(5_400_000), '1h30m'],
    [new Duration(0), '0s'],
    [new Duration(1_209_600_000), '14d'],
    [new Duration(-2_500), '-2s500ms'],
    [new Duration(0.0015), '1us500ns'],
    [new Duration(0.1 + 0.2), '300us'],
    [[1, 'a"', null, new Duration(1000), new Timestamp(0)], String.raw`[1, "a\"", null, 1s, @1970-01-01T00:00:00Z]`],
    [
      new Map<string, Value>([
        ['b', [1]],
        ['a b', 2],
      ]),
      '{"b": [1], "a b": 2}',
    ],
    [[], '[]'],
    [new Map(), '{}'],
  ])('%j is %s', (value, text) => {
    expect(toText(value)).toBe(text);
  });
});

describe('JSON', () => {
  test('times and durations are numbers of milliseconds, and fields keep their order', () => {
    const fields = new Map<string, Value>([
      ['z', new Timestamp(1.5)],
      ['10', new Duration(-5)],
      ['a', ['x', null, -0]],
      ['__proto__', new Map([['k', false]])],
    ]);
    expect(fieldsToJson(fields)).toBe('{"z":1.5,"10":-5,"a":["x",null,0],"__proto__":{"k":false}}');
  });

  test('a key __proto__ is data', () => {
    const read = fromJson(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}'));
    expect(read).toEqual(
      new Map<string, Value>([
        ['__proto__', new Map([['polluted', 1]])],
        ['constructor', 2],
      ]),
    );
    expect(toJson(read)).toBe('{"__proto__":{"polluted":1},"constructor":2}');
  });

  test('what it writes parses as JSON, and reads back as the same value where JSON has its kinds', () => {
    fc.assert(
      fc.property(values, (value) => {
        const read = fromJson(JSON.parse(toJson(value)));
        expect(toJson(fromJson(JSON.parse(toJson(read))))).toBe(toJson(value));
      }),
    );
  });

  test('state survives JSON with its kinds', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decodeValue(JSON.parse(JSON.stringify(encodeValue(value))))).toEqual(value);
      }),
    );
  });
});

describe('ISO times', () => {
  test.each([
    ['2026-01-31', Date.UTC(2026, 0, 31)],
    ['2026-01-31T10:00Z', Date.UTC(2026, 0, 31, 10)],
    ['2026-01-31T10:00:05', Date.UTC(2026, 0, 31, 10, 0, 5)],
    ['2026-01-31 10:00:05z', Date.UTC(2026, 0, 31, 10, 0, 5)],
    ['2026-01-31T10:00:05.5Z', Date.UTC(2026, 0, 31, 10, 0, 5, 500)],
    ['2026-01-31T10:00:05.123456789Z', Date.UTC(2026, 0, 31, 10, 0, 5) + 123.456],
    ['2026-01-31T10:00:00+05:30', Date.UTC(2026, 0, 31, 4, 30)],
    ['2026-01-31T23:00:00-02:00', Date.UTC(2026, 1, 1, 1)],
    ['2026-01-31T10:00:00+0100', Date.UTC(2026, 0, 31, 9)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['2000-02-29', Date.UTC(2000, 1, 29)],
    ['0000-03-01', Date.parse('0000-03-01')],
    ['+010000-01-01T00:00:00Z', 253_402_300_800_000],
  ])('%s is read', (text, ms) => {
    expect(parseTimestamp(text)).toBe(ms);
  });

  test.each([
    '',
    'today',
    '2026',
    '2026-1-1',
    '2026-00-01',
    '2026-13-01',
    '2026-02-29',
    '2026-04-31',
    '1900-02-29',
    '2026-01-00',
    '2026-01-31T24:00:00Z',
    '2026-01-31T10:60:00Z',
    '2026-01-31T10:00:60Z',
    '2026-01-31T10:00:00+24:00',
    '2026-01-31T10Z',
    '2026-01-31Z',
    '2026-01-31T10:00:00.Z',
    ' 2026-01-31',
    '+999999-01-01',
  ])('%j is no time', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  test('agree with Date over its whole range', () => {
    fc.assert(
      fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (ms) => {
        const iso = new Date(ms).toISOString().replace('.000Z', 'Z');
        expect(timestampText(ms)).toBe(iso);
        expect(parseTimestamp(iso)).toBe(ms);
      }),
    );
  });

  test('read back to the microsecond', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e13, max: 1e13, noNaN: true }), (ms) => {
        expect(parseTimestamp(timestampText(ms))).toBe(roundToMicrosecond(ms) + 0);
      }),
    );
  });

  test('the days of the calendar follow each other', () => {
    expect(daysFromCivil(1970, 1, 1)).toBe(0);
    expect(daysFromCivil(2000, 3, 1) - daysFromCivil(2000, 2, 28)).toBe(2);
    expect(daysFromCivil(1, 1, 1) - daysFromCivil(0, 12, 31)).toBe(1);
  });
});

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['1h30m', 5_400_000],
    ['1w', 604_800_000],
    ['2d', 172_800_000],
    ['-5m', -300_000],
    ['1.5s', 1500],
    ['1us500ns', 0.0015],
    ['250us', 0.25],
    ['0s', 0],
  ])('%s is read', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '-', '5', 'm', '5 m', '30m1h', '1h1h', '1e3s', '5x', '5m!', '.5s', '--5m', '1hour'])('%j is no duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('read back', () => {
    const durations = fc.oneof(
      fc.maxSafeInteger(),
      fc.maxSafeNat().map((ns) => ns / 1e6),
      fc.integer().map((us) => us / 1e3),
    );
    fc.assert(
      fc.property(durations, (ms) => {
        expect(parseDuration(durationText(ms))).toBe(ms + 0);
      }),
    );
  });

  test('are never written as something else than a duration', () => {
    fc.assert(
      fc.property(numbers, (ms) => {
        expect(durationText(ms)).toMatch(/^-?(\d[\d.e+]*(d|h|m|s|ms|us|ns))+$/);
      }),
    );
  });
});

describe('a value that a program made too deep or too large', () => {
  const uses: [string, (value: Value) => unknown][] = [
    ['text', toText],
    ['JSON', toJson],
    ['a bound', requireBounded],
  ];
  test.each(uses)('is refused as %s, not followed to the end of the stack', (_, use) => {
    expect(() => use(deepArray())).toThrow(EvaluationError);
    expect(() => use(wideArray())).toThrow(EvaluationError);
    expect(() => use([[[1]]])).not.toThrow();
  });

  test('is refused when it arrives as JSON', () => {
    const text = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(() => fromJson(JSON.parse(text))).toThrow(EvaluationError);
  });
});
