import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder, makeFolderSync } from '../../../shared/files/make-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-make-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  ['makeFolder', makeFolder],
  ['makeFolderSync', async (path: string, mode?: number) => makeFolderSync(path, mode)],
])('%s', (name, make) => {
  it('makes a folder and what it is in, and takes one that is there', async () => {
    const path = join(folder, name, 'in', 'in');
    await make(path, 0o700);
    await make(path);
    expect([path, join(path, '..')].map((one) => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
  });

  it('says that something else is in the way', async () => {
    const path = join(folder, `${name}.txt`);
    writeFileSync(path, '');
    await expect(make(path)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(make(join(path, 'in'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  // There alone a file system is known that takes none.
  it.runIf(existsSync('/proc/self'))('ends where a file system takes no folders', async () => {
    await expect(make('/proc/none/in')).rejects.toMatchObject({ code: 'ENOTSUP' });
  });
});
