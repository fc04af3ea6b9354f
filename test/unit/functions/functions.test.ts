import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beginMaking } from '../../../shared/events/making.ts';
import { keyOf } from '../../../shared/events/text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';
import { valueLimits } from '../../../shared/events/value-limits.ts';
import { BoundedCache } from '../../../shared/language/functions/bounded-cache.ts';
import { EvaluationError, type FunctionValue } from '../../../shared/language/functions/descriptor.ts';
import { functions } from '../../../shared/language/functions/index.ts';
import { xxHash64 } from '../../../shared/language/functions/xxhash64.ts';
import { numbers, texts, values } from './values.ts';

const MANY: readonly Value[] = Array.from({ length: 100_000 }, (_, at) => at);
const MANY_KEYS = new Map<string, Value>(MANY.slice(0, 20_000).map((at) => [`k${at}`, at]));
const LONG = 'x'.repeat(1_000_000);

function call(name: string, ...args: (Value | FunctionValue)[]): Value {
  const descriptor = functions.get(name);
  if (!descriptor) throw new Error(`no function ${name}`);
  return descriptor.evaluate(args, { now: 1500 });
}

const check = (name: string, ...args: (Value | undefined)[]): { code: string; message: string } | undefined =>
  functions.get(name)?.checkConstants?.(args);
const at = (text: string): Timestamp => new Timestamp(Date.parse(text));

describe('math', () => {
  test('what is not finite is null', () => {
    for (const result of [
      call('sqrt', -1),
      call('log', -1),
      call('log10', 0),
      call('exp', 1e4),
      call('pow', 10, 400),
      call('pow', 0, -1),
      call('div', 0, 0),
    ]) {
      expect(result).toBeNull();
    }
  });

  test('zero has no sign', () => {
    for (const result of [
      call('ceil', -0.5),
      call('round', -0.2),
      call('round', -0.001, 2),
      call('div', -1, 2),
      call('sign', -0),
      call('round', -4, -1),
    ]) {
      expect(result).toBe(0);
    }
  });

  test.each([
    [0.5, 0, 1],
    [-0.5, 0, -1],
    [0.49999999999999994, 0, 0],
    [2.5, 0, 3],
    [2251799813685248.5, 0, 2251799813685249],
    [1.005, 2, 1.01],
    [-1.005, 2, -1.01],
    [1.45, 1, 1.5],
    [8.345, 2, 8.35],
    [9.995, 2, 10],
    [0.05, 1, 0.1],
    [0.049, 1, 0],
    [1e-7, 7, 1e-7],
    [1e300, 2, 1e300],
    [1e21, -21, 1e21],
    [5e20, -21, 1e21],
    [4e20, -21, 0],
    [149, -2, 100],
    [150, -2, 200],
    [5e-324, 323, 1e-323],
  ])('round(%d, %d) is %d', (x, places, rounded) => {
    expect(call('round', x, places)).toBe(rounded);
  });

  test('rounding rounds the decimal text half away from zero', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.nat(6), fc.nat(6), (digits, scale, places) => {
        const x = Number(`${digits}e-${scale}`);
        const unit = 10n ** BigInt(Math.max(0, scale - places));
        const half = ((digits < 0n ? -digits : digits) * 2n + unit) / (unit * 2n);
        const exact = Number(`${digits < 0n ? '-' : ''}${half * unit}e-${scale}`) + 0;
        expect(call('round', x, places)).toBe(exact);
      }),
    );
  });

  test('min and max skip nulls, order every kind, and fail on a mix', () => {
    expect(call('min', null, null)).toBeNull();
    expect(call('max', [null, 'b', 'a'])).toBe('b');
    expect(call('min', at('2026-01-02'), at('2026-01-01'))).toEqual(at('2026-01-01'));
    expect(call('max', 4)).toBe(4);
    expect(() => call('max', 1, 'a')).toThrow(new EvaluationError('max: cannot compare str with int'));
    expect(() => call('max', [1, [2]])).toThrow(new EvaluationError('max: values of kind array have no order'));
    expect(() => call('min', [[2]])).toThrow(EvaluationError);
  });

  test('clamp is null for bounds in the wrong order, and fails on a mix', () => {
    expect(call('clamp', -1, 0, 10)).toBe(0);
    expect(call('clamp', 5, 5, 5)).toBe(5);
    expect(call('clamp', 5, 10, 0)).toBeNull();
    expect(() => call('clamp', 5, new Duration(1), 10)).toThrow(EvaluationError);
  });

  test('div truncates exactly', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), (a, b) => {
        expect(call('div', a, b)).toBe(b === 0 ? null : Number(BigInt(a) / BigInt(b)));
      }),
    );
  });
});

describe('strings', () => {
  test('lengths, slices and characters go by code point', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 }), (text, start, end) => {
        const points = [...text];
        expect(call('len', text)).toBe(points.length);
        expect(call('substring', text, start, end)).toBe(points.slice(start, end).join(''));
        expect(call('split', text, '')).toEqual(points);
        expect(call('join', call('split', text, ''), '')).toBe(text);
      }),
    );
  });

  test('replace and split take plain text, not patterns', () => {
    expect(call('replace', 'a.b', '.', '$&')).toBe('a$&b');
    expect(call('split', 'a.b', '.')).toEqual(['a', 'b']);
  });

  test('nothing grows beyond the limit', () => {
    const big = 'x'.repeat(1_000_000);
    expect(() => call('replace', big, 'x', big)).toThrow(EvaluationError);
    expect(() =>
      call(
        'join',
        Array.from({ length: 20 }, () => big),
        '',
      ),
    ).toThrow(EvaluationError);
    expect(() => call('concat', ...Array.from({ length: 20 }, () => big))).toThrow(EvaluationError);
    expect(() => call('format', '{}'.repeat(20), ...Array.from({ length: 20 }, () => big))).toThrow(EvaluationError);
    expect(call('replace', big, 'x', 'yy')).toHaveLength(2_000_000);
  });

  test('format puts one value into each {} and refuses anything else in braces', () => {
    expect(call('format', 'a{}b{}c', 1, null)).toBe('a1bnullc');
    expect(call('format', '{{}} {{{}}}', [1, 'x'])).toBe('{} {[1, "x"]}');
    expect(call('format', 'plain')).toBe('plain');
    expect(call('format', null, 1)).toBeNull();
    expect(() => call('format', '{} {}', 1)).toThrow(new EvaluationError('format: the template has 2 {}, but 1 value is given'));
    expect(() => call('format', '{name}', 1)).toThrow(/a lone \{/);
    expect(check('format', '{}', undefined, undefined)).toEqual({ code: 'E051', message: 'the template has 1 {}, but 2 values are given' });
    expect(check('format', undefined, 1)).toBeUndefined();
    expect(check('format', '{}', undefined)).toBeUndefined();
  });
});

describe('regular expressions', () => {
  test('search, and extract group 1 or all', () => {
    expect(call('regex_match', 'xay', 'a')).toBe(true);
    expect(call('regex_match', 'ABC', '(?i)^abc$')).toBe(true);
    expect(call('regex_extract', 'k=v;q=w', '(\\w)=w')).toBe('q');
    expect(call('regex_extract', 'abc', 'b.')).toBe('bc');
    expect(call('regex_extract', 'ac', 'a(b)?c')).toBeNull();
    expect(call('regex_extract', 'a😀', '(.)$')).toBe('😀');
  });

  test('take time in proportion to the text, where backtracking would take for ever', () => {
    const text = `${'a'.repeat(50_000)}!`;
    const started = performance.now();
    expect(call('regex_match', text, '(a+)+$')).toBe(false);
    expect(call('regex_extract', text, '(a|aa)+$')).toBeNull();
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('that are invalid fail, and are found by the checker when they are constant', () => {
    expect(() => call('regex_match', 'a', '(')).toThrow(new EvaluationError('invalid regular expression: missing closing ): `(`'));
    expect(check('regex_match', undefined, '(')).toEqual({ code: 'E052', message: 'invalid regular expression: missing closing ): `(`' });
    expect(check('regex_extract', undefined, '(?=a)')?.code).toBe('E052');
    expect(check('regex_match', undefined, 'a'.repeat(5_000))?.message).toBe('invalid regular expression: longer than 4096 characters');
    expect(check('regex_match', undefined, '\\d+')).toBeUndefined();
    expect(check('regex_match', 'a', undefined)).toBeUndefined();
  });
});

describe('a bounded cache', () => {
  test('computes once, forgets what went unused longest, and keeps no long keys', () => {
    const computed: string[] = [];
    const cache = new BoundedCache(2, (key) => {
      computed.push(key);
      return key.length;
    });
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) expect(cache.get(key)).toBe(1);
    expect(computed).toEqual(['a', 'b', 'c', 'b']);
    cache.get('x'.repeat(5_000));
    expect(cache.size).toBe(2);
  });
});

describe('collections', () => {
  test('sort agrees with comparing, keeps everything, and puts nulls last', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.oneof(numbers, fc.integer({ min: 0, max: 3 })))), (items) => {
        const sorted = call('sort', items) as Value[];
        const present = items.filter((item) => item !== null).sort((a, b) => a - b);
        expect(sorted.map(String)).toEqual([...present, ...items.filter((item) => item === null)].map(String));
      }),
    );
  });

  test('sort of mixed kinds, and of what has no order, is a failure', () => {
    expect(() => call('sort', [1, 'a'])).toThrow(new EvaluationError('sort: cannot compare str with int'));
    expect(() => call('sort', [new Duration(1), 1])).toThrow(EvaluationError);
    expect(() => call('sort', [[1]])).toThrow(new EvaluationError('sort: values of kind array have no order'));
  });

  test('unique keeps the first of each key', () => {
    fc.assert(
      fc.property(fc.array(values), (items) => {
        const firsts = items.filter((item, position) => items.findIndex((other) => keyOf([other]) === keyOf([item])) === position);
        expect(call('unique', items)).toEqual(firsts);
      }),
    );
  });

  test('nothing changes its argument', () => {
    const items: Value[] = [3, 1, [2]];
    const map = new Map<string, Value>([['a', 1]]);
    for (const name of ['reverse', 'pop', 'unique', 'flatten']) call(name, items);
    call('push', items, 4);
    call('set', items, 0, 9);
    call('sort', [3, 1, 2]);
    call('set', map, 'a', 2);
    expect(items).toEqual([3, 1, [2]]);
    expect(map).toEqual(new Map([['a', 1]]));
  });

  test('get gives its default for what is missing or null', () => {
    const map = new Map<string, Value>([['n', null]]);
    expect(call('get', map, 'n', 5)).toBe(5);
    expect(call('get', map, 'constructor')).toBeNull();
    expect(call('get', [1], 7, 'none')).toBe('none');
    expect(call('get', null, 'a', 0)).toBe(0);
    expect(() => call('get', [1], 'a')).toThrow(new EvaluationError('cannot index array by str'));
  });

  test('set stores under any key and at an index that is there', () => {
    expect(call('set', new Map(), '__proto__', null)).toEqual(new Map([['__proto__', null]]));
    expect(call('set', [1], 1, 2)).toBeNull();
    expect(call('set', [1], -2, 2)).toBeNull();
    expect(() => call('set', [1], 'a', 2)).toThrow(new EvaluationError('set: expected int as index of an array, found str'));
    expect(() => call('set', new Map(), 1, 2)).toThrow(new EvaluationError('set: expected str as key of a map, found int'));
    expect(call('set', null, 'a', 2)).toBeNull();
  });

  test('arrays grow to a limit', () => {
    const full = call('range', valueLimits.arrayItemsMax) as Value[];
    expect(full).toHaveLength(valueLimits.arrayItemsMax);
    const growing: (() => Value)[] = [
      () => call('range', valueLimits.arrayItemsMax + 1),
      () => call('push', full, 1),
      () => call('concat', full, [1]),
      () => call('flatten', [full, full]),
      () => call('split', 'a'.repeat(valueLimits.arrayItemsMax + 1), ''),
    ];
    for (const grow of growing) expect(grow).toThrow(EvaluationError);
  });

  test.each<readonly [string, readonly (Value | FunctionValue)[]]>([
    ['push', [MANY, 1]],
    ['pop', [MANY]],
    ['reverse', [MANY]],
    ['sort', [MANY]],
    ['unique', [MANY.slice(0, 10_000)]],
    ['set', [MANY, 0, 1]],
    ['set', [MANY_KEYS, 'k', 1]],
    ['keys', [MANY_KEYS]],
    ['values', [MANY_KEYS]],
    ['range', [100_000]],
    ['filter', [MANY, () => false]],
    ['map', [MANY, () => null]],
    ['flatten', [MANY]],
    ['concat', [MANY, [1]]],
    ['concat', [LONG, 'x']],
    ['zip', [MANY, MANY]],
    ['split', [LONG.slice(0, 100_000), '']],
    ['join', [['a', LONG], '']],
    ['replace', [`${LONG}y`, 'y', 'z']],
    ['upper', [LONG]],
    ['substring', [LONG, 1]],
    ['format', ['{}!', LONG]],
    ['to_string', [[LONG]]],
  ])('what %s makes counts', (name, args) => {
    const callOften = (): void => {
      for (let times = 0; times < 10_000; times++) call(name, ...args);
    };
    beginMaking();
    expect(callOften).toThrow(/one evaluation may make at most/);
    beginMaking();
    expect(() => call(name, ...args)).not.toThrow();
  });

  test('what is only read does not count', () => {
    beginMaking();
    for (let times = 0; times < 10_000; times++) {
      call('len', MANY);
      call('first', [LONG]);
      call('get', [LONG], 0);
      call('coalesce', null, LONG);
      call('to_string', LONG);
      call('to_int', '7');
    }
  });

  test('lambdas get the item and its index, and what is no bool is no condition', () => {
    const seen: Value[][] = [];
    const spy: FunctionValue = (...args) => {
      seen.push(args);
      return null;
    };
    expect(call('filter', ['a', 'b'], spy)).toEqual([]);
    expect(seen).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
    expect(call('any', [1], spy)).toBe(false);
    expect(call('all', [1], spy)).toBe(false);
    expect(call('all', [true, true])).toBe(true);
    for (const name of ['filter', 'any', 'all']) {
      expect(() => call(name, ['a'], () => 1)).toThrow('a condition is a bool, not int');
    }
    expect(() => call('any', [null, 'true'])).toThrow('a condition is a bool, not str');
  });

  test('a failure inside a lambda is the failure of the call', () => {
    const fail: FunctionValue = () => {
      throw new EvaluationError('inside');
    };
    expect(() => call('map', [1], fail)).toThrow(new EvaluationError('inside'));
  });

  test('concat and sum take one kind at a time', () => {
    expect(() => call('concat', 'a', ['b'])).toThrow(new EvaluationError('concat: cannot mix str and array'));
    expect(call('concat', 'a', null)).toBeNull();
    expect(() => call('sum', [1, 'a'])).toThrow(new EvaluationError('sum: expected number, found str'));
    expect(() => call('sum', [1, new Duration(1)])).toThrow(new EvaluationError('sum: expected number, found duration'));
    expect(() => call('variance', [new Duration(1)])).toThrow(new EvaluationError('variance: expected number, found duration'));
  });
});

describe('times', () => {
  test.each([
    ['2026-03-29T00:59:59Z', '2026-03-29 01:59:59 +01:00'],
    ['2026-03-29T01:00:00Z', '2026-03-29 03:00:00 +02:00'],
    ['2026-10-25T00:59:59Z', '2026-10-25 02:59:59 +02:00'],
    ['2026-10-25T01:00:00Z', '2026-10-25 02:00:00 +01:00'],
  ])('in Berlin %s is %s', (utc, local) => {
    expect(call('format_time', at(utc), 'yyyy-MM-dd HH:mm:ss xxx', 'Europe/Berlin')).toBe(local);
  });

  test.each([
    ['2026-07-01T12:00:00', '2026-07-01T10:00:00Z', 'a summer day'],
    ['2026-03-29T02:30:00', '2026-03-29T01:30:00Z', 'never shown: read with the offset before the change'],
    ['2026-10-25T02:30:00', '2026-10-25T00:30:00Z', 'shown twice: the first'],
  ])('local %s in Berlin is %s (%s)', (local, utc) => {
    expect(call('to_timestamp', local, 'Europe/Berlin')).toEqual(at(utc));
  });

  test('reading a local time back gives the time, unless clocks showed it twice', () => {
    const minutes = fc.integer({ min: -1e7, max: 4e7 }).map((minute) => minute * 60_000);
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      '+05:30',
      'UTC',
    );
    fc.assert(
      fc.property(minutes, zones, (ms, zone) => {
        const shown = (time: Value): Value => call('format_time', time, "yyyy-MM-dd'T'HH:mm:ss", zone);
        const local = shown(new Timestamp(ms));
        const read = call('to_timestamp', local, zone);
        expect(shown(read)).toBe(local);
        expect((read as Timestamp).ms).toBeLessThanOrEqual(ms);
      }),
    );
  });

  test('parts agree with Date in UTC', () => {
    fc.assert(
      fc.property(fc.integer({ min: -6e13, max: 8.64e15 }), (ms) => {
        const date = new Date(ms);
        const parts = ['year', 'month', 'day', 'hour', 'minute', 'second', 'weekday'].map((name) => call(name, new Timestamp(ms)));
        const expected = [
          date.getUTCFullYear(),
          date.getUTCMonth() + 1,
          date.getUTCDate(),
          date.getUTCHours(),
          date.getUTCMinutes(),
          date.getUTCSeconds(),
          date.getUTCDay() || 7,
        ];
        expect(parts).toEqual(expected);
        expect(['year', 'hour', 'minute'].map((name) => call(name, new Timestamp(ms), 'Etc/UTC'))).toEqual([
          expected[0],
          expected[3],
          expected[4],
        ]);
      }),
    );
  });

  test('before the year 1 a zone counts years as UTC does', () => {
    const longAgo = new Timestamp(Date.parse('-000004-06-15T12:00:00Z'));
    expect(call('year', longAgo, 'Etc/UTC')).toBe(call('year', longAgo));
  });

  test('an unknown zone is a failure, and found by the checker when it is constant', () => {
    expect(() => call('hour', at('2026-01-01'), 'Mars/Olympus')).toThrow(/^unknown time zone "Mars\/Olympus": write a name such as/);
    expect(() => call('hour', at('2026-01-01'), '+25:00')).toThrow(EvaluationError);
    expect(check('hour', undefined, 'Mars/Olympus')?.code).toBe('E051');
    expect(check('format_time', undefined, 'yyyy', 'Mars/Olympus')?.code).toBe('E051');
    expect(check('to_timestamp', undefined, 'Europe/Berlin')).toBeUndefined();
  });

  test('every letter of a time pattern', () => {
    const time = new Timestamp(Date.parse('2026-02-03T04:05:06.007Z') + 0.089);
    const show = (pattern: string): Value => call('format_time', time, pattern);
    expect(show('yyyy yy MMMM MMM MM M dd d EEEE EEE')).toBe('2026 26 February Feb 02 2 03 3 Tuesday Tue');
    expect(show('HH H hh h a mm m ss s SSS SSSSSS XXX xxx')).toBe('04 4 04 4 AM 05 5 06 6 007 007089 Z +00:00');
    expect(show("yyyy-MM-ddTHH:mm:ss'Z' 'o''clock' ''")).toBe("2026-02-03T04:05:06Z o'clock '");
    expect(call('format_time', at('2026-01-01T00:30:00Z'), 'h:mm a')).toBe('12:30 AM');
    expect(call('format_time', at('2026-01-01T12:30:00Z'), 'hh:mm a')).toBe('12:30 PM');
    expect(call('format_time', at('2026-01-01T00:00:00Z'), 'xxx', '-03:30')).toBe('-03:30');
  });

  test.each(['YYYY', 'yyyyy', 'Z', '%Y-%m', 'constructor', "yyyy 'open", 'MMMMM'])('the time pattern %j is refused', (pattern) => {
    expect(() => call('format_time', at('2026-01-01'), pattern)).toThrow(EvaluationError);
    expect(check('format_time', undefined, pattern)?.code).toBe('E051');
  });

  test('to_timestamp takes ISO text and epoch milliseconds', () => {
    expect(call('to_timestamp', ' 2026-01-31T00:00:00.123456Z ')).toEqual(new Timestamp(Date.parse('2026-01-31') + 123.456));
    expect(call('to_timestamp', 1e300)).toBeNull();
    expect(call('to_timestamp', '2026-02-30')).toBeNull();
    expect(call('to_timestamp', '2026-01-31T00:00:00Z', 'Europe/Berlin')).toEqual(at('2026-01-31'));
    expect(call('parse', at('2026-01-31'))).toEqual(at('2026-01-31'));
  });

  test('now is the time of the event', () => {
    expect(call('now')).toEqual(new Timestamp(1500));
  });

  test('a duration between two times may be negative', () => {
    expect(call('duration_between', at('2026-01-02'), at('2026-01-01'))).toEqual(new Duration(-86_400_000));
  });
});

describe('conversion', () => {
  test.each<[Value, Value, Value]>([
    ['42', 42, 42],
    [' -7.9 ', -7, -7.9],
    ['1e3', 1000, 1000],
    ['.5', 0, 0.5],
    ['5.', 5, 5],
    ['9007199254740993', null, 9007199254740992],
    ['1e999', null, null],
    ['', null, null],
    ['0x10', null, null],
    ['1_000', null, null],
    ['Infinity', null, null],
    ['12abc', null, null],
    [1e300, null, 1e300],
    [-0.5, 0, -0.5],
    [true, 1, 1],
    [new Duration(1500.5), 1500, 1500.5],
    [new Timestamp(1500), 1500, 1500],
    [null, null, null],
  ])('%j is the int %j and the float %j', (value, int, float) => {
    expect(call('to_int', value)).toBe(int);
    expect(call('to_float', value)).toBe(float);
  });

  test('numbers survive their text', () => {
    fc.assert(
      fc.property(numbers, (x) => {
        expect(call('to_float', call('to_string', x))).toBe(x + 0);
      }),
    );
  });

  test('to_bool takes bools, 0 and 1, and two words', () => {
    expect([true, 1, 'true', false, 0, 'false', 2, 'TRUE', '1', ''].map((x) => call('to_bool', x))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      null,
      null,
      null,
      null,
    ]);
    expect(() => call('to_bool', new Duration(0))).toThrow(EvaluationError);
  });

  test('kinds have the names that type_of gives', () => {
    const all: Value[] = [7.0, 7.5, 'a', true, [], new Map(), new Timestamp(0), new Duration(0), null];
    expect(all.map((value) => call('type_of', value))).toEqual([
      'int',
      'float',
      'str',
      'bool',
      'array',
      'map',
      'timestamp',
      'duration',
      'null',
    ]);
    const tests = ['is_int', 'is_float', 'is_string', 'is_bool', 'is_array', 'is_map'];
    expect(tests.map((name) => all.filter((value) => call(name, value) === true))).toEqual([[7], [7.5], ['a'], [true], [[]], [new Map()]]);
  });
});

describe('hash', () => {
  test.each([
    ['', 'ef46db3751d8e999'],
    ['a', 'd24ec4f1a98c6e5b'],
    ['abcde', '07e3670c0c8dc7eb'],
    ['12345678', 'd2d02f08cf7cfd4a'],
    ['123456789012', 'b5cee4c943d43c7e'],
    ['Nobody inspects the spammish repetition', 'fbcea83c8a378bf1'],
    ['0123456789abcdef0123456789abcdef', '642a94958e71e6c5'],
    ['grüße ✓ 😀', 'afa2b198a7e224cf'],
    ['x'.repeat(1000), '4cb9a3b69cb700e1'],
  ])('of %j is the published %s', (text, hash) => {
    expect(xxHash64(text)).toBe(hash);
  });

  test('agrees with the specification in exact integers', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(xxHash64(text)).toBe(referenceHash(new TextEncoder().encode(text)));
      }),
    );
  });

  test('is that of to_string', () => {
    expect(call('hash', null)).toBe(xxHash64('null'));
    expect(call('hash', 7.0)).toBe(call('hash', '7'));
    expect(call('hash', [1, 'a'])).toBe(xxHash64('[1, "a"]'));
  });
});

/** XXH64 as its specification is written, with BigInt. */
function referenceHash(bytes: Uint8Array): string {
  const [p1, p2, p3, p4, p5] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
  const cut = (x: bigint): bigint => BigInt.asUintN(64, x);
  const rotate = (x: bigint, bits: bigint): bigint => cut(x << bits) | (x >> (64n - bits));
  const round = (lane: bigint, input: bigint): bigint => cut(rotate(cut(lane + input * p2), 31n) * p1);
  const view = new DataView(bytes.buffer);
  const { length } = bytes;
  let position = 0;
  let hash = p5;
  if (length >= 32) {
    const lanes = [cut(p1 + p2), p2, 0n, cut(-p1)];
    for (; position + 32 <= length; position += 32) {
      for (const lane of lanes.keys()) lanes[lane] = round(lanes[lane] ?? 0n, view.getBigUint64(position + lane * 8, true));
    }
    hash = lanes.map((lane, index) => rotate(lane, [1n, 7n, 12n, 18n][index] ?? 0n)).reduce((sum, lane) => cut(sum + lane));
    for (const lane of lanes) hash = cut((hash ^ round(0n, lane)) * p1 + p4);
  }
  hash = cut(hash + BigInt(length));
  for (; position + 8 <= length; position += 8) hash = cut(rotate(hash ^ round(0n, view.getBigUint64(position, true)), 27n) * p1 + p4);
  for (; position + 4 <= length; position += 4) hash = cut(rotate(hash ^ cut(BigInt(view.getUint32(position, true)) * p1), 23n) * p2 + p3);
  for (; position < length; position++) hash = cut(rotate(hash ^ cut(BigInt(bytes[position] ?? 0) * p5), 11n) * p1);
  hash = cut((hash ^ (hash >> 33n)) * p2);
  hash = cut((hash ^ (hash >> 29n)) * p3);
  return (hash ^ (hash >> 32n)).toString(16).padStart(16, '0');
}

describe('geo_distance', () => {
  test.each([
    ['a degree along the equator', [0, 0, 0, 1], 111_195],
    ['pole to pole', [90, 0, -90, 0], 20_015_114],
    ['antipodes', [0, 0, 0, 180], 20_015_114],
    ['across the date line', [0, 179.5, 0, -179.5], 111_195],
    ['a metre in Paris', [48.8566, 2.3522, 48.856609, 2.3522], 1],
  ])('%s', (_, coordinates, metres) => {
    expect(call('round', call('geo_distance', ...coordinates))).toBe(metres);
  });

  test('is the same in both directions, and at most half around the Earth', () => {
    const latitudes = fc.double({ min: -90, max: 90, noNaN: true });
    const longitudes = fc.double({ min: -180, max: 180, noNaN: true });
    fc.assert(
      fc.property(latitudes, longitudes, latitudes, longitudes, (lat1, lon1, lat2, lon2) => {
        const there = Number(call('geo_distance', lat1, lon1, lat2, lon2));
        expect(there).toBeCloseTo(Number(call('geo_distance', lat2, lon2, lat1, lon1)), 6);
        expect(there).toBeGreaterThanOrEqual(0);
        expect(there).toBeLessThanOrEqual(20_015_115);
      }),
    );
  });
});

describe('cidr_match', () => {
  test.each<[string, string, Value]>([
    ['192.168.1.77', '192.168.0.0/16', true],
    ['192.169.1.77', '192.168.0.0/16', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.2', '10.0.0.1/32', false],
    ['8.8.8.8', '0.0.0.0/0', true],
    ['10.1.2.3', '10.255.255.255/8', true],
    ['2001:db8:1::5', '2001:db8:1::/48', true],
    ['2001:db8:2::5', '2001:db8:1::/48', false],
    ['::1', '::1', true],
    ['fe80::1', '::/0', true],
    ['1.2.3.4', '::/0', false],
    ['::1', '0.0.0.0/0', false],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '::ffff:10.0.0.0/104', true],
    ['64:ff9b::192.0.2.33', '64:ff9b::/96', true],
    ['2001:0DB8::A', '2001:db8::a/128', true],
    ['010.0.0.1', '10.0.0.0/8', null],
    ['10.0.0', '10.0.0.0/8', null],
    ['10.0.0.256', '10.0.0.0/8', null],
    ['1:2:3:4:5:6:7', '::/0', null],
    ['1::2::3', '::/0', null],
    ['1:2:3:4:5:6:7:8::', '::/0', null],
    ['::1%eth0', '::/0', null],
    [':::', '::/0', null],
    [':1', '::/0', null],
    ['', '::/0', null],
  ])('%j in %j: %j', (ip, network, expected) => {
    expect(call('cidr_match', ip, network)).toBe(expected);
  });

  test.each(['10.0.0.0/33', '::/129', '10.0.0.0/-1', '10.0.0.0/', '/8', 'ten', '10.0.0.0/8/8', '10.0.0.0/x'])(
    '%j is no network',
    (network) => {
      expect(() => call('cidr_match', '10.0.0.1', network)).toThrow(EvaluationError);
      expect(check('cidr_match', undefined, network)?.code).toBe('E051');
    },
  );

  test('a network known to the checker passes it', () => {
    expect(check('cidr_match', undefined, '10.0.0.0/8')).toBeUndefined();
    expect(check('cidr_match', '10.0.0.1', undefined)).toBeUndefined();
  });

  test('compares as many bits as the prefix says', () => {
    const groups = fc.array(fc.constantFrom(0, 1, 0x8000, 0xfffe, 0xffff, 0x2001), { minLength: 8, maxLength: 8 });
    const text = (address: readonly number[]): string => address.map((group) => group.toString(16)).join(':');
    const bits = (address: readonly number[]): string => address.map((group) => group.toString(2).padStart(16, '0')).join('');
    fc.assert(
      fc.property(groups, groups, fc.nat(128), (ip, network, prefix) => {
        const expected = bits(ip).slice(0, prefix) === bits(network).slice(0, prefix);
        expect(call('cidr_match', text(ip), `${text(network)}/${prefix}`)).toBe(expected);
      }),
    );
  });
});
