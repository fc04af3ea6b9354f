import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

const opened = (): AppendedFile => new AppendedFile({ path: 'out.jsonl', filePath: (path) => join(folder, path) });
const send = (id: string): Promise<void> => sink.send({ id, topic: null, payload: `{"id":"${id}"}` });
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
});
