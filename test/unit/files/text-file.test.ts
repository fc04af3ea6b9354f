import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTextFile, writeTextFile } from '../../../shared/files/text-file.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('readTextFile', () => {
  it('reads UTF-8 and leaves a byte order mark out', async () => {
    const path = join(folder, 'bom.vpl');
    await writeFile(path, '\uFEFFstream Größe = A\n');
    expect(await readTextFile(path, 'program file')).toBe('stream Größe = A\n');
  });

  it('says that a file is not there', async () => {
    const path = join(folder, 'absent.vpl');
    await expect(readTextFile(path, 'program file')).rejects.toMatchObject({
      code: 'file_not_found',
      message: `program file '${path}' not found`,
    });
  });

  it('says why a file cannot be read', async () => {
    await expect(readTextFile(folder, 'event file')).rejects.toMatchObject({
      code: 'io_error',
      message: `event file '${folder}' cannot be read: it is a directory`,
    });
  });

  it('refuses bytes that are not UTF-8', async () => {
    const path = join(folder, 'latin.vpl');
    await writeFile(path, Buffer.from([0x47, 0x72, 0xf6]));
    await expect(readTextFile(path, 'program file')).rejects.toMatchObject({
      code: 'io_error',
      message: expect.stringMatching(/is not UTF-8 text$/),
    });
  });
});

describe('writeTextFile', () => {
  it('replaces what was there', async () => {
    const path = join(folder, 'out.yaml');
    await writeTextFile(path, 'long first text', 'output file');
    await writeTextFile(path, 'second', 'output file');
    expect(await readFile(path, 'utf8')).toBe('second');
  });

  it('says that the directory is missing', async () => {
    const path = join(folder, 'no', 'out.yaml');
    await expect(writeTextFile(path, '', 'output file')).rejects.toMatchObject({
      code: 'io_error',
      message: `output file '${path}' cannot be written: its directory does not exist`,
    });
  });
});
