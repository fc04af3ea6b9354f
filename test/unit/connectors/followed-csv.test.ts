import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { csvLines } from '../../../cli/event-files/csv-lines.ts';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { limits } from '../../../shared/limits.ts';
import type { SourcePosition } from '../../../worker/connectors/connector.ts';
import { FollowedFile, type FollowedFileOptions } from '../../../worker/connectors/file/followed-file.ts';
import { ReadingSource } from './reading-source.ts';

let path = '';
const open: ReadingSource[] = [];
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'cep-csv-')), 'a.csv');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((reading) => reading.close()));
  rmSync(join(path, '..'), { recursive: true });
});

function read(options: Partial<FollowedFileOptions> = {}, position: SourcePosition | null = null): ReadingSource {
  const source = new FollowedFile({ path, timeField: undefined, follows: true, start: 'earliest', ...options });
  const reading = new ReadingSource(source, position);
  open.push(reading);
  return reading;
}

const csvFiles = [
  {
    name: 'a stray quote',
    text: 'n,text\n1,a\n1,5" pipe\n2,b\n3,c\n',
    good: [
      { n: 1, text: 'a' },
      { n: 2, text: 'b' },
      { n: 3, text: 'c' },
    ],
    bad: ['1,5" pipe\n'],
  },
  {
    name: 'something behind a closing quote',
    text: 'n,text\n1,"a" b\n2,"b"\n3,"c ""c"" c"\n',
    good: [
      { n: 2, text: 'b' },
      { n: 3, text: 'c "c" c' },
    ],
    bad: ['1,"a" b\n'],
  },
  {
    name: 'a quote that is never closed',
    text: 'n,text\n1,"a\n2,b\n3,"c"\n',
    good: [
      { n: 2, text: 'b' },
      { n: 3, text: 'c' },
    ],
    bad: ['1,"a\n'],
  },
  {
    name: 'semicolons, a byte order mark and nothing in places',
    text: '\uFEFF"n";text;opt;f\r\n1;a,b;x;1.5\r\n;;;\r\n\r\n',
    good: [
      { n: 1, text: 'a,b', opt: 'x', f: 1.5 },
      { n: null, text: '', opt: null, f: null },
    ],
    bad: [],
  },
  {
    name: 'tabs, and values of several lines',
    text: 'n\ttext\n1\t"a\nb\tc\r\n"\n2\tb\t3\n3\td\n',
    good: [
      { n: 1, text: 'a\nb\tc\r\n' },
      { n: 3, text: 'd' },
    ],
    bad: ['2\tb\t3\n'],
  },
];

const schemas = new EventSchemas([
  {
    name: 'A',
    fields: [
      { name: 'text', type: { kind: 'str' }, optional: false },
      { name: 'opt', type: { kind: 'str' }, optional: true },
    ],
  },
]);

/** What `cep simulate` reads of a CSV file. */
async function simulated(text: string): Promise<{ readonly good: readonly unknown[]; readonly bad: number }> {
  const problems: unknown[] = [];
  const options = { path: 'a.csv', eventType: 'A', schemas, problem: (line: unknown) => problems.push(line) };
  const parts: Uint8Array[] = [];
  // In pieces that end anywhere.
  for await (const part of csvLines(piecesOf(Buffer.from(text)), options)) parts.push(part);
  const lines = Buffer.concat(parts).toString().split('\n');
  return { good: lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line).data])), bad: problems.length };
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3);
}

describe('a followed CSV file', () => {
  it.each(csvFiles)(
    'with $name is read as `cep simulate` reads it, from one end to the other and followed',
    async ({ text, good, bad }) => {
      writeFileSync(path, text);
      const options = { schemas, otherType: 'A' };
      const [once, followed] = [read({ ...options, follows: false }), read(options)];
      await once.until(() => once.isEnded);
      await followed.until(() => followed.messages.length === good.length + bad.length);
      for (const { messages } of [once, followed]) {
        const [read, unread] = [messages.filter(({ problem }) => !problem), messages.filter(({ problem }) => problem)];
        expect(read.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()).data)).toEqual(good);
        expect(unread.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(bad);
      }
      expect(await simulated(text)).toEqual({ good, bad: bad.length });
    },
  );

  it('goes on with the delimiter of the header, also where that was saved as one column', async () => {
    writeFileSync(path, 'event_type;n\nA;1\n');
    const first = read();
    await first.until(() => first.messages.length === 1);
    await first.close();
    appendFileSync(path, 'A;2\n');
    const saved = first.position as { readonly state: object };
    for (const state of [saved.state, { columns: ['event_type;n'] }]) {
      const next = read({}, { ...saved, state });
      await next.until(() => next.messages.length === 1);
      expect(next.texts).toEqual(['{"event_type":"A","data":{"n":2}}']);
    }
  });

  it('loses no record behind a quote that is never closed, nor behind a line that is too long', async () => {
    const records = Array.from({ length: 150_000 }, (_, n) => `A,${n}\n`).join('');
    writeFileSync(path, `event_type,n\nA,"1\n${records}A,${'x'.repeat(2 * limits.eventBytesMax)}\n"A",1\n`);
    const reading = read({ follows: false });
    await reading.until(() => reading.isEnded);
    expect(reading.messages.flatMap(({ problem }, at) => (problem === undefined ? [] : [at]))).toEqual([0, 150_001]);
    expect(reading.messages).toHaveLength(150_003);
  });
});
