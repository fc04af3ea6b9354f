import { describe, expect, it } from 'vitest';
import { plain } from '../../../cli/colors.ts';
import { clockText, eventText, visible } from '../../../cli/event-text.ts';
import { Duration, Timestamp, type Value } from '../../../shared/events/value.ts';

describe('an event as text', () => {
  it('shows values as a program would write them, times as ISO 8601', () => {
    const fields = new Map<string, Value>([
      ['s', 'a "b"'],
      ['n', 1.5],
      ['at', new Timestamp(5000)],
      ['d', new Duration(90_000)],
      ['xs', [1, 'a', null]],
      ['two words', true],
    ]);
    expect(eventText('Login', fields, plain)).toBe(
      'Login { s: "a \\"b\\"", n: 1.5, at: 1970-01-01T00:00:05Z, d: 1m30s, xs: [1, "a", null], "two words": true }',
    );
    expect(eventText('Tick', new Map(), plain)).toBe('Tick {}');
  });

  it('shows an escape in place of what would not be seen', () => {
    expect(visible('a\u001b[31m\u009b\u202e\n\t\r\u2028z\u{1F600}')).toBe('a\\u{1b}[31m\\u{9b}\\u{202e}\\n\\t\\r\\u{2028}z\u{1F600}');
    expect(visible('half \ud800')).toBe('half \\u{d800}');
  });
});

describe('a time as text', () => {
  it.each([
    [0, '00:00:00.000'],
    [43_205_000, '12:00:05.000'],
    [299_999.5, '00:04:59.999'],
    [86_400_000, '1970-01-02T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [1e300, '1e+300'],
  ])('is for %d %s', (ms, text) => {
    expect(clockText(ms)).toBe(text);
  });
});
