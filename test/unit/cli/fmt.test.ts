import { chmodSync, lstatSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

const untidy = 'event   Login:\n  user:str   # who\nstream A=Login.where( user=="ann" && true ).emit( user:user )\n';

describe('cep fmt', () => {
  it('rewrites files and names those that changed', async () => {
    folder.write('untidy.vpl', untidy);
    expect(await folder.cep(['fmt', './untidy.vpl'])).toEqual({ exitCode: 0, stdout: 'untidy.vpl\n', stderr: '' });
    expect(folder.read('untidy.vpl')).toMatchInlineSnapshot(`
      "event Login:
          user: str # who

      stream A = Login
          .where(user == "ann" and true)
          .emit(user: user)
      "
    `);
    expect(await folder.cep(['fmt', './untidy.vpl'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('keeps the mode of a file, what links to it, and leaves no other file behind', async () => {
    folder.write('target.vpl', untidy);
    const { mode } = statSync(folder.file('target.vpl'));
    symlinkSync(folder.file('target.vpl'), folder.file('link.vpl'));
    expect((await folder.cep(['fmt', './link.vpl'])).exitCode).toBe(0);
    expect(lstatSync(folder.file('link.vpl')).isSymbolicLink()).toBe(true);
    expect(statSync(folder.file('target.vpl')).mode).toBe(mode);
    expect(folder.read('target.vpl')).toBe(folder.read('untidy.vpl'));
    expect(readdirSync(folder.path).filter((name) => name.startsWith('target'))).toEqual(['target.vpl']);
  });

  it('only checks when told so, exit code 1 if something would change', async () => {
    folder.write('loose.vpl', untidy);
    expect(await folder.cep(['fmt', '--check', './loose.vpl', './untidy.vpl'])).toEqual({ exitCode: 1, stdout: 'loose.vpl\n', stderr: '' });
    expect(folder.read('loose.vpl')).toBe(untidy);
    expect(await folder.cep(['fmt', '--check', './untidy.vpl'])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const { stdout } = await folder.cep(['fmt', '--check', '--json', './loose.vpl', './untidy.vpl']);
    expect(JSON.parse(stdout)).toEqual({ changed: ['loose.vpl'] });
  });

  it('formats standard input to standard output', async () => {
    const formatted = { exitCode: 0, stdout: folder.read('untidy.vpl'), stderr: '' };
    expect(await folder.cep(['fmt', '-'], { stdin: untidy })).toEqual(formatted);
    expect(await folder.cep(['fmt', '-', '--check'], { stdin: untidy })).toEqual({ exitCode: 1, stdout: '', stderr: '' });
  });

  it('refuses standard input that is not UTF-8, as it does a file', async () => {
    const { exitCode, stdout, stderr } = await folder.cep(['fmt', '-'], { stdin: Buffer.from('const   A="\xe4"\n', 'latin1') });
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^<stdin>:1:12: error E000: this byte is not UTF-8 text/)]);
  });

  it('keeps a mode that the mask of the process forbids, and the files beside it', async () => {
    folder.write('shared.vpl', untidy);
    chmodSync(folder.file('shared.vpl'), 0o664);
    for (const name of ['shared.vpl.formatted', 'shared.vpl.new']) folder.write(name, 'mine');
    const mask = process.umask(0o077);
    try {
      expect(await folder.cep(['fmt', './shared.vpl'])).toMatchObject({ exitCode: 0, stderr: '' });
    } finally {
      process.umask(mask);
    }
    expect(statSync(folder.file('shared.vpl')).mode & 0o777).toBe(0o664);
    expect([folder.read('shared.vpl.formatted'), folder.read('shared.vpl.new')]).toEqual(['mine', 'mine']);
    expect(readdirSync(folder.path).filter((name) => name.includes('shared'))).toHaveLength(3);
  });

  it('never touches a file with errors, and goes on with the others', async () => {
    folder.write('wrong.vpl', 'stream   A=\n');
    folder.write('other.vpl', untidy);
    const { exitCode, stdout, stderr } = await folder.cep(['fmt', './wrong.vpl', './other.vpl']);
    expect([exitCode, stdout, stderr]).toEqual([1, 'other.vpl\n', expect.stringMatching(/^wrong\.vpl:1:\d+: error E000/)]);
    expect(folder.read('wrong.vpl')).toBe('stream   A=\n');
    const latin = Buffer.from('const   A="\xe4"\n', 'latin1');
    folder.write('latin.vpl', latin);
    expect(await folder.cep(['fmt', './latin.vpl'])).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not UTF-8') });
    expect(await folder.cep(['fmt', '-'], { stdin: 'stream   A=\n' })).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^<stdin>:1:\d+: error E000/),
    });
  });

  it('fails with 2 for a missing file, after the others, and with 1 for - beside files', async () => {
    folder.write('last.vpl', untidy);
    expect(await folder.cep(['fmt', './absent.vpl', './last.vpl'])).toEqual({
      exitCode: 2,
      stdout: 'last.vpl\n',
      stderr: "error: program file 'absent.vpl' not found\n",
    });
    expect((await folder.cep(['fmt', '-', './last.vpl'])).exitCode).toBe(1);
  });
});
