import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeTextFile } from '../../../shared/files/text-file.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cep-output-'));
});

afterEach(() => {
  spawnSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
});

it('a text that a full disk does not take leaves the file as it was, and makes none', async ({ skip }) => {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', folder]).status !== 0) {
    return skip('this user may not mount a disk of its own');
  }
  const path = join(folder, 'rules.checkpoint.json');
  const before = 'of yesterday\n'.repeat(1_000);
  await writeTextFile(path, before, 'checkpoint file');
  const larger = 'of today\n'.repeat(20_000);
  const refused = { code: 'io_error', message: `checkpoint file '${path}' cannot be written: no space is left on the device` };
  await expect(writeTextFile(path, larger, 'checkpoint file')).rejects.toMatchObject(refused);
  expect(readFileSync(path, 'utf8')).toBe(before);
  await expect(writeTextFile(join(folder, 'new'), larger, 'checkpoint file')).rejects.toMatchObject({ code: 'io_error' });
  expect(readdirSync(folder)).toEqual(['rules.checkpoint.json']);
});

it('a file keeps its mode, and its other names', async () => {
  const [path, other] = [join(folder, 'rules.vpl'), join(folder, 'other.vpl')];
  writeFileSync(path, 'stream A = B\n', { mode: 0o640 });
  await writeTextFile(path, 'stream A = C\n', 'program file');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['stream A = C\n', 0o640]);
  linkSync(path, other);
  await writeTextFile(path, 'stream A = D\n', 'program file');
  expect(readFileSync(other, 'utf8')).toBe('stream A = D\n');
  await writeTextFile('/dev/null', 'anything', 'program file');
  expect(readdirSync(folder).sort()).toEqual(['other.vpl', 'rules.vpl']);
});

// Who is not root may give a file no other group.
it.skipIf(process.getuid?.() !== 0)('a file keeps its group', async () => {
  const path = join(folder, 'rules.vpl');
  writeFileSync(path, 'stream A = B\n', { mode: 0o640 });
  chownSync(path, 0, 12_345);
  await writeTextFile(path, 'stream A = C\n', 'program file');
  expect([readFileSync(path, 'utf8'), statSync(path).gid]).toEqual(['stream A = C\n', 12_345]);
});

it('a file that may only be read stays as it is', async ({ skip }) => {
  const path = join(folder, 'rules.vpl');
  writeFileSync(path, 'stream A = B\n', { mode: 0o440 });
  chmodSync(folder, 0o777);
  const { uid } = statSync(path);
  const program = `
    const { writeTextFile } = await import(${JSON.stringify(new URL('../../../shared/files/text-file.ts', import.meta.url).href)});
    if (process.getuid() === 0) process.setuid(65534);
    await writeTextFile(${JSON.stringify(path)}, 'stream A = C\\n', 'program file').catch(({ code }) => console.log(code));`;
  if (uid === 0) chownSync(path, 65_534, 0);
  const { stdout, status } = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], { encoding: 'utf8' });
  if (status !== 0) return skip('no other user can be taken here');
  expect(stdout).toBe('io_error\n');
  expect(readFileSync(path, 'utf8')).toBe('stream A = B\n');
});
