import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

folder.write(
  'good.vpl',
  `event Login:
    user: str

stream Alerts = Login
    .emit(user: user)
`,
);
folder.write('warned.vpl', 'stream Alerts = Login\n    .emit(user: user)\n');
folder.write('wrong.vpl', 'event Login:\n    user: str\n\nstream Alerts = Login\n    .where(usr == "ann")\n    .emti(user: user)\n');

describe('cep check', () => {
  it('counts the statements of a program without errors', async () => {
    expect(await folder.cep(['check', './good.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "",
        "stdout": "Syntax OK
         Statements: 2
      ",
      }
    `);
  });

  it('shows warnings behind that, which are no failure', async () => {
    expect(await folder.cep(['check', './warned.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "",
        "stdout": "Syntax OK
         Statements: 1
      warned.vpl:1:17: warning W030: event type \`Login\` is not declared
       1 | stream Alerts = Login
         |                 ^^^^^
         = hint: declare it: \`event Login:\` with its fields
      ",
      }
    `);
  });

  it('shows every error with its position, excerpt and hint, exit code 1', async () => {
    expect(await folder.cep(['check', './wrong.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "",
        "stdout": "wrong.vpl:5:12: error E034: unknown name \`usr\`: event \`Login\` has no such field
       5 |     .where(usr == "ann")
         |            ^^^
         = hint: did you mean \`user\`?
      wrong.vpl:6:6: error E091: there is no operator \`.emti\`
       6 |     .emti(user: user)
         |      ^^^^
         = hint: did you mean \`.emit\`?
      ",
      }
    `);
  });

  it('gives the same as JSON', async () => {
    const { exitCode, stdout, stderr } = await folder.cep(['check', '--json', './wrong.vpl']);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toMatchInlineSnapshot(`
      {
        "diagnostics": [
          {
            "code": "E034",
            "column": 12,
            "end_column": 15,
            "end_line": 5,
            "file": "wrong.vpl",
            "hint": "did you mean \`user\`?",
            "line": 5,
            "message": "unknown name \`usr\`: event \`Login\` has no such field",
            "severity": "error",
          },
          {
            "code": "E091",
            "column": 6,
            "end_column": 10,
            "end_line": 6,
            "file": "wrong.vpl",
            "hint": "did you mean \`.emit\`?",
            "line": 6,
            "message": "there is no operator \`.emti\`",
            "severity": "error",
          },
        ],
        "statements": 2,
        "valid": false,
      }
    `);
    expect(JSON.parse((await folder.cep(['check', '--json', './good.vpl'])).stdout)).toEqual({
      valid: true,
      statements: 2,
      diagnostics: [],
    });
  });

  it('checks several files, names each, and stops at none', async () => {
    const { exitCode, stdout, stderr } = await folder.cep(['check', './good.vpl', './absent.vpl', './warned.vpl', './wrong.vpl']);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^good\.vpl: Syntax OK\n {3}Statements: 2\nwarned\.vpl: Syntax OK\n[\s\S]*wrong\.vpl:5:12: error E034/);
    expect(stderr).toBe("error: program file 'absent.vpl' not found\n");
    expect((await folder.cep(['check', './good.vpl', './wrong.vpl'])).exitCode).toBe(1);
    const lines = (await folder.cep(['check', '--json', './good.vpl', './wrong.vpl'])).stdout.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { file: 'good.vpl', valid: true },
      { file: 'wrong.vpl', valid: false },
    ]);
  });

  it('takes an empty program for one without statements', async () => {
    folder.write('empty.vpl', '');
    expect(await folder.cep(['check', './empty.vpl'])).toEqual({ exitCode: 0, stdout: 'Syntax OK\n   Statements: 0\n', stderr: '' });
  });

  it('reads a byte order mark as no part of the program', async () => {
    folder.write('marked.vpl', '\uFEFFeevnt Login:\n    user: str\n');
    expect((await folder.cep(['check', './marked.vpl'])).stdout).toContain('marked.vpl:1:1: error E000');
  });

  it('shows where a program is not UTF-8', async () => {
    folder.write('latin1.vpl', Buffer.from('event Login:\n    user: str # M\xfcller\n', 'latin1'));
    expect(await folder.cep(['check', './latin1.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "",
        "stdout": "latin1.vpl:2:18: error E000: this byte is not UTF-8 text
       2 |     user: str # M�ller
         |                  ^
         = hint: save the file as UTF-8
      ",
      }
    `);
  });

  it.each([
    [['check', './absent.vpl'], "error: program file 'absent.vpl' not found\n"],
    [['check', './no-programs'], "error: folder 'no-programs' holds no program\n  hint: programs are files that end with .vpl\n"],
  ])('fails with 2 for %j', async (args, stderr) => {
    mkdirSync(folder.file('no-programs'), { recursive: true });
    const result = await folder.cep(args);
    expect(result).toEqual({
      exitCode: 2,
      stdout: '',
      stderr,
    });
  });

  it('colours the kind of a diagnostic on a terminal only', async () => {
    const label = '\u001b[31merror E034\u001b[39m';
    expect((await folder.cep(['check', './wrong.vpl'], { isTTY: true })).stdout).toContain(label);
    expect((await folder.cep(['check', './wrong.vpl'], { isTTY: true, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b');
  });

  it('lets no program write to the terminal', async () => {
    folder.write('escape.vpl', 'stream A = X\n    .where(a == "\u001b[2J"\n');
    const { stdout } = await folder.cep(['check', './escape.vpl']);
    expect(stdout).toContain('error E000');
    expect(stdout).not.toContain('\u001b');
  });
});

describe('imports', () => {
  it('are read relative to the file they stand in', async () => {
    folder.write('lib.vpl', 'event Login:\n    user: str\n\nconst LIMIT = 3\n');
    folder.write('main.vpl', 'import "lib.vpl" as lib\n\nstream A = lib.Login\n    .where(len(user) > lib.LIMIT)\n    .emit(user: user)\n');
    expect(await folder.cep(['check', './main.vpl'])).toEqual({ exitCode: 0, stdout: 'Syntax OK\n   Statements: 2\n', stderr: '' });
  });

  it('that do not exist are errors of the program, at the import', async () => {
    folder.write('lost.vpl', 'import "nowhere.vpl"\n');
    const { exitCode, stdout } = await folder.cep(['check', './lost.vpl']);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^lost\.vpl:1:8: error E\d+: .*nowhere\.vpl/)]);
  });

  it('that import each other are a cycle, by whatever path they are named', async () => {
    folder.write('one.vpl', 'import "./two.vpl"\n');
    folder.write('two.vpl', `import "${folder.file('one.vpl')}"\n`);
    const { exitCode, stdout } = await folder.cep(['check', './one.vpl']);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('error E008')]);
  });

  it('with errors show them with their own name', async () => {
    folder.write('broken.vpl', 'stream A = \n');
    folder.write('user.vpl', 'import "broken.vpl"\n');
    const { exitCode, stdout } = await folder.cep(['check', './user.vpl']);
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/^broken\.vpl:1:\d+: error E000/)]);
  });
});
