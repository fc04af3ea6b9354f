import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../shared/events/json-text.ts';
import { plain } from './reading.ts';

describe('a JSON text', () => {
  it('gives the value that JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), fc.constantFrom(0, 2), (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), null, indent);
        const reading = readJson(written);
        fc.pre(!written.includes('__proto__') && !(reading.kind === 'value' && reading.problems.length > 0));
        expect(reading.kind === 'value' && plain(reading.value)).toEqual(JSON.parse(written));
      }),
    );
  });

  it('gives every number that JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (number, digits) => {
        for (const text of [String(number), number.toExponential(Math.min(digits, 20)), (number % 1e6).toFixed(digits)]) {
          const reading = readJson(text);
          if (reading.kind === 'value' && reading.problems.length === 0) expect(reading.value).toBe(JSON.parse(text));
          else expect(Number.isSafeInteger(Number(text))).toBe(false);
        }
      }),
    );
  });

  it('says where it holds what no event may hold', () => {
    const reading = readJson(
      '{"events": [{"event_type": "A", "fields": {"x": 1}}, {"event_type": "A", "fields": {"id": 9007199254740993, "y": 1e400}}]}',
    );
    expect(reading.kind === 'value' && reading.problems.map(({ path }) => path)).toEqual([
      ['events', 1, 'fields', 'id'],
      ['events', 1, 'fields', 'y'],
    ]);
  });

  it('that is nested too deeply is a problem, not a crash', () => {
    const reading = readJson(`{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}, "b": 1}`);
    expect(reading).toMatchObject({
      kind: 'value',
      problems: [{ message: 'nested more than 64 levels deep: flatten it, or send a part of it' }],
    });
    expect(readJson('[[[1]]]', 2)).toMatchObject({ problems: [{ path: [0] }] });
  });

  it('that cannot be read is told with its position', () => {
    expect(readJson('{"a": }')).toEqual({
      kind: 'unreadable',
      offset: 6,
      message: 'expected a JSON value, found `}`',
      hint: 'text stands in double quotes, numbers have no leading zero or `+`',
    });
    expect(readJson('')).toMatchObject({ kind: 'unreadable', offset: 0, message: 'expected a JSON value, found the end' });
    expect(readJson('1 2')).toMatchObject({ kind: 'unreadable', offset: 2 });
  });
});
