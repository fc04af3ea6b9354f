import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/event-reader.ts';
import type { ReadResult } from '../../../shared/events/reading/read-result.ts';
import { codePoints, utf8Length, wellFormedStart } from '../../../shared/events/reading/utf8.ts';
import { bytesOf, read } from './reading.ts';

const EXTENSIONS = ['.evt', '.jsonl', '.txt'] as const;
const extension = fc.constantFrom(...EXTENSIONS);

const lines = [
  '@100 Login { user: "ann", age: 41, ok: true, tags: ["a", \'b\'], at: {x: 1.5, "y z": null} };',
  '@5s Trade("ACME", 1.5, -100, [1, {k: v}])',
  'BATCH 2m # note',
  '@7 {"event_type": "A", "timestamp": "2026-01-31T10:00:00Z", "x": [1, 9007199254740993]}',
  '{"type": "B", "data": {"größe": "\\u00e9😀", "n": -0.5e3}}',
  '// comment',
  '',
  'A { a: "C:\\Windows \\u{1F600}", b: 10.0.0.1, c: .5 }\r',
  '\ufeffA {}',
];
const line = fc.constantFrom(...lines);

/** A line with some characters replaced, removed or put in. */
const mutatedLine = fc
  .tuple(
    line,
    fc.array(
      fc.tuple(
        fc.nat(200),
        fc.constantFrom(0, 1),
        fc.constantFrom(
          '',
          '"',
          "'",
          '{',
          '}',
          '[',
          ']',
          '(',
          ')',
          ',',
          ':',
          ';',
          '\\',
          '@',
          '#',
          '0',
          '-',
          '.',
          'e',
          ' ',
          '\0',
          '\n',
          '\r',
          'é',
          '😀',
          '\ud800',
          '__proto__',
        ),
      ),
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((result, [at, removed, inserted]) => result.slice(0, at) + inserted + result.slice(at + removed), text),
  );

const text = fc.array(fc.oneof(line, mutatedLine), { maxLength: 12 }).map((all) => all.join('\n'));
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  text.map(bytesOf),
  fc.tuple(text, fc.uint8Array({ maxLength: 4 }), fc.nat()).map(([content, noise, at]) => withNoise(bytesOf(content), noise, at)),
);

function withNoise(content: Uint8Array, noise: Uint8Array, at: number): Uint8Array {
  const cut = at % (content.length + 1);
  return Uint8Array.from([...content.subarray(0, cut), ...noise, ...content.subarray(cut)]);
}

function readInPieces(kind: string, content: Uint8Array, cuts: readonly number[]): ReadResult[] {
  const reader = readEvents(kind, { markFloats: true });
  const ends = [...cuts.map((cut) => cut % (content.length + 1)), content.length].sort((a, b) => a - b);
  let start = 0;
  const results = ends.flatMap((end) => {
    const chunk = content.slice(start, end);
    start = end;
    const written = reader.write(chunk);
    chunk.fill(0xaa); // The caller may use its buffer again.
    return written;
  });
  return [...results, ...reader.end()];
}

describe('a reader', () => {
  it('never throws, and gives at most one result for each line, in order', () => {
    fc.assert(
      fc.property(extension, bytes, (kind, content) => {
        const results = read(kind, content);
        const numbers = results.map((result) => (result.kind === 'unreadable' ? result.diagnostic.line : result.line));
        const lineCount = content.filter((byte) => byte === 10).length + 1;
        expect(numbers.every((number, index) => number > (numbers[index - 1] ?? 0) && number <= lineCount)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it('gives the same results however the bytes are cut into chunks', () => {
    fc.assert(
      fc.property(extension, bytes, fc.array(fc.nat(), { maxLength: 8 }), (kind, content, cuts) => {
        expect(readInPieces(kind, content, cuts)).toEqual(readInPieces(kind, content, []));
      }),
      { numRuns: 700 },
    );
  });

  it('gives the same results byte by byte', () => {
    const content = bytesOf(`\ufeff${lines.join('\r\n')}`);
    const cuts = Array.from(content, (_, index) => index);
    for (const kind of EXTENSIONS) expect(readInPieces(kind, content, cuts)).toEqual(readInPieces(kind, content, []));
  });

  it('gives the same results for a file of many blocks at once and in small chunks', () => {
    const many = Array.from({ length: 4000 }, (_, index) => `@${index} A { x: ${index}, name: "größe ${index}" }\n`).join('');
    const content = bytesOf(`${many}A { y: "${'é'.repeat(300_000)}" }\n${many}`);
    const cuts = Array.from({ length: content.length / 1000 }, (_, index) => index * 1000);
    expect(content.length).toBeGreaterThan(3 * 262_144);
    expect(readInPieces('.evt', content, cuts)).toEqual(readInPieces('.evt', content, []));
  });

  it('gives positions that lie in the line', () => {
    fc.assert(
      fc.property(fc.constantFrom('.evt', '.jsonl'), mutatedLine, (kind, content) => {
        for (const result of read(kind, content)) {
          if (result.kind !== 'unreadable') continue;
          const { line: number, column, excerpt, excerptColumn } = result.diagnostic;
          const written = new TextDecoder('utf-8').decode(bytesOf(content)).split('\n')[number - 1] ?? '';
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual([...written].length + 1);
          expect(excerptColumn).toBeLessThanOrEqual([...excerpt].length + 1);
        }
      }),
    );
  });
});

describe('the JSON of a line', () => {
  const json = fc.oneof(
    fc.json({ maxDepth: 4 }),
    mutatedLine,
    fc.tuple(fc.json(), fc.nat(40), fc.string({ maxLength: 2 })).map(([value, at, noise]) => value.slice(0, at) + noise + value.slice(at)),
  );

  it('is read where JSON.parse reads it, and nowhere else', () => {
    fc.assert(
      fc.property(json, (value) => {
        const content = `{"event_type":"A","x":${value.replaceAll('\n', ' ')}}`;
        const [result] = read('.jsonl', content);
        expect(result?.kind !== 'unreadable').toBe(isJsonEvent(content));
      }),
      { numRuns: 700 },
    );
  });
});

function isJsonEvent(content: string): boolean {
  try {
    const { event_type: type } = JSON.parse(new TextDecoder().decode(bytesOf(content)));
    return typeof type === 'string' && type !== '';
  } catch {
    return false;
  }
}

describe('UTF-8', () => {
  const codePoint = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

  it('has its length and its code points counted', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (content) => {
        expect(utf8Length(content)).toBe(bytesOf(content).length);
        expect(codePoints(content, 0, content.length)).toBe([...content].length);
      }),
    );
  });

  it('is well-formed up to the first bad byte', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (good, rest) => {
        const content = Uint8Array.from([...bytesOf(good), 0xff, ...bytesOf(rest)]);
        expect(wellFormedStart(content)).toBe(good);
      }),
    );
  });
});
