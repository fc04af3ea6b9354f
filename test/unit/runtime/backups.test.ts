import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backup } from '../../../worker/runtime/service.ts';
import { makeBackup } from '../../../worker/runtime/storage/backups.ts';

describe('a backup', () => {
  let stateDir: string;
  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-backups-'));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(stateDir, { recursive: true });
  });

  /** Of all open files. */
  async function handlePrototype(): Promise<FileHandle> {
    const handle = await open(stateDir, 'r');
    await handle.close();
    return Object.getPrototypeOf(handle) as FileHandle;
  }

  const at = new Date('2026-01-31T10:00:00.000Z');
  const copyTo = async (folder: string): Promise<void> => {
    mkdirSync(join(folder, 'log'));
    writeFileSync(join(folder, 'inventory'), 'i');
    writeFileSync(join(folder, 'log/00000001.log'), 'l');
  };
  const backUp = (keep: number): Promise<Backup> => makeBackup({ stateDir, at, keep, copyTo });
  const there = (...names: string[]): void => {
    for (const name of names) mkdirSync(join(stateDir, 'backups', name), { recursive: true });
  };
  const left = (): string[] => readdirSync(join(stateDir, 'backups')).sort();

  it('stays where the clock was ahead once: what was made before goes first, whatever its name says', async () => {
    there('2027-01-01T00-00-00.000Z', '2027-01-01T00-00-00.001Z');
    const made = [await backUp(2), await backUp(2)];
    expect(made.map(({ removed }) => removed)).toEqual([
      [join(stateDir, 'backups/2027-01-01T00-00-00.000Z')],
      [join(stateDir, 'backups/2027-01-01T00-00-00.001Z')],
    ]);
    expect(made.map(({ path }) => existsSync(path))).toEqual([true, true]);
  });

  it('that fails names what cannot be read, and speaks of room only where there is none', async () => {
    const failing = (code: string): Promise<unknown> =>
      makeBackup({
        ...{ stateDir, at, keep: 1 },
        copyTo: () => Promise.reject(Object.assign(new Error(code), { code, path: join(stateDir, 'dlq/t.jsonl') })),
      }).catch(({ message, hint }) => [message, hint]);
    expect(await failing('EACCES')).toEqual([
      'the state directory cannot be copied: dlq/t.jsonl: permission denied',
      'docs/operations/damaged-storage.md says what to do where a file cannot be read',
    ]);
    expect(await failing('ENOSPC')).toEqual([
      expect.stringContaining('no space is left'),
      'a copy needs as much room as the directory itself',
    ]);
  });

  it('is on disk before an older one goes', async () => {
    const older = '2025-01-01T00-00-00.000Z';
    there(older);
    const prototype = await handlePrototype();
    const { sync } = prototype;
    const synced: { readonly ino: number; readonly isBefore: boolean }[] = [];
    vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
      await sync.call(this);
      synced.push({ ino: (await this.stat()).ino, isBefore: existsSync(join(stateDir, 'backups', older)) });
    });
    const { path, removed } = await backUp(1);
    expect(removed).toEqual([join(stateDir, 'backups', older)]);
    const parts = ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })].map((name) => statSync(join(path, name)).ino);
    expect(synced.map(({ ino }) => ino)).toEqual(expect.arrayContaining([...parts, statSync(join(stateDir, 'backups')).ino]));
    expect(synced.every(({ isBefore }) => isBefore)).toBe(true);
  });

  it('stays beside names that no later one can follow', async () => {
    there('9999-12-31T23-59-59.999Z', '9999-99-99T99-99-99.999Z');
    const { path } = await backUp(1);
    expect(left().map((name) => join(stateDir, 'backups', name))).toEqual([path]);
  });

  it('has the time for a name where nothing is ahead of it', async () => {
    there('2025-01-01T00-00-00.000Z');
    expect((await backUp(2)).path).toBe(join(stateDir, 'backups/2026-01-31T10-00-00.000Z'));
  });
});
