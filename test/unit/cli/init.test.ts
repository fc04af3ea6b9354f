import { expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const work = new WorkFolder();

it('begins a folder whose rules are right, tested, and fire on its events', async () => {
  const made = await work.cep(['init', './fraud']);
  expect(made).toMatchObject({ exitCode: 0, stderr: '' });
  expect(made.stdout).toBe('wrote fraud/rules.vpl\nwrote fraud/events.evt\nwrote fraud/README.md\nNext: cep dev fraud\n');
  expect(await work.cep(['check', './fraud/rules.vpl'])).toMatchObject({ exitCode: 0, stdout: 'Syntax OK\n   Statements: 4\n' });
  expect(await work.cep(['fmt', '--check', './fraud/rules.vpl'])).toMatchObject({ exitCode: 0 });
  expect((await work.cep(['test', './fraud/rules.vpl'])).exitCode).toBe(0);
  const { stdout } = await work.cep(['simulate', '-p', './fraud/rules.vpl', '-e', './fraud/events.evt']);
  expect(stdout).toContain('Breach { user: "ann", failures: 3 }');
});

it('writes over nothing, and says what is in its way', async () => {
  work.write('rules.vpl', '# mine\n');
  const refused = await work.cep(['init', './']);
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('rules.vpl is there already, and nothing was written')]);
  expect(work.read('rules.vpl')).toBe('# mine\n');
  work.write('file', '');
  expect((await work.cep(['init', './file/deep'])).exitCode).toBe(2);
  expect(await work.cep(['init', './file'])).toMatchObject({
    exitCode: 2,
    stderr: 'error: cannot write into file: a file of this name is in the way\n',
  });
});
