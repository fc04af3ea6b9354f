import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();
mkdirSync(folder.file('rules/deep'), { recursive: true });
folder.write('types.vpl', 'event Login:\n    user: str\n    tries: int\n');
folder.write('rules/b.vpl', 'import "../types.vpl"\n\nstream Often = Login\n    .where(tries > 3)\n    .emit(user: user)\n');
folder.write('rules/a.vpl', 'import "../types.vpl"\n\nstream Never = Login\n    .where(tries > 99)\n    .emit(user: user)\n');
folder.write(
  'rules/deep/c.vpl',
  'import "../../types.vpl"\n\nstream Always = Login\n    .emit(user: user)\n\ntest "one passes":\n    at 0s Login { user: "ann", tries: 1 }\n    expect Always\n\ntest "another passes":\n    at 0s Login { user: "bob", tries: 1 }\n    expect Always\n',
);
folder.write('events.evt', '@0 Login { user: "ann", tries: 4 }\n@1s Login { user: "bob", tries: 1 }\n');
folder.write('pattern.vpl', 'import "rules/*.vpl"\n');
folder.write('none.vpl', 'import "rules/*.nothing.vpl"\n');
folder.write('untested.vpl', 'stream All = Login.emit()\n');
mkdirSync(folder.file('empty'));

describe('a folder of programs', () => {
  it('is checked, each of them in order of their paths', async () => {
    const { exitCode, stdout } = await folder.cep(['check', './rules']);
    expect([exitCode, [...stdout.matchAll(/^(\S+): Syntax OK/gm)].map(([, file]) => file)]).toEqual([
      0,
      ['rules/a.vpl', 'rules/b.vpl', 'rules/deep/c.vpl'],
    ]);
  });

  it('is formatted and tested', async () => {
    expect(await folder.cep(['fmt', '--check', './rules'])).toMatchObject({ exitCode: 0, stdout: '' });
    const tested = await folder.cep(['test', './rules']);
    expect([tested.exitCode, tested.stdout]).toEqual([0, expect.stringContaining('2 tests: 2 passed')]);
  });

  it('is one program for simulate, which says what each stream gave', async () => {
    for (const programs of [
      ['-p', './rules'],
      ['-p', './rules/a.vpl', '-p', './rules/b.vpl', '-p', './rules/deep/c.vpl'],
    ]) {
      const { exitCode, stdout } = await folder.cep(['simulate', ...programs, '-e', './events.evt']);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('Alerts by stream:\n  Always  2\n  Often   1\nNever fired: Never\n');
    }
    const { stdout } = await folder.cep(['simulate', '-p', './rules', '-e', './events.evt', '--json']);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ alerts_by_stream: { Never: 0, Often: 1, Always: 2 } });
  });

  it('is one program for explain', async () => {
    const { stdout } = await folder.cep(['explain', '-p', './rules', '-e', './events.evt', '-s', 'Often']);
    expect(stdout).toContain('2 events in, 1 result out');
  });

  it('is its files, not what else is called so', async () => {
    mkdirSync(folder.file('odd/y.vpl'), { recursive: true });
    mkdirSync(folder.file('odd/.history'));
    folder.write('odd/a.vpl', 'stream All = Login.emit()\n');
    folder.write('odd/.history/a.vpl', 'stream\n');
    symlinkSync('nobody@nowhere.1', folder.file('odd/.#a.vpl'));
    symlinkSync('gone', folder.file('odd/b.vpl'));
    symlinkSync('a.vpl', folder.file('odd/c.vpl'));
    folder.write('odd.vpl', 'import "odd/*.vpl"\n');
    const { exitCode, stdout, stderr } = await folder.cep(['check', './odd']);
    expect([exitCode, [...stdout.matchAll(/^(\S+): Syntax OK/gm)].map(([, file]) => file), stderr]).toEqual([
      0,
      ['odd/a.vpl', 'odd/c.vpl'],
      '',
    ]);
    expect((await folder.cep(['check', './odd.vpl'])).exitCode).toBe(0);
  });

  it('without programs is told', async () => {
    for (const command of ['check', 'test', 'fmt']) {
      const { exitCode, stderr } = await folder.cep([command, './empty']);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining("folder 'empty' holds no program")]);
    }
  });
});

describe('import with a pattern', () => {
  it('imports what the pattern names, in order', async () => {
    const { exitCode, stdout } = await folder.cep(['simulate', '-p', './pattern.vpl', '-e', './events.evt', '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').alerts_by_stream).toEqual({ Never: 0, Often: 1 });
  });

  it('leaves out the file that it stands in', async () => {
    folder.write('rules/all.vpl', 'import "*.vpl"\n');
    expect(await folder.cep(['check', './rules/all.vpl'])).toMatchObject({ exitCode: 0 });
  });

  it('is no cycle where a file that it names imports the others by the same pattern', async () => {
    folder.write('rules/all.vpl', 'import "*.vpl"\n');
    for (const imports of ['import "rules/*.vpl"\n', 'import "rules/all.vpl"\nimport "rules/*.vpl"\n']) {
      const program = folder.write('twice.vpl', imports);
      expect(await folder.cep(['check', program])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Syntax OK') });
      const { stdout } = await folder.cep(['simulate', '-p', program, '-e', './events.evt', '--json']);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').alerts_by_stream).toEqual({ Never: 0, Often: 1 });
    }
  });

  it('is a cycle where two files import each other by it', async () => {
    mkdirSync(folder.file('circle'));
    for (const name of ['a', 'b']) folder.write(`circle/${name}.vpl`, 'import "*.vpl"\n');
    const { exitCode, stdout } = await folder.cep(['check', './circle/a.vpl']);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('E008')]);
  });

  it('that names nothing is an error', async () => {
    const { exitCode, stdout } = await folder.cep(['check', './none.vpl']);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('E097')]);
  });
});

describe('import of a name that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString', 'constructor.vpl'])(
    'of %s, where there is no such file, is an error as any other',
    async (name) => {
      const program = folder.write('member.vpl', `import "${name}"\nimport "${name}" as ${name.split('.')[0]}\n`);
      const { exitCode, stdout } = await folder.cep(['check', program]);
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`1:8: error E097: the file \`${name}\` cannot be read`)]);
    },
  );
});

describe('cep test', () => {
  it('takes the tests of a name alone', async () => {
    const { exitCode, stdout } = await folder.cep(['test', './rules/deep', '--name', 'another']);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('1 test: 1 passed')]);
  });

  it.each([
    [['test', './untested.vpl'], 'no tests in untested.vpl'],
    [['test', './rules', '--name', 'nothing of this'], "no test of rules has 'nothing of this' in its name"],
  ])('does not end well without a test: %j', async (args, message) => {
    const { exitCode, stderr } = await folder.cep(args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe('a file that no option names', () => {
  it.each([
    [['simulate', '-p', './untested.vpl', '-e', './events.evt', './more.evt'], 'an event file is named by -e: -e more.evt'],
    [['simulate', '-e', './events.evt', '-p', './untested.vpl', './more.vpl'], 'a program is named by -p: -p more.vpl'],
    [['simulate', './untested.vpl', './events.evt'], 'a program is named by -p: -p untested.vpl'],
    [['inject', 'pipeline', './events.evt'], 'an event file is named by -e: -e events.evt'],
  ])('is told how it is named: %j', async (args, hint) => {
    const { exitCode, stderr } = await folder.cep(args);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(hint)]);
  });
});

describe('check', () => {
  it('refuses a configuration that is wrong', async () => {
    folder.write('broken.yaml', 'no_such: 1\n');
    expect(await folder.cep(['check', '--config', './broken.yaml', './untested.vpl'])).toMatchObject({ exitCode: 3 });
  });
});
