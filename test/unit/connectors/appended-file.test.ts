import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppendedFile } from '../../../worker/connectors/file/appended-file.ts';

let folder = '';
let sink: AppendedFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-sink-'));
  sink = opened();
});
afterEach(async () => {
  await sink.close();
  rmSync(folder, { recursive: true });
});

/** What every open file can do, to be spied on. */
async function handlePrototype(): Promise<FileHandle> {
  const handle = await open(folder, 'r');
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

const opened = (): AppendedFile => new AppendedFile({ path: 'out.jsonl', filePath: (path) => join(folder, path) });
const send = (id: string): Promise<void> => sink.send({ id, topic: null, payload: `{"id":"${id}"}` });
const sendAll = (messages: readonly { readonly id: string; readonly topic?: string }[]): Promise<readonly unknown[]> =>
  sink.batching.send(messages.map(({ id, topic = null }) => ({ id, topic, payload: `{"id":"${id}"}` })));
const idsIn = (name: string): readonly string[] =>
  Array.from(readFileSync(join(folder, name), 'utf8').matchAll(/"id":"(.*?)"/g), ([, id = '']) => id);

describe('a file that is appended to', () => {
  it('is the one that stands at its path, also after another was renamed or removed', async () => {
    await send('1');
    renameSync(join(folder, 'out.jsonl'), join(folder, 'out.jsonl.1'));
    await send('2');
    expect([idsIn('out.jsonl.1'), idsIn('out.jsonl')]).toEqual([['1'], ['2']]);
    rmSync(join(folder, 'out.jsonl'));
    await Promise.all([send('3'), send('4')]);
    expect(idsIn('out.jsonl').toSorted()).toEqual(['3', '4']);
  });

  it('is no pipe: that is refused, and closed like any other', async () => {
    execFileSync('mkfifo', [join(folder, 'out.jsonl')]);
    await expect(send('1')).rejects.toMatchObject({ code: 'file_error', message: expect.stringMatching(/it is no regular file$/) });
    await sink.close();
    sink = opened();
    rmSync(join(folder, 'out.jsonl'));
    await send('1');
    expect(idsIn('out.jsonl')).toEqual(['1']);
  });

  it('does not get again what stands in the one that was renamed', async () => {
    await send('1');
    await send('2');
    await sink.close();
    sink = opened();
    await send('1');
    renameSync(join(folder, 'out.jsonl'), join(folder, 'out.jsonl.1'));
    await send('2');
    await send('3');
    expect(idsIn('out.jsonl')).toEqual(['3']);
  });

  it('does not get again after a crash what stands in one that was renamed before', async () => {
    await send('1');
    renameSync(join(folder, 'out.jsonl'), join(folder, 'out.jsonl.1'));
    await send('2');
    await sink.close();
    sink = opened();
    await send('1');
    await send('2');
    await send('3');
    expect(idsIn('out.jsonl')).toEqual(['2', '3']);
  });

  it('takes a batch with one write for each file, in order, and refuses what names a file elsewhere', async () => {
    await sink.close();
    sink = new AppendedFile({ path: 'out.jsonl', filePath: (path) => (path.startsWith('..') ? undefined : join(folder, path)) });
    await send('0');
    const writes = vi.spyOn(await handlePrototype(), 'write');
    const outcomes = await sendAll([
      { id: '1' },
      { id: '2', topic: 'b.jsonl' },
      { id: '3', topic: '../c.jsonl' },
      { id: '4' },
      { id: '5', topic: 'b.jsonl' },
    ]);
    expect(writes).toHaveBeenCalledTimes(2);
    writes.mockRestore();
    expect(outcomes).toEqual(['taken', 'taken', expect.objectContaining({ code: 'forbidden_path', isPermanent: true }), 'taken', 'taken']);
    expect([idsIn('out.jsonl'), idsIn('b.jsonl')]).toEqual([
      ['0', '1', '4'],
      ['2', '5'],
    ]);
  });

  it('looks before each batch whether the file is still there', async () => {
    await sendAll([{ id: '1' }, { id: '2' }]);
    renameSync(join(folder, 'out.jsonl'), join(folder, 'out.jsonl.1'));
    await sendAll([{ id: '3' }, { id: '4' }]);
    expect([idsIn('out.jsonl.1'), idsIn('out.jsonl')]).toEqual([
      ['1', '2'],
      ['3', '4'],
    ]);
  });

  it('begins no other file once the batch was given up', async () => {
    const end = new AbortController();
    const messages = ['a.jsonl', 'b.jsonl', 'c.jsonl'].map((topic, at) => ({ id: String(at), topic, payload: `{"id":"${at}"}` }));
    const sending = sink.batching.send(messages, end.signal);
    end.abort();
    expect(await sending).toEqual(['taken', 'alone', 'alone']);
    expect(readdirSync(folder)).toEqual(['a.jsonl']);
  });

  it('tells a failure of the first of a batch alone, as others did not cause it', async () => {
    writeFileSync(join(folder, 'place'), '');
    const outcomes = await sendAll(['1', '2'].map((id) => ({ id, topic: 'place/out.jsonl' })));
    expect(outcomes).toEqual([expect.objectContaining({ code: 'file_error' }), 'alone']);
  });

  it('keeps the whole lines of a batch that had no room, and says which ones are not there', async () => {
    await send('1');
    const room = '{"id":"2"}\n{"id"'.length;
    const prototype = await handlePrototype();
    const { write } = prototype;
    vi.spyOn(prototype, 'write').mockImplementationOnce(async function (this: FileHandle, bytes: unknown) {
      return await Reflect.apply(write, this, [(bytes as Buffer).subarray(0, room)]);
    } as FileHandle['write']);
    const outcomes = await sendAll([{ id: '2' }, { id: '3' }, { id: '4' }]);
    const failure = expect.objectContaining({ code: 'file_error', isPermanent: false });
    // The last would be the first of the next batch, and is tried as such.
    expect(outcomes).toEqual(['taken', failure, 'alone']);
    expect(readFileSync(join(folder, 'out.jsonl'), 'utf8')).toBe('{"id":"1"}\n{"id":"2"}\n');
    await sendAll([{ id: '3' }, { id: '4' }]);
    expect(idsIn('out.jsonl')).toEqual(['1', '2', '3', '4']);
  });

  it('writes only those of a batch after a crash that are not there, and again the one whose line is torn', async () => {
    writeFileSync(join(folder, 'out.jsonl'), '{"id":"1"}\n{"id":"2"}\n{"id":"3","data":{"a":{}');
    expect(await sendAll([{ id: '2' }, { id: '3' }, { id: '4' }])).toEqual(['taken', 'taken', 'taken']);
    expect(readFileSync(join(folder, 'out.jsonl'), 'utf8')).toBe(
      '{"id":"1"}\n{"id":"2"}\n{"id":"3","data":{"a":{}\n{"id":"3"}\n{"id":"4"}\n',
    );
    await sink.close();
    sink = opened();
    await sendAll([{ id: '3' }, { id: '5' }]);
    expect(idsIn('out.jsonl')).toEqual(['1', '2', '3', '3', '4', '5']);
  });
});
