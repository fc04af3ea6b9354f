import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newPathInFolder, type ProgramFolder } from '../../../worker/runtime/programs/program-folder.ts';

let root: string;
let folder: ProgramFolder;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cep-folder-')));
  for (const name of ['work', 'work/lib', 'outside']) mkdirSync(join(root, name));
  folder = { path: join(root, 'work'), refused: [join(root, 'work/keys')] };
});

afterEach(() => rmSync(root, { recursive: true }));

describe('a file that is written to', () => {
  it('may be new, in a folder that is there', () => {
    expect(newPathInFolder('lib/a.jsonl', folder)).toBe(join(root, 'work/lib/a.jsonl'));
    expect(newPathInFolder(join(root, 'work/a.jsonl'), folder)).toBe(join(root, 'work/a.jsonl'));
    expect(newPathInFolder('none/a.jsonl', folder)).toBeUndefined();
    writeFileSync(join(root, 'work/file'), '');
    expect(() => newPathInFolder('file/a.jsonl', folder)).not.toThrow();
    expect(newPathInFolder(`${'a'.repeat(5_000)}/a.jsonl`, folder)).toBeUndefined();
  });

  it.each(['../outside/a.jsonl', '../a.jsonl', '..', '.', 'keys', 'keys/a.jsonl', 'a\0.jsonl'])('is not %j', (path) => {
    expect(newPathInFolder(path, folder)).toBeUndefined();
  });

  it('is none to which a link leads out of the folder, whether it is there already or would be made', () => {
    writeFileSync(join(root, 'outside/old.jsonl'), '');
    symlinkSync('../outside/old.jsonl', join(root, 'work/old.jsonl'));
    symlinkSync('../outside/new.jsonl', join(root, 'work/new.jsonl'));
    symlinkSync('../outside', join(root, 'work/folder'));
    symlinkSync('new.jsonl', join(root, 'work/chain.jsonl'));
    symlinkSync('keys', join(root, 'work/linked'));
    for (const path of ['old.jsonl', 'new.jsonl', 'folder/new.jsonl', 'chain.jsonl', 'linked'])
      expect([path, newPathInFolder(path, folder)]).toEqual([path, undefined]);
  });
});
