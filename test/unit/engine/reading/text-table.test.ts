import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TextField, TextTable } from '../../../../worker/engine/reading/text-table.ts';

const decoder = new TextDecoder();
const newTable = (): TextTable => new TextTable((bytes, start, end) => decoder.decode(bytes.subarray(start, end)));

/** What a field reads of a text in quotes that stands in a line. */
function read(field: TextField, text: string, before = ''): string | null {
  const bytes = new TextEncoder().encode(`${before}"${text}" }\n....`);
  return field.read(bytes, new DataView(bytes.buffer), before.length + 1);
}

describe('a field of a table of texts', () => {
  const plain = fc.string({ unit: fc.constantFrom(..."abcdefghABC 0129_-.:/!#$%&'()*+,;<=>?@[]^`{|}~\u007f"), maxLength: 70, size: 'max' });

  it('reads every plain text, wherever it stands, the first time and again', () => {
    const table = newTable();
    const fields = [table.fieldOf({}), table.fieldOf({})];
    const property = fc.property(fc.array(plain, { minLength: 1, maxLength: 20 }), fc.nat(3), (texts, shift) => {
      for (const text of [...texts, ...texts]) {
        for (const field of fields) expect(read(field, text, ' '.repeat(shift))).toBe(text);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('tells texts apart that differ in one byte, in their length, or only behind the last whole word', () => {
    const field = newTable().fieldOf({});
    const texts = Array.from({ length: 40 }, (_, length) => ['x', 'y', 'z'].map((last) => 'x'.repeat(length) + last)).flat();
    for (const text of [...texts, ...texts, ...texts]) expect(read(field, text)).toBe(text);
  });

  it.each(['a\\n', 'caf\u00e9', 'tab\there', '\u0000', `${'x'.repeat(40)}\\`, 'four\u0001', '\u00ff'])(
    'leaves %j to the long way',
    (text) => {
      expect(read(newTable().fieldOf({}), text)).toBeNull();
    },
  );

  it.each(['__proto__', 'constructor', '17', '-1', ''])('reads %j as any other text', (text) => {
    const field = newTable().fieldOf({});
    for (let time = 0; time < 3; time++) expect(read(field, text)).toBe(text);
  });

  it('has room among the recent texts for all that it has read, from the first that comes again', () => {
    const field = newTable().fieldOf({});
    const texts = Array.from({ length: 300 }, (_, at) => `S${at}`);
    for (const text of [...texts, ...texts]) read(field, text);
    const places = field.recent.slots.filter((_, at) => at % 4 === 3);
    expect(places.length).toBeGreaterThanOrEqual(texts.length);
    expect(new Set(places).size).toBeGreaterThan(texts.length / 2);
  });

  it('does not keep long texts', () => {
    const table = newTable();
    const field = table.fieldOf({});
    const text = 'x'.repeat(65);
    for (let time = 0; time < 3; time++) expect(read(field, text)).toBe(text);
    expect(table.size).toBe(0);
    read(field, 'x'.repeat(64));
    expect(table.size).toBe(1);
  });
});

describe('a table of texts', () => {
  it('is bounded, and leaves out a field that seldom finds its texts', () => {
    const table = newTable();
    const [ids, symbols] = [table.fieldOf({}), table.fieldOf({})];
    let [sizeMax, wrong] = [0, 0];
    for (let i = 0; i < 140_000; i++) {
      if (read(ids, `order-${i}`) !== `order-${i}` || read(symbols, `S${i % 50}`) !== `S${i % 50}`) wrong++;
      sizeMax = Math.max(sizeMax, table.size);
    }
    expect(wrong).toBe(0);
    expect(sizeMax).toBe(131_072);
    expect(table.size).toBeLessThan(60);
  });

  it('tells where a text is kept, in a list that never says anything else', () => {
    const table = newTable();
    const [keys, others] = [table.fieldOf({}, true), table.fieldOf({})];
    const lists = new Map<readonly string[], string[]>();
    let wrong = 0;
    for (let i = 0; i < 140_000; i++) {
      const text = `key-${i < 1_000 ? i % 100 : i}`;
      read(others, `other-${i % 3}`);
      read(keys, text);
      const known = lists.get(keys.texts) ?? [];
      lists.set(keys.texts, known);
      if (keys.at < 0) continue;
      known[keys.at] ??= text;
      if (keys.texts[keys.at] !== text || known[keys.at] !== text) wrong++;
    }
    expect(wrong).toBe(0);
    expect(lists.size).toBe(2);
    read(keys, 'x'.repeat(65));
    expect(keys.at, 'a long text is not kept').toBe(-1);
  });

  it.each([3, 100, 5_000, 20_000])('finds short texts again, of which there are %i', (count) => {
    const field = newTable().fieldOf({});
    let wrong = 0;
    for (let i = 0; i < Math.max(1_000, count * 6); i++) {
      const text = `S${(i * 7) % count}`;
      if (read(field, text) !== text || field.texts[field.at] !== text) wrong++;
    }
    expect(wrong).toBe(0);
  });

  it('keeps many texts that come again', () => {
    const table = newTable();
    const devices = table.fieldOf({});
    let wrong = 0;
    for (let i = 0; i < 200_000; i++) if (read(devices, `dev-${i % 100_000}`) !== `dev-${i % 100_000}`) wrong++;
    expect(wrong).toBe(0);
    expect(table.size).toBe(100_000);
  });
});
