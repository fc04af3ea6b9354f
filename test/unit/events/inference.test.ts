import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inferSchemas, printInference } from '../../../shared/events/inference.ts';
import type { ReadResult } from '../../../shared/events/reading/read-result.ts';
import { SourceText } from '../../../shared/language/diagnostics/diagnostic.ts';
import { parse } from '../../../shared/language/grammar/parse.ts';
import { read } from './reading.ts';

interface Options {
  readonly extension?: string;
  readonly sampleSize?: number;
  readonly nullable?: boolean;
  readonly timeField?: string;
}

function infer(content: string, { extension = '.jsonl', sampleSize = 100, nullable = false, timeField }: Options = {}): string {
  return printInference(inferSchemas(read(extension, content, { markFloats: true, timeField }), { sampleSize, timeField }), { nullable });
}

/** The inferred type of the field `f` of events that have these values. */
function inferred(values: readonly string[], options: Options = {}): string | undefined {
  const lines = values.map((value) => (value === '' ? '{"event_type": "A", "g": 1}' : `{"event_type": "A", "f": ${value}}`));
  return /^ {4}f: (.*)$/m.exec(infer(lines.join('\n'), options))?.[1];
}

describe('inferred declarations', () => {
  it('tell of nulls in arrays where they tell of what may be missing', () => {
    expect(inferred(['[1, null]', '[2]'], { nullable: true })).toBe('[int?]');
    expect(inferred(['[1]', '[[null, 2.5]]'], { nullable: true })).toBe('[any]');
    expect(inferred(['[[1]]', '[[null, 2.5]]'], { nullable: true })).toBe('[[float?]]');
    expect(inferred(['[1, null]'])).toBe('[int]');
  });

  it('are event blocks with fields in alphabetical order and a comment with the counts', () => {
    expect(
      infer(
        '{"event_type": "Login", "user": "ann", "age": 41, "ok": true}\n{"event_type": "Alert", "score": 0.5}\n{"event_type": "Login", "user": "bob"}',
      ),
    ).toBe(
      [
        'event Alert:',
        '    score: float',
        '',
        'event Login:',
        '    age: int',
        '    ok: bool',
        '    user: str',
        '',
        '# Inferred 2 event types from 3 events',
        '',
      ].join('\n'),
    );
  });

  it('count one event type and one event in the singular', () => {
    expect(infer('{"type": "A", "x": 1}')).toContain('# Inferred 1 event type from 1 event\n');
    expect(infer('')).toBe('# Inferred 0 event types from 0 events\n');
  });

  it('come from .evt lines with and without a delay', () => {
    expect(infer('@100 A { x: 1, timestamp: "2026-01-31" }\nA { y: "b" }\nB(1, 2.0)', { extension: '.evt' })).toBe(
      [
        'event A:',
        '    timestamp: timestamp',
        '    x: int',
        '    y: str',
        '',
        'event B:',
        '    field_0: int',
        '    field_1: float',
        '',
        '# Inferred 2 event types from 3 events',
        '',
      ].join('\n'),
    );
  });

  it('have fields of data, and not the timestamp of the envelope', () => {
    expect(infer('{"event_type": "A", "timestamp": "2026-01-31", "data": {"x": 1}}\n{"event_type": "A", "timestamp": 5, "y": 2}')).toBe(
      ['event A:', '    x: int', '    y: int', '', '# Inferred 1 event type from 2 events', ''].join('\n'),
    );
  });

  it('look at as many events as asked, and count only those', () => {
    const lines = Array.from({ length: 250 }, (_, index) => `{"type": "A", "x": ${index < 100 ? 1 : '"x"'}}`).join('\n');
    expect(infer(lines)).toBe('event A:\n    x: int\n\n# Inferred 1 event type from 100 events\n');
    expect(infer(lines, { sampleSize: 101 })).toBe('event A:\n    x: str\n\n# Inferred 1 event type from 101 events\n');
    expect(infer(lines, { sampleSize: 0 })).toBe('# Inferred 0 event types from 0 events\n');
  });

  it('take no more from a file than they need', () => {
    let taken = 0;
    function* results(): Generator<ReadResult> {
      for (;;) {
        taken++;
        yield { kind: 'event', event: { type: 'A', fields: new Map(), fallbackTime: 0 }, line: taken };
      }
    }
    expect(inferSchemas(results(), { sampleSize: 7 }).events).toBe(7);
    expect(taken).toBe(7);
  });

  it('leave out lines that are invalid or cannot be read', () => {
    expect(infer('{"type": "A", "x": 9007199254740993}\n{\n{"type": "A", "x": 1}')).toBe(
      'event A:\n    x: int\n\n# Inferred 1 event type from 1 event\n',
    );
  });

  it('write fields that are no identifiers in backticks', () => {
    expect(infer('{"type": "A", "cs-uri-query": 1, "1st": 2, "größe": 3, "in": 4}')).toBe(
      [
        'event A:',
        '    `1st`: int',
        '    `cs-uri-query`: int',
        '    `größe`: int',
        '    in: int',
        '',
        '# Inferred 1 event type from 1 event',
        '',
      ].join('\n'),
    );
  });

  it('are a program that can be read', () => {
    const name = fc.oneof(fc.constantFrom('event', 'stream', 'true', 'int', 'in', 'a-b', 'a b', '`', '\n', '#', '"', '\\'), fc.string());
    const line = fc
      .tuple(name, fc.dictionary(name, fc.jsonValue({ maxDepth: 2 })))
      .map(([type, data]) => JSON.stringify({ event_type: type || 'A', data }));
    fc.assert(
      fc.property(fc.array(line), fc.boolean(), (lines, nullable) => {
        expect(parse(new SourceText('inferred.vpl', infer(lines.join('\n'), { nullable }))).diagnostics).toEqual([]);
      }),
    );
  });

  it('have names in backticks that need them', () => {
    expect(infer('{"type": "my-type", "a.b": 1}\n{"type": "if", "if": 1}')).toBe(
      ['event `if`:', '    if: int', '', 'event `my-type`:', '    `a.b`: int', '', '# Inferred 2 event types from 2 events', ''].join('\n'),
    );
  });

  it('say in a comment what no program can declare', () => {
    expect(infer('{"type": "a`b", "x": 1}\n{"type": "A", "a`b": 1, "c\\nd": 2, "": 3}\n{"type": "B"}')).toBe(
      [
        'event A:',
        '    # "": int',
        '    # "a`b": int',
        '    # "c\\nd": int',
        '',
        'event B:',
        '',
        '# "a`b" is no name that a program can declare',
        '',
        '# Inferred 3 event types from 3 events',
        '',
      ].join('\n'),
    );
  });
});

describe('the type of a field', () => {
  it.each<[string, string[], string]>([
    ['whole numbers is int', ['1', '-2'], 'int'],
    ['numbers with a fraction is float', ['1.5'], 'float'],
    ['whole numbers written with a point or an exponent is float', ['7.0', '8.0'], 'float'],
    ['texts is str', ['"a"', '"2026-01-31"'], 'str'],
    ['true and false is bool', ['true', 'false'], 'bool'],
    ['integer and float is float', ['1', '1.5'], 'float'],
    ['float and integer is float', ['1.5', '1'], 'float'],
    ['a mix with string is str', ['1', '"a"'], 'str'],
    ['a bool and a string is str', ['"a"', 'true'], 'str'],
    ['int with bool is str', ['1', 'true'], 'str'],
    ['float with bool is str', ['true', '1.5'], 'str'],
    ['null and another type is the other type', ['null', '1', 'null'], 'int'],
    ['only null is str?', ['null', 'null'], 'str?'],
    ['objects is {str: any}', ['{"a": 1}', '{"b": "x"}'], '{str: any}'],
    ['arrays is the type of their items', ['[1, 2]', '[]', '[3]'], '[int]'],
    ['arrays of numbers with and without fraction is [float]', ['[1]', '[1.5]', '[2.0]'], '[float]'],
    ['arrays of arrays nests', ['[[1], []]', '[["a"]]'], '[[any]]'],
    ['arrays with null among their items leaves null out', ['[null, "a"]'], '[str]'],
    ['arrays of mixed items is [any]', ['[1, "a"]'], '[any]'],
    ['empty arrays is [any]', ['[]'], '[any]'],
    ['a nested value and something else is any', ['[1]', '1'], 'any'],
    ['an object and an array is any', ['{}', '[]'], 'any'],
  ])('with %s', (_, values, type) => {
    expect(inferred(values)).toBe(type);
    expect(inferred([...values].reverse())).toBe(type);
  });

  it('has ? with --nullable when it is null or missing in some events', () => {
    expect(inferred(['1', 'null'], { nullable: true })).toBe('int?');
    expect(inferred(['1', ''], { nullable: true })).toBe('int?');
    expect(inferred(['1', '2'], { nullable: true })).toBe('int');
    expect(inferred(['null'], { nullable: true })).toBe('str?');
    expect(inferred(['1', 'null'])).toBe('int');
  });
});

describe('the inferred type of a field that holds times', () => {
  const declared = (fields: string, options: Options = {}): string =>
    infer(`{"event_type": "A", ${fields}}`, options)
      .split('\n')
      .filter((line) => line.startsWith(' '))
      .map((line) => line.trim())
      .join(', ');

  it.each([
    ['"2015-02-17T10:00:00Z"', 'f: timestamp'],
    ['"2015-02-17 10:00:00,123"', 'f: timestamp'],
    ['"2015-02-17"', 'f: timestamp'],
    ['"17/Feb/2015"', 'f: str'],
    ['"2015"', 'f: str'],
    ['1769853600000', 'f: int'],
  ])('%s', (value, expected) => {
    expect(declared(`"f": ${value}`)).toBe(expected);
  });

  it('is a timestamp for numbers of that size only under the name of a time', () => {
    expect(declared('"ts": 1769853600, "created_at": 1769853600000, "id": 1769853600, "time": 12')).toBe(
      'created_at: int  # holds times; declared as timestamp it would be the time of the event in place of ts, id: int, time: int, ts: timestamp',
    );
    expect(declared('"time": 1769853600.25, "eventTime": 1769853600000000')).toContain('time: timestamp');
  });

  it('leaves the event the time that is likely its own, or that is named', () => {
    const fields = '"a_birth": "1980-01-01T00:00:00Z", "ts": "2026-01-31T10:00:00Z", "zone_since": "2020-01-01T00:00:00Z"';
    expect(declared(fields)).toMatch(/^a_birth: str {2}# holds times; .* in place of ts, ts: timestamp, zone_since: timestamp$/);
    expect(declared(fields, { timeField: 'a_birth' })).toBe('a_birth: timestamp, ts: timestamp, zone_since: timestamp');
    expect(declared(`${fields}, "timestamp": 1769853600`)).toBe('a_birth: timestamp, ts: timestamp, zone_since: timestamp');
  });

  it('is what all values are: one that is no time makes it a text', () => {
    expect(inferred(['"2015-02-17T10:00:00Z"', '"later"'])).toBe('str');
    expect(inferred(['null', '"2015-02-17T10:00:00Z"'])).toBe('timestamp');
  });
});
