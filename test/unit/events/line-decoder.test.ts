import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { evtReader } from '../../../shared/events/evt-reader.ts';
import { limits } from '../../../shared/limits.ts';
import { briefly, bytesOf, diagnosticOf, read } from './reading.ts';

const MIB = limits.eventBytesMax;
const join = (...parts: (string | number[])[]): Uint8Array => {
  const pieces = parts.map((part) => (typeof part === 'string' ? bytesOf(part) : Uint8Array.from(part)));
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
};

describe('bytes', () => {
  it('may begin with a byte order mark, which is no part of the first line', () => {
    expect(briefly('.evt', '\ufeff@1 A {}')).toEqual(['A@1 {}']);
    expect(briefly('.jsonl', '\ufeff{"type": "A"}')).toEqual(['A@0 {}']);
    expect(diagnosticOf('.evt', '\ufeffA [')).toMatchObject({ column: 3, excerpt: 'A [' });
  });

  it('are no byte order mark anywhere else', () => {
    expect(diagnosticOf('.evt', '\n\ufeffA {}')).toMatchObject({
      line: 2,
      column: 1,
      message: 'expected an event type, found the character U+FEFF',
    });
  });

  it('that are not UTF-8 are reported with their position, and the other lines run', () => {
    const results = read('.evt', join('@1 A {}\n@2 A { größe: "', [0xff], '" }\n@3 A {}\nA {}'));
    expect(results.map(({ kind }) => kind)).toEqual(['event', 'unreadable', 'event', 'event']);
    expect(results[1]).toEqual({
      kind: 'unreadable',
      diagnostic: {
        line: 2,
        column: 16,
        message: 'this byte is not UTF-8 text',
        excerpt: '@2 A { größe: "\ufffd" }',
        excerptColumn: 16,
        hint: 'save the file as UTF-8',
      },
    });
  });

  it.each([
    ['a lone continuation byte', [0x80]],
    ['an unfinished character', [0xe2, 0x82]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ])('with %s are not UTF-8', (_, bad) => {
    expect(diagnosticOf('.jsonl', join('{"type": "A', bad, '"}'))).toMatchObject({ line: 1, column: 12 });
    expect(diagnosticOf('.jsonl', join('{"type": "A', bad))).toMatchObject({ line: 1, column: 12 });
  });

  it('that are not UTF-8 are no matter in a comment', () => {
    expect(read('.evt', join('# caf', [0xe9], '\n// caf', [0xe9], '\nA {}')).map(({ kind }) => kind)).toEqual(['event']);
  });

  it.each([
    ['zstd', [0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00]],
    ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
    ['bzip2', [0x42, 0x5a, 0x68, 0x39, 0x31, 0xff]],
    ['zip', [0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0xff]],
  ])('of a file that %s has compressed are named so', (name, bytes) => {
    expect(diagnosticOf('.jsonl', Uint8Array.from(bytes)).hint).toContain(`the file is compressed with ${name}, and only gzip`);
  });

  it('of UTF-16 are named so', () => {
    const utf16 = Uint8Array.from([0xff, 0xfe, ...[...'A {}'].flatMap((character) => [character.charCodeAt(0), 0])]);
    expect(diagnosticOf('.evt', utf16).hint).toBe('the file looks like UTF-16: save the file as UTF-8');
  });

  it('set the offset of the lines behind them even where they are not UTF-8', () => {
    expect(read('.evt', join('@7 A { x: "', [0xff], '" }\nA {}'))[1]).toMatchObject({ event: { fallbackTime: 7 } });
  });

  it('are a line at the end of the file without a line end too', () => {
    expect(briefly('.evt', 'A {}\nB {}')).toEqual(briefly('.evt', 'A {}\nB {}\n'));
  });
});

describe('a line', () => {
  const padded = (bytes: number, end = '\n'): string => `@5 A { x: 1 }${' '.repeat(bytes - 13)}${end}`;

  it('of exactly 1 MiB is read', () => {
    expect(read('.evt', padded(MIB)).map(({ kind }) => kind)).toEqual(['event']);
    expect(read('.evt', padded(MIB, '\r\n')).map(({ kind }) => kind)).toEqual(['event']);
    expect(read('.evt', padded(MIB, '')).map(({ kind }) => kind)).toEqual(['event']);
  });

  it('above 1 MiB is an invalid event of its type, and the other lines run', () => {
    expect(read('.evt', `${padded(MIB + 1)}A {}\n`)).toEqual([
      {
        kind: 'invalid',
        line: 1,
        type: 'A',
        field: '',
        message: 'the line is longer than 1048576 bytes, the most that one event may have: send less, or several events',
      },
      { kind: 'event', event: { type: 'A', fields: new Map(), fallbackTime: 5 }, line: 2 },
    ]);
    expect(read('.evt', padded(MIB + 1, '\r\n'))).toMatchObject([{ kind: 'invalid' }]);
    expect(read('.evt', padded(MIB + 1, ''))).toMatchObject([{ kind: 'invalid' }]);
  });

  it('above 1 MiB has its type from what was read of it', () => {
    const long = 'x'.repeat(MIB);
    expect(read('.evt', `A { x: "${long}" }`)).toMatchObject([{ kind: 'invalid', type: 'A' }]);
    expect(read('.evt', `@5 {"event_type": "B", "x": "${long}" }`)).toMatchObject([{ kind: 'invalid', type: 'B' }]);
    expect(read('.jsonl', `{"type": "C", "x": "${long}" }`)).toMatchObject([{ kind: 'invalid', type: 'C' }]);
  });

  it('above 1 MiB without a type cannot be read', () => {
    const long = 'x'.repeat(MIB);
    expect(read('.evt', `${long} {}\n`)).toMatchObject([{ kind: 'unreadable', diagnostic: { line: 1, column: 1 } }]);
    expect(read('.jsonl', `{"type": "A"}\n{"x": "${long}", "type": "C"}`)).toMatchObject([{ kind: 'event' }, { kind: 'unreadable' }]);
    expect(read('.jsonl', `{"type": "A"}\n${' '.repeat(MIB + 1)}`)).toMatchObject([{ kind: 'event' }, { kind: 'unreadable' }]);
  });

  it('above 1 MiB may be a comment', () => {
    expect(read('.evt', `# ${'x'.repeat(MIB)}\nA {}`).map(({ kind }) => kind)).toEqual(['event']);
  });

  it('is measured in bytes, not in characters', () => {
    expect(read('.evt', `A { x: "${'é'.repeat(MIB / 2)}" }`)).toMatchObject([{ kind: 'invalid' }]);
  });

  it('of any length needs bounded memory', () => {
    const reader = evtReader();
    const chunk = new Uint8Array(MIB).fill(120);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 200; count++) expect(reader.write(chunk)).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * MIB);
    expect(reader.end()).toHaveLength(1);
  });
});

it('strings do not keep the text that they were read from alive', () => {
  const reader = evtReader();
  const kept: unknown[] = [];
  const padding = '# padding\n'.repeat(20_000);
  const heapBefore = heapUsed();
  for (let count = 0; count < 200; count++) {
    for (const result of reader.write(bytesOf(`${padding}A { name: "a name of some length ${count}" }\n`))) {
      if (result.kind === 'event') kept.push(result.event.fields.get('name'));
    }
  }
  expect(kept).toHaveLength(200);
  expect(heapUsed() - heapBefore).toBeLessThan(20 * MIB);
});

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
