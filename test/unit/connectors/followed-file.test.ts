import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EventSchemas } from '../../../shared/events/schema.ts';
import { BOOL, INT, mapOf, STR, TIMESTAMP } from '../../../shared/language/plan/types.ts';
import { limits } from '../../../shared/limits.ts';
import { OutboundDoor } from '../../../shared/outbound/outbound-door.ts';
import { NetworkPolicy } from '../../../shared/security/network-policy.ts';
import type { SourcePosition } from '../../../worker/connectors/connector.ts';
import { FollowedFile, type FollowedFileOptions } from '../../../worker/connectors/file/followed-file.ts';
import { openSource, settingsOf } from '../../../worker/connectors/registry.ts';
import { ReadingSource } from './reading-source.ts';

let folder = '';
const open: ReadingSource[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-file-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((reading) => reading.close()));
  rmSync(folder, { recursive: true });
});

function read(name: string, options: Partial<FollowedFileOptions> = {}, position: SourcePosition | null = null): ReadingSource {
  const path = join(folder, name);
  const source = new FollowedFile({ path, timeField: undefined, follows: true, start: 'earliest', ...options });
  const reading = new ReadingSource(source, position);
  open.push(reading);
  return reading;
}

const write = (name: string, text: string | Uint8Array): void => writeFileSync(join(folder, name), text);
const append = (name: string, text: string): void => appendFileSync(join(folder, name), text);
const line = (number: number): string => `{"event_type":"A","n":${number}}\n`;
const lines = (from: number, to: number): string => Array.from({ length: to - from }, (_, at) => line(from + at)).join('');
const numbers = ({ messages }: ReadingSource): number[] =>
  messages.filter(({ problem }) => problem === undefined).map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()).n);
const problems = ({ messages }: ReadingSource): (string | undefined)[] => messages.map(({ problem }) => problem);
const upTo = (end: number): number[] => Array.from({ length: end }, (_, number) => number);

const schemas = new EventSchemas(
  [
    { name: 'V', fields: { id: STR, at: TIMESTAMP } },
    { name: 'A', fields: { id: STR, n: INT, ok: BOOL, m: mapOf(INT) } },
    { name: 'B', fields: { id: INT, n: STR } },
  ].map(({ name, fields }) => ({ name, fields: Object.entries(fields).map(([of, type]) => ({ name: of, type, optional: true })) })),
);

describe('a followed file', () => {
  it('is not compressed where it begins with the latest: nothing comes behind that', () => {
    const environment = {
      console: () => undefined,
      door: new OutboundDoor(NetworkPolicy.everywhere),
      filePath: (path: string) => join(folder, path),
    };
    const settings = { ...settingsOf('Log', 'file', [['start', 'latest']]), subscription: 's', textFields: [] };
    const openOf = (topic: string) => (): unknown => openSource({ ...settings, topic }, environment);
    expect(openOf('a.jsonl.gz')).toThrow('found start: "latest" of the compressed file \'a.jsonl.gz\', expected "earliest"');
    expect(openOf('a.jsonl')).not.toThrow();
  });

  it.each(['a.jsonl', 'a.jsonl.gz'])('is no pipe, as %s: that is refused, and closed like any other', async (name) => {
    execFileSync('mkfifo', [join(folder, name)]);
    const reading = read(name);
    await reading.until(() => reading.problem?.endsWith('it is no regular file') === true);
    await reading.close();
    expect(reading.messages).toEqual([]);
  });

  it('gives what is there and what is appended, a line once it has its end', async () => {
    write('a.jsonl', lines(0, 3));
    const reading = read('a.jsonl');
    await reading.until(() => reading.messages.length === 3);
    append('a.jsonl', '{"event_type":"A",');
    append('a.jsonl', `"n":3}\n${line(4)}`);
    await reading.until(() => reading.messages.length === 5);
    expect(numbers(reading)).toEqual(upTo(5));
  });

  it('is read from its beginning where the position has a longer one than any', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    await first.close();
    const second = read('a.jsonl', {}, { ...first.position, headLength: 2 ** 40 });
    await second.until(() => second.messages.length === 4);
    expect(numbers(second)).toEqual(upTo(3));
  });

  it('goes on behind its position, in the middle of a file', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    await first.close();
    append('a.jsonl', lines(3, 5));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 2);
    expect(numbers(second)).toEqual([3, 4]);
    await second.close();
    append('a.jsonl', lines(5, 6));
    const third = read('a.jsonl', {}, second.position);
    await third.until(() => third.messages.length === 1);
    expect(numbers(third)).toEqual([5]);
  });

  it('reads what is written to a renamed file before the one in its place', async () => {
    write('a.jsonl', lines(0, 3));
    const reading = read('a.jsonl');
    await reading.until(() => reading.messages.length === 3);
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    write('a.jsonl', lines(5, 7));
    append('a.jsonl.1', lines(3, 5));
    await reading.until(() => reading.messages.length === 7);
    expect(numbers(reading)).toEqual(upTo(7));
  });

  it('finds a file that was renamed while nobody read, and those that were in its place since', async () => {
    write('a.jsonl', lines(0, 2));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 2);
    await first.close();
    append('a.jsonl', lines(2, 4));
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.2'));
    write('a.jsonl.1', lines(4, 6));
    write('a.jsonl', lines(6, 8));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 6);
    expect(numbers(second)).toEqual(upTo(8).slice(2));
  });

  const packAway = (name: string, text: string, hour: number): void => {
    write(name, gzipSync(text));
    utimesSync(join(folder, name), hour * 3_600, hour * 3_600);
  };

  it('finds a file that was compressed while nobody read, and those that were in its place since', async () => {
    packAway('a.jsonl.5.gz', lines(90, 95), 1);
    write('a.jsonl', lines(0, 3));
    const before = read('a.jsonl');
    await before.until(() => before.messages.length === 3);
    await before.close();
    rmSync(join(folder, 'a.jsonl'));
    packAway('a.jsonl.3.gz', lines(0, 5), 2);
    packAway('a.jsonl.2.gz', lines(5, 7), 3);
    write('a.jsonl.1', lines(7, 9));
    write('a.jsonl', lines(9, 11));
    const reading = read('a.jsonl', {}, before.position);
    await reading.until(() => reading.messages.length === 8);
    expect(numbers(reading)).toEqual(upTo(11).slice(3));
  });

  it('goes on in the middle of a compressed file after an interruption there', async () => {
    write('a.jsonl', line(0));
    const before = read('a.jsonl');
    await before.until(() => before.messages.length === 1);
    await before.close();
    rmSync(join(folder, 'a.jsonl'));
    packAway('a.jsonl.1.gz', lines(0, 50_000), 2);
    write('a.jsonl', lines(50_000, 50_002));
    const first = read('a.jsonl', {}, before.position);
    await first.until(() => first.messages.length > 0);
    await first.close();
    const taken = first.messages.length;
    expect(taken).toBeLessThan(49_999);
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => taken + second.messages.length === 50_001);
    expect([...numbers(first), ...numbers(second)]).toEqual(upTo(50_002).slice(1));
  });

  it('takes no compressed file for the one that it has read where others begin in the same way', async () => {
    write('a.jsonl', lines(0, 3));
    const before = read('a.jsonl');
    await before.until(() => before.messages.length === 3);
    await before.close();
    rmSync(join(folder, 'a.jsonl'));
    packAway('a.jsonl.2.gz', lines(0, 5), 2);
    packAway('a.jsonl.1.gz', lines(0, 6), 3);
    write('a.jsonl', lines(9, 11));
    const reading = read('a.jsonl', {}, before.position);
    await reading.until(() => reading.messages.length === 3);
    expect(problems(reading)).toEqual([expect.stringMatching(/^the file of which \d+ bytes were read was removed/), undefined, undefined]);
    expect(numbers(reading)).toEqual([9, 10]);
  });

  it.each([
    ['removed', () => rmSync(join(folder, 'a.jsonl'))],
    ['renamed to where it is not looked for', () => renameSync(join(folder, 'a.jsonl'), join(folder, 'old-a.jsonl'))],
  ])('was %s while nobody read: what it may have had is told once, also when the next start sees it', async (_, remove) => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    await first.close();
    append('a.jsonl', lines(3, 5));
    // What has the number of another is taken for that one.
    const keepNumber = openSync(join(folder, 'a.jsonl'), 'r');
    remove();
    write('a.jsonl', lines(10, 12));
    closeSync(keepNumber);
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 3);
    await second.close();
    const told = `the file of which ${lines(0, 3).length} bytes were read was removed`;
    expect(problems(second)).toEqual([expect.stringContaining(told), undefined, undefined]);
    expect(numbers(second)).toEqual([10, 11]);
    // It may have been told, and nothing read yet.
    const third = read('a.jsonl', {}, second.batches[0]?.position);
    await third.until(() => third.messages.length === 2);
    expect(problems(third)).toEqual([undefined, undefined]);
  });

  it('was read to its end before it was removed: nothing is told, also where nothing stood in the next one yet', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    write('a.jsonl', '');
    await first.until(() => first.batches.length === 2);
    await first.close();
    rmSync(join(folder, 'a.jsonl.1'));
    append('a.jsonl', lines(3, 5));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 2);
    expect([...first.messages, ...second.messages].map(({ problem }) => problem)).toEqual(Array(5).fill(undefined));
    expect([...numbers(first), ...numbers(second)]).toEqual(upTo(5));
  });

  it('was read to its end before it was removed: the one behind it is read, though it was renamed before anything of it was taken', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    write('a.jsonl', '');
    await first.until(() => first.batches.length === 2);
    await first.close();
    append('a.jsonl', lines(3, 5));
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    write('a.jsonl', lines(5, 7));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.batches.length === 3);
    expect([...first.messages, ...second.messages].map(({ problem }) => problem)).toEqual(Array(7).fill(undefined));
    expect([...numbers(first), ...numbers(second)]).toEqual(upTo(7));
  });

  it.each([
    ['has more', 40],
    ['has no more', 30],
  ])('was copied and cut while nobody read: the copy %s, and then what is in its place is read', async (_, end) => {
    write('a.jsonl.2', lines(1, 40));
    write('a.jsonl', lines(0, 30));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 30);
    await first.close();
    append('a.jsonl', lines(30, end));
    copyFileSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    truncateSync(join(folder, 'a.jsonl'));
    append('a.jsonl', lines(end, 60));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 30);
    expect(problems(second)).toEqual(Array(30).fill(undefined));
    expect([...numbers(first), ...numbers(second)]).toEqual(upTo(60));
  });

  it('was cut while nobody read, where two files beside it begin as it did: that is told', async () => {
    write('a.jsonl', lines(0, 30));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 30);
    await first.close();
    for (const name of ['a.jsonl.1', 'a.jsonl.2']) copyFileSync(join(folder, 'a.jsonl'), join(folder, name));
    truncateSync(join(folder, 'a.jsonl'));
    append('a.jsonl', line(50));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 2);
    expect(problems(second)).toEqual([expect.stringContaining('was written over'), undefined]);
  });

  it('was removed while nobody read, and one beside it begins as it did and is longer, but has something else there: it is no copy', async () => {
    const beginning = `{"event_type":"A","n":0,"text":"${'x'.repeat(300)}"}\n`;
    write('a.jsonl', beginning + lines(1, 4));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 4);
    await first.close();
    const keepNumber = openSync(join(folder, 'a.jsonl'), 'r');
    write('a.jsonl.1', beginning + lines(5, 10));
    rmSync(join(folder, 'a.jsonl'));
    write('a.jsonl', lines(50, 52));
    closeSync(keepNumber);
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => numbers(second).at(-1) === 51);
    expect(problems(second)).toEqual([expect.stringContaining('was removed'), undefined, undefined]);
  });

  it('was written over while nobody read, begins as it did and is longer, but has something else there: it is read anew, and told', async () => {
    const beginning = `{"event_type":"A","n":0,"text":"${'x'.repeat(300)}"}\n`;
    write('a.jsonl', beginning + lines(1, 4));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 4);
    await first.close();
    write('a.jsonl', beginning + lines(5, 10));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => numbers(second).at(-1) === 9);
    expect(problems(second)).toEqual([expect.stringContaining('was written over'), ...Array(6).fill(undefined)]);
    expect(numbers(second)).toEqual([0, 5, 6, 7, 8, 9]);
  });

  it('was read to its end before it was cut: nothing is told, also where nothing stood in it yet', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    truncateSync(join(folder, 'a.jsonl'));
    await first.until(() => first.batches.length === 2);
    await first.close();
    append('a.jsonl', line(3));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 1);
    expect([...problems(first), ...problems(second)]).toEqual(Array(4).fill(undefined));
    expect(numbers(second)).toEqual([3]);
  });

  it('was read to its end before it was cut: it is read anew, also where as much as before stands in it by the next start, which begins alike', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    truncateSync(join(folder, 'a.jsonl'));
    await first.until(() => first.batches.length === 2);
    await first.close();
    append('a.jsonl', lines(0, 5));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => numbers(second).at(-1) === 4);
    expect(numbers(second)).toEqual(upTo(5));
  });

  it('was read to its end before it was cut: what came to it then is read also where it was renamed by the next start', async () => {
    write('a.jsonl', lines(0, 5));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 5);
    truncateSync(join(folder, 'a.jsonl'));
    await first.until(() => first.batches.length === 2);
    await first.close();
    append('a.jsonl', lines(5, 7));
    renameSync(join(folder, 'a.jsonl'), join(folder, 'a.jsonl.1'));
    write('a.jsonl', lines(7, 9));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => numbers(second).at(-1) === 8);
    expect([problems(second), numbers(second)]).toEqual([Array(4).fill(undefined), [5, 6, 7, 8]]);
  });

  it('is cut in the middle of what is read: what it had behind is told', async () => {
    write('a.jsonl', lines(0, 50_000));
    let open = (): void => undefined;
    const reading = read('a.jsonl');
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    await reading.until(() => reading.underWay === 1);
    truncateSync(join(folder, 'a.jsonl'));
    open();
    await reading.until(() => reading.batches.length === 2);
    append('a.jsonl', line(90_000));
    await reading.until(() => reading.batches.length === 3);
    expect(problems(reading).filter((problem) => problem !== undefined)).toEqual([
      expect.stringMatching(/bytes were read was written over/),
    ]);
    expect(numbers(reading).at(-1)).toBe(90_000);
  });

  it('begins anew where the file was cut, and where another has got its number', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl');
    await first.until(() => first.messages.length === 3);
    truncateSync(join(folder, 'a.jsonl'));
    await first.until(() => first.isConnected);
    append('a.jsonl', line(7));
    await first.until(() => first.messages.length === 4);
    expect(numbers(first)).toEqual([0, 1, 2, 7]);
    await first.close();
    truncateSync(join(folder, 'a.jsonl'));
    append('a.jsonl', lines(10, 14));
    const second = read('a.jsonl', {}, first.position);
    await second.until(() => second.messages.length === 5);
    expect(problems(second)[0]).toContain('was written over before it was seen to its end');
    expect(numbers(second)).toEqual([10, 11, 12, 13]);
  });

  it('begins anew where it was written over, with as much or with more', async () => {
    write('a.jsonl', lines(0, 2));
    const reading = read('a.jsonl');
    await reading.until(() => reading.messages.length === 2);
    write('a.jsonl', lines(2, 4));
    await reading.until(() => reading.messages.length === 4);
    write('a.jsonl', lines(4, 9));
    await reading.until(() => reading.messages.length === 9);
    expect(numbers(reading)).toEqual(upTo(9));
  });

  it('waits for a file that is not there, and says so', async () => {
    const reading = read('later.jsonl');
    await reading.until(() => reading.problem !== undefined);
    expect(reading.problem).toMatch(/later\.jsonl: there is no such file$/);
    write('later.jsonl', lines(0, 1));
    await reading.until(() => reading.messages.length === 1);
    expect(reading.isConnected).toBe(true);
  });

  it('begins at the end where it is told to, and not again when it was started before', async () => {
    write('a.jsonl', lines(0, 3));
    const first = read('a.jsonl', { start: 'latest' });
    await first.until(() => first.batches.length === 1);
    await first.close();
    append('a.jsonl', lines(3, 4));
    const second = read('a.jsonl', { start: 'latest' }, first.position);
    await second.until(() => second.messages.length === 1);
    expect(numbers(second)).toEqual([3]);
  });

  it.each([
    { name: 'a.csv', before: 'event_type,n\nA,1\nA,', after: '2\nA,3\n', values: [{ n: 2 }, { n: 3 }] },
    { name: 'a.evt', before: '@5s A { n: 1 }\nA {', after: ' n: 2 }\n', values: [{ n: 2, time: '1970-01-01T00:00:05Z' }] },
    { name: 'a', before: '{"event_type":"A","n":1}\n{', after: '"event_type":"A","n":2}\n', values: [{ n: 2 }] },
  ])('begins at the end of $name with what its lines before say', async ({ name, before, after, values }) => {
    write(name, before);
    const reading = read(name, { start: 'latest' });
    await reading.until(() => reading.batches.length === 1);
    append(name, after);
    await reading.until(() => reading.messages.length === values.length);
    const found = reading.texts.map((text) => JSON.parse(text));
    expect(found.map(({ n, data, timestamp }) => ({ n: n ?? data.n, ...(timestamp === undefined ? {} : { time: timestamp }) }))).toEqual(
      values,
    );
  });

  it('ends with the file where it does not follow, its last line needing no end', async () => {
    write('a.jsonl', lines(0, 2) + line(2).trimEnd());
    const reading = read('a.jsonl', { follows: false });
    await reading.until(() => reading.isEnded);
    expect(numbers(reading)).toEqual(upTo(3));
  });

  it('reads no further than what is taken', async () => {
    write('a.jsonl', lines(0, 50_000));
    let open = (): void => undefined;
    const reading = read('a.jsonl', { follows: false });
    reading.gate = new Promise((resolve) => {
      open = resolve;
    });
    await reading.until(() => reading.underWay === 1);
    expect(reading.batches).toHaveLength(0);
    open();
    await reading.until(() => reading.isEnded);
    expect(reading.batches.length).toBeGreaterThan(3);
    expect(numbers(reading)).toEqual(upTo(50_000));
  });

  it('reads gzip once, and goes on in it', async () => {
    write('a.jsonl.gz', gzipSync(lines(0, 20_000)));
    const whole = read('a.jsonl.gz');
    await whole.until(() => whole.isEnded);
    expect(numbers(whole)).toEqual(upTo(20_000));
    const half = whole.batches[1] as { readonly position: SourcePosition };
    const taken = whole.batches.slice(0, 2).flatMap(({ messages }) => messages).length;
    const rest = read('a.jsonl.gz', {}, half.position);
    await rest.until(() => rest.isEnded);
    expect(numbers(rest)).toEqual(upTo(20_000).slice(taken));
  });

  it('reads gzip from its beginning where another was written over it', async () => {
    write('a.jsonl.gz', gzipSync(lines(0, 10)));
    const first = read('a.jsonl.gz');
    await first.until(() => first.isEnded);
    write('a.jsonl.gz', gzipSync(lines(20, 40)));
    const second = read('a.jsonl.gz', {}, first.position);
    await second.until(() => second.isEnded);
    expect(numbers(second)).toEqual(upTo(40).slice(20));
  });

  it('leaves fields of JSON lines as they are, but that a field called `fields` stays one', async () => {
    const usual = '{"n": 1.0, "type": "A"}';
    write('a.jsonl', `${usual}\n{"n":12345678901234567890.0,"fields":{"q":[1.0]}}\n`);
    const reading = read('a.jsonl', { follows: false });
    await reading.until(() => reading.isEnded);
    expect(reading.texts).toEqual([usual, '{"data":{"n":12345678901234567890.0,"fields":{"q":[1.0]}}}']);
  });

  it('reads .evt with its offsets, and what has none is of its arrival', async () => {
    write('a.evt', '# comment\n@100 A { n: 0 }\nA { n: 1 }\n');
    write('b.evt', 'A { n: 0 }\nnonsense\n');
    const [timed, untimed] = [read('a.evt', { follows: false }), read('b.evt', { follows: false })];
    await timed.until(() => timed.isEnded);
    await untimed.until(() => untimed.isEnded);
    expect(timed.texts).toEqual([
      '{"event_type":"A","timestamp":"1970-01-01T00:00:00.100Z","data":{"n":0}}',
      '{"event_type":"A","timestamp":"1970-01-01T00:00:00.100Z","data":{"n":1}}',
    ]);
    expect(untimed.texts).toEqual(['{"event_type":"A","data":{"n":0}}', 'nonsense']);
    expect(untimed.messages[1]?.problem).toBeDefined();
  });

  it('reads CSV by its header, also when it goes on', async () => {
    write('a.csv', 'event_type,n,name,ok\nA,1,"two\nlines",true\n');
    const options = { schemas: new EventSchemas([{ name: 'A', fields: [{ name: 'name', type: STR, optional: false }] }]) };
    const first = read('a.csv', options);
    await first.until(() => first.messages.length === 1);
    await first.close();
    append('a.csv', 'A,2,007,\nA,3,x,y,z\n');
    const second = read('a.csv', options, first.position);
    await second.until(() => second.messages.length === 2);
    expect([...first.texts, second.texts[0]]).toEqual([
      '{"event_type":"A","data":{"n":1,"name":"two\\nlines","ok":true}}',
      '{"event_type":"A","data":{"n":2,"name":"007","ok":null}}',
    ]);
    expect(second.messages[1]?.problem).toBe('found 5 values, and the header names 4 columns');
  });

  it('reads .evt by what is declared: its values have names, and a time of its own goes before the offset', async () => {
    const event = 'V { id: "own", at: "2026-01-31T10:00:00Z" }';
    write('a.evt', `@5s ${event}\n@6s V("b", null)\n@7s V { id: "c", timestamp: 1769853600 }\nV("d", null, 3)\n`);
    const reading = read('a.evt', { follows: false, schemas });
    await reading.until(() => reading.isEnded);
    expect(reading.texts).toEqual([
      '{"event_type":"V","data":{"id":"own","at":"2026-01-31T10:00:00Z"}}',
      '{"event_type":"V","timestamp":"1970-01-01T00:00:06Z","data":{"id":"b","at":null}}',
      '{"event_type":"V","data":{"id":"c","timestamp":1769853600}}',
      'V("d", null, 3)',
    ]);
    expect(reading.messages[3]?.problem).toBe('found 3 values, expected at most 2: V has id, at');
  });

  it.each(['A', undefined])('reads the values of CSV by the type of their event, where the others are %s', async (otherType) => {
    const type = otherType === undefined ? 'A' : '';
    write('a.tsv', `type\tid\tn\tok\tm\n${type}\t007\t1\tTRUE\t"{""k"":1}"\nB\t7\t007\tno\t\n`);
    const reading = read('a.tsv', { follows: false, schemas, otherType });
    await reading.until(() => reading.isEnded);
    expect(reading.texts).toEqual([
      '{"event_type":"A","data":{"id":"007","n":1,"ok":true,"m":{"k":1}}}',
      '{"event_type":"B","data":{"id":7,"n":"007","ok":"no","m":null}}',
    ]);
  });

  it('passes over a line that is longer than an event, and says so once', async () => {
    write('a.jsonl', `${line(0)}${'x'.repeat(3 * limits.eventBytesMax)}\n${line(1)}`);
    const reading = read('a.jsonl', { follows: false });
    await reading.until(() => reading.isEnded);
    expect(reading.messages.map(({ problem }) => problem === undefined)).toEqual([true, false, true]);
  });

  it('takes no more memory for what unpacks to a thousand times its size than for a line', async () => {
    const packed = gzipSync(Buffer.concat([Buffer.from(line(0)), Buffer.alloc(100 * 1_048_576, 'x'), Buffer.from(`\n${line(1)}`)]));
    write('a.jsonl.gz', packed);
    const before = process.memoryUsage();
    let most = 0;
    const watch = setInterval(() => {
      const { heapUsed, external } = process.memoryUsage();
      most = Math.max(most, heapUsed + external - before.heapUsed - before.external);
    }, 5);
    const reading = read('a.jsonl.gz');
    await reading.until(() => reading.isEnded);
    clearInterval(watch);
    expect(reading.messages.map(({ problem }) => problem === undefined)).toEqual([true, false, true]);
    expect(most).toBeLessThan(64 * 1_048_576);
  });

  it('says of gzip that breaks off what is wrong, and reads what is mended', async () => {
    const packed = gzipSync(lines(0, 1_000));
    write('a.jsonl.gz', packed.subarray(0, packed.length - 100));
    const reading = read('a.jsonl.gz');
    await reading.until(() => /unexpected end of file/.test(reading.problem ?? ''));
    write('a.jsonl.gz', packed);
    await reading.until(() => reading.isEnded);
    expect(numbers(reading)).toEqual(upTo(1_000));
  });
});
