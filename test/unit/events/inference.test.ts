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
}

function infer(content: string, { extension = '.jsonl', sampleSize = 100, nullable = false }: Options = {}): string {
  return printInference(inferSchemas(read(extension, content, { markFloats: true }), sampleSize), { nullable });
}

/** The inferred type of the field `f` of events that have these values. */
function inferred(values: readonly string[], options: Options = {}): string | undefined {
  const lines = values.map((value) => (value === '' ? '{"event_type": "A", "g": 1}' : `{"event_type": "A", "f": ${value}}`));
  return /^ {4}f: (.*)$/m.exec(infer(lines.join('\n'), options))?.[1];
}

describe('inferred declarations', () => {
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
        '    timestamp: str',
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
    expect(inferSchemas(results(), 7).events).toBe(7);
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

  it('say in a comment what no program can declare', () => {
    expect(infer('{"type": "a.b", "x": 1}\n{"type": "if", "x": 1}\n{"type": "A", "a`b": 1, "c\\nd": 2, "": 3}\n{"type": "B"}')).toBe(
      [
        'event A:',
        '    # "": int',
        '    # "a`b": int',
        '    # "c\\nd": int',
        '',
        'event B:',
        '',
        '# "a.b" is no name that a program can declare',
        '',
        '# "if" is no name that a program can declare',
        '',
        '# Inferred 4 event types from 4 events',
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
