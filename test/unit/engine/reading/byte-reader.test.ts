import { describe, expect, it } from 'vitest';
import { evtReader } from '../../../../shared/events/evt-reader.ts';
import type { ReadResult } from '../../../../shared/events/reading/read-result.ts';
import { BOOL, DURATION, FLOAT, INT, STR, TIMESTAMP } from '../../../../shared/language/plan/types.ts';
import { verifyGenerated } from '../../../../worker/engine/compile/verify.ts';
import type { EventEntries } from '../../../../worker/engine/fusion/event-entry.ts';
import { createByteReader } from '../../../../worker/engine/reading/byte-reader.ts';
import { createReadingState } from '../../../../worker/engine/reading/marks.ts';
import { type ExpectedLine, printReader } from '../../../../worker/engine/reading/print-reader.ts';
import { TextTable } from '../../../../worker/engine/reading/text-table.ts';
import { readingVocabulary } from '../../../../worker/engine/reading/vocabulary.ts';
import { bytesOf } from '../../events/reading.ts';
import { type Recording, recording, type Types } from './entries.ts';

const TICK: Types = { Tick: { symbol: STR, price: FLOAT, volume: INT } };

type Format = 'evt' | 'jsonl';

/** Reads a file in pieces. What went the long way is seen as `long <line>`. */
function readAll(
  format: Format,
  types: Types,
  content: string | Uint8Array,
  pieceBytes = Number.POSITIVE_INFINITY,
): Recording & { position: unknown } {
  const known = recording(types);
  const { entries, schemas, seen } = known;
  const reader = createByteReader(entries, { format, schemas, slow: (result) => seen.push(`long ${lineOf(result)}`) });
  const bytes = typeof content === 'string' ? bytesOf(content) : content;
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.read(bytes.slice(at, at + pieceBytes));
  reader.end();
  return { ...known, position: reader.position };
}

const lineOf = (result: ReadResult): number => (result.kind === 'unreadable' ? result.diagnostic.line : result.line);

function read(format: Format, types: Types, content: string): string[] {
  return readAll(format, types, content).seen;
}

describe('a line of an event file', () => {
  it('enters with its time and its values', () => {
    expect(read('evt', TICK, '@5 Tick { symbol: "ACME", price: 1.5, volume: 7 }\n')).toEqual(['Tick ~5 ACME 1.5 7']);
  });

  it('has the text that stands there, whatever stood in the lines before', () => {
    const beginnings = Array.from({ length: 13 }, (_, length) => 'abcdefghijklm'.slice(0, length));
    const alike = Array.from({ length: 400 }, (_, which) => `abcd${which}`);
    const texts = [...beginnings.flatMap((text) => [text, `${text}x`, `${text}y`]), ...alike];
    const all = [...texts, ...texts, ...texts, ...texts.toReversed()];
    const lines = all.map((text) => `Tick { symbol: "${text}", price: 1, volume: 1 }\n`).join('');
    const unended = 'Tick { symbol: "abc\\, price: 1, volume: 1 }\n';
    expect(read('evt', TICK, lines + unended)).toEqual([...all.map((text) => `Tick ~0 ${text} 1 1`), `long ${all.length + 1}`]);
  });

  it('takes the offset of the line before when it has none', () => {
    const lines =
      '@5 Tick { symbol: "A", price: 1, volume: 1 }\nTick { symbol: "B", price: 2.0, volume: -2 }\nBATCH 2s\nTick { symbol: "", price: -0.5, volume: 0 }\n';
    expect(read('evt', TICK, lines)).toEqual(['Tick ~5 A 1 1', 'Tick ~5 B 2 -2', 'Tick ~2000  -0.5 0']);
  });

  it('may have other blanks, a comma too many, or a carriage return', () => {
    const line = '@5 Tick{symbol : "ACME" ,price:\t1.5, volume: 7 , }\r\n';
    expect(read('evt', TICK, line)).toEqual(['Tick ~5 ACME 1.5 7']);
  });

  it('is checked in fields that nothing reads, and only checked', () => {
    const types = { Tick: { 'symbol-': STR, price: FLOAT, 'volume-': INT, 'ok-': BOOL } };
    const line = (symbol: string, volume: string): string => `@5 Tick { symbol: ${symbol}, price: 1.5, volume: ${volume}, ok: true }\n`;
    expect(read('evt', types, line('"ACME"', '7'))).toEqual(['Tick ~5 1.5']);
    expect(read('evt', types, line('"ACME"', '7.5') + line('7', '7') + line('"a\\n"', '7'))).toEqual(['long 1', 'long 2', 'long 3']);
  });

  it('has the time that a declared timestamp says, as text or as a number', () => {
    const types = { Login: { user: STR, 'at-': TIMESTAMP, held: DURATION } };
    const lines = ['"1970-01-01T00:00:01.500Z"', '"1970-01-01T00:00:02Z"', '3', '1769853600000'].map(
      (at) => `@9 Login { user: "u", at: ${at}, held: 250 }\n`,
    );
    expect(read('evt', types, lines.join(''))).toEqual([
      'Login 1500 u 250',
      'Login 2000 u 250',
      'Login 3000 u 250',
      'Login 1769853600000 u 250',
    ]);
  });

  it.each([
    '{"event_type":"Tick","data":{"symbol":"A","price":1.5,"volume":7}}',
    '{"event_type": "Tick", "data": {"symbol": "A", "price": 1.5, "volume": 7}}',
    '{"event_type":"Tick","symbol":"A","price":1.5,"volume":7}',
    '{"type":"Tick","symbol":"A","price":1.5,"volume":7}',
    ' { "type" : "Tick" , "symbol" : "A" , "price" : 1.5 , "volume" : 7 } ',
  ])('may be JSON: %s', (line) => {
    expect(read('jsonl', TICK, `${line}\n`)).toEqual(['Tick ~0 A 1.5 7']);
  });

  it.each([
    '{"event_type":"Tick","timestamp":"1970-01-01T00:00:01Z","data":{"symbol":"A","price":1.5,"volume":7}}',
    '{"timestamp":"1970-01-01T00:00:01.000Z","event_type":"Tick","symbol":"A","price":1.5,"volume":7}',
    '{"event_type": "Tick", "symbol": "A", "price": 1.5, "volume": 7, "timestamp": 1}',
    '{"event_type":"Tick","data":{"symbol":"A","price":1.5,"volume":7},"timestamp":1}',
  ])('may state its time in JSON, for the lines behind it too: %s', (line) => {
    expect(read('jsonl', TICK, `${line}\n{"type":"Tick","symbol":"B","price":1,"volume":1}\n`)).toEqual([
      'Tick 1000 A 1.5 7',
      'Tick ~1000 B 1 1',
    ]);
  });

  it('takes the slow path with its number when it does not have the expected layout', () => {
    const good = '@1 Tick { symbol: "A", price: 1, volume: 1 }';
    const odd = [
      '@1 Tick { price: 1, symbol: "A", volume: 1 }',
      '@1 Other { a: 1 }',
      '@1 Tick { symbol: "é", price: 1, volume: 1 }',
      'nonsense',
    ];
    const lines = ['# a comment', good, ...odd, '', good];
    expect(read('evt', TICK, lines.join('\n'))).toEqual(['Tick ~1 A 1 1', 'long 3', 'long 4', 'long 5', 'long 6', 'long 8']);
  });

  it.each([
    ['jsonl', '{"type":"Login","timestamp":"'],
    ['jsonl', '{"event_type":"Login","timestamp":"2026-01'],
    ['jsonl', '{"timestamp":"'],
    ['evt', '@1 Login { at: "'],
    ['evt', '@1 Login { at: "2026-01-31T10:00:0'],
    ['evt', '@'],
    ['evt', '@1 '],
    ['evt', 'L'],
  ] as const)('may end anywhere, also at the end of memory: %s %s', (format, line) => {
    expect(read(format, { Login: { 'at-': TIMESTAMP } }, `${line}\n`)).toEqual(['long 1']);
  });

  it('does not pass for a line of a type whose name begins alike', () => {
    const types = { A: { x: INT }, AB: { x: INT }, ABC: { x: INT } };
    const lines = 'A { x: 1 }\nAB { x: 2 }\nABC { x: 3 }\nABCD { x: 4 }\n';
    expect(read('evt', types, lines)).toEqual(['A ~0 1', 'AB ~0 2', 'ABC ~0 3', 'long 4']);
  });
});

describe('many types', () => {
  const names = Array.from({ length: 60 }, (_, i) => `Type${'abcdefghij'[i % 10]}${Math.floor(i / 10)}`);
  const types: Types = Object.fromEntries(names.map((name) => [name, { x: INT }]));

  it.each(['evt', 'jsonl'] as const)('are told apart in %s', (format) => {
    const lines = names.map((name, x) => (format === 'evt' ? `${name} { x: ${x} }\n` : `{"event_type":"${name}","data":{"x":${x}}}\n`));
    expect(read(format, types, lines.join(''))).toEqual(names.map((name, x) => `${name} ~0 ${x}`));
  });
});

describe('long lines', () => {
  const line = (bytes: number): string => `@1 Tick { symbol: "${'x'.repeat(bytes)}", price: 1, volume: 1 }\n`;
  const lengths = [10, 65_400, 65_500, 66_000, 10, 262_100, 262_144, 300_000, 10, 1_048_500, 1_048_600, 3_000_000, 10];
  const content = lengths.map(line).join('');

  it.each([5_000_000, 262_144, 65_536, 9_999])('are read alike in pieces of %d bytes, with the same numbers', (pieceBytes) => {
    const { seen, schemas, position } = readAll('evt', TICK, content, pieceBytes);
    const general = evtReader({ schemas });
    const results = [...general.write(bytesOf(content)), ...general.end()];
    const expected = results.map((result) =>
      result.kind === 'event' && schemas.admit(result.event, { strict: true }).status === 'valid' ? 'valid' : 'invalid',
    );
    const found = seen.map((one) => (one.startsWith('Tick') ? 'entered' : one));
    for (const [at, one] of found.entries())
      expect(one === 'entered' ? expected[at] : one).toBe(one === 'entered' ? 'valid' : `long ${at + 1}`);
    expect(found).toHaveLength(lengths.length);
    expect([0, 4, 8, 12].map((at) => found[at])).toEqual(['entered', 'entered', 'entered', 'entered']);
    expect(position).toEqual(general.position);
  });
});

describe('a file that is mostly not of the expected layout', () => {
  const odd = (i: number): string => `@${i} Tick { symbol: "é", price: ${i}, volume: 1 }\n`;
  const good = (i: number): string => `@${i} Tick { symbol: "A", price: ${i}, volume: 1 }\n`;
  const content =
    Array.from({ length: 200_000 }, (_, i) => (i < 20_000 || i % 10 > 0 ? odd(i) : good(i))).join('') +
    Array.from({ length: 200_000 }, (_, i) => good(i)).join('');

  it('gives all of it in order, and finds back to the fast path', () => {
    const { entries, schemas } = recording(TICK);
    let [entered, long, outOfOrder, before] = [0, 0, 0, -1];
    const take = (price: number): void => {
      if (price !== before + 1 && price !== 0) outOfOrder++;
      before = price;
    };
    for (const entry of entries.entries) {
      Object.assign(entry, {
        enter: (_time: number, _isArrival: boolean, _symbol: string, price: number) => {
          entered++;
          take(price);
        },
      });
    }
    const slow = (result: ReadResult): void => {
      long++;
      if (result.kind === 'event') take(result.event.fields.get('price') as number);
    };
    const reader = createByteReader(entries, { format: 'evt', schemas, slow });
    const bytes = bytesOf(content);
    for (let at = 0; at < bytes.length; at += 262_144) reader.read(bytes.subarray(at, at + 262_144));
    reader.end();
    expect([entered + long, outOfOrder, reader.position.lines, reader.entered]).toEqual([400_000, 0, 400_000, entered]);
    expect(entered).toBeGreaterThan(100_000);
  });
});

describe('a file with fields in another order than declared', () => {
  const orders = [
    ['volume', 'price', 'symbol'],
    ['price', 'symbol', 'volume'],
    ['symbol', 'volume', 'price'],
    ['symbol', 'price', 'volume'],
    ['price', 'volume', 'symbol'],
    ['volume', 'symbol', 'price'],
  ] as const;
  const valuesOf = (i: number) => ({ symbol: `S${i % 100}`, price: i + 0.25, volume: i });
  const lineOfOrder = (format: Format, i: number, order: readonly ('symbol' | 'price' | 'volume')[]): string => {
    const values = valuesOf(i);
    if (format === 'jsonl')
      return `${JSON.stringify({ type: 'Tick', ...Object.fromEntries(order.map((name) => [name, values[name]])) })}\n`;
    return `Tick { ${order.map((name) => `${name}: ${JSON.stringify(values[name])}`).join(', ')} }\n`;
  };

  it.each([
    ['evt', 1, 8_000],
    ['jsonl', 1, 8_000],
    ['evt', 2, 7_000],
    ['jsonl', 3, 6_000],
    ['evt', 6, 3_000],
  ] as const)('in %s is expected after a while (orders in it: %d)', (format, count, enteredMin) => {
    const { entries, schemas, seen } = recording(TICK);
    const slow = (result: ReadResult): void => {
      if (result.kind === 'event')
        seen.push(`Tick ~0 ${['symbol', 'price', 'volume'].map((name) => result.event.fields.get(name)).join(' ')}`);
    };
    const reader = createByteReader(entries, { format, schemas, slow });
    for (let i = 0; i < 10_000; i++) reader.read(bytesOf(lineOfOrder(format, i, orders[i % count] ?? orders[0])));
    reader.end();
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, i) => `Tick ~0 S${i % 100} ${i + 0.25} ${i}`));
    expect(reader.entered).toBeGreaterThan(enteredMin);
  });
});

describe('a reader', () => {
  it('makes the whole event for an entry that asks', () => {
    const { entries, schemas } = recording({ Tick: { symbol: STR, 'price-': FLOAT } });
    const whole: unknown[] = [];
    for (const entry of entries.entries) Object.assign(entry, { enter: () => whole.push(entries.source?.()) });
    const reader = createByteReader(entries, { format: 'evt', schemas, slow: () => undefined });
    reader.read(bytesOf('@5 Tick { symbol: "A", price: 1.5 }\nTick { symbol: "B", price: 2 }\n'));
    const event = (symbol: string, price: number): object => ({
      type: 'Tick',
      fields: new Map<string, unknown>([
        ['symbol', symbol],
        ['price', price],
      ]),
      fallbackTime: 5,
    });
    expect(whole).toEqual([event('A', 1.5), event('B', 2)]);
  });

  it('goes on where another one was', () => {
    const { entries, schemas, seen } = recording(TICK);
    const slow = (result: ReadResult): number => seen.push(`long ${lineOf(result)}`);
    const reader = createByteReader(entries, { format: 'evt', schemas, slow, from: { lines: 41, time: 700 } });
    reader.read(bytesOf('Tick { symbol: "A", price: 1, volume: 1 }\nnonsense\n'));
    expect(seen).toEqual(['Tick ~700 A 1 1', 'long 43']);
    expect(reader.position).toEqual({ lines: 43, time: 700 });
  });

  it('takes no types on the fast path that generated code cannot hold', () => {
    const types: Types = {
      A: { x: { kind: 'any' } },
      B: { tags: { kind: 'array', item: STR } },
      C: { timestamp: STR },
      D: Object.fromEntries(Array.from({ length: 1025 }, (_, i) => [`f${i}`, INT])),
      E: { [`${'x'.repeat(20_000)}`]: INT },
    };
    expect(read('evt', types, 'A { x: 1 }\nB { tags: ["a"] }\nC { timestamp: "x" }\nD { f0: 1 }\nE { x: 1 }\n')).toEqual([
      'long 1',
      'long 2',
      'long 3',
      'long 4',
      'long 5',
    ]);
  });
});

const expected = ({ entries }: EventEntries): readonly ExpectedLine[] =>
  entries.map((entry) => ({ entry, layout: entry.fields.map((_, at) => at) }));

describe('the text of a reader', () => {
  const hostile = ['a`b', '__proto__', "x'); throw 1; ('", 'a"b', 'line\u2028', 'prototype', 'Ω', 'a b', 'K', 'b0', 'slow'];

  it.each(['evt', 'jsonl'] as const)('of %s holds no text of the user', (format) => {
    const { entries } = recording(
      Object.fromEntries(hostile.map((name) => [name, Object.fromEntries(hostile.map((field) => [field, STR]))])),
    );
    const surroundings = { state: createReadingState(), texts: new TextTable(() => ''), slow: () => 0 };
    const { text } = printReader(expected(entries), format, surroundings);
    expect(() => verifyGenerated(text, readingVocabulary)).not.toThrow();
    for (const name of hostile.filter((one) => one.length > 2)) expect(text).not.toContain(name);
  });

  it('depends on the types alone', () => {
    const print = (): string => {
      const surroundings = { state: createReadingState(), texts: new TextTable(() => ''), slow: () => 0 };
      return printReader(expected(recording(TICK).entries), 'evt', surroundings).text;
    };
    expect(print()).toBe(print());
  });
});
