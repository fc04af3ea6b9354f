import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

folder.write(
  'alerts.vpl',
  `pattern Twice = Login as a -> Login{2,} where user == a.user as b within 5m

stream Alerts = Twice
    .emit(user: a.user, text: f"{count(b)} more")
`,
);

describe('cep parse', () => {
  it('prints the tree for people', async () => {
    const { exitCode, stdout, stderr } = await folder.cep(['parse', './alerts.vpl']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatchInlineSnapshot(`
      "Program @1:1
        statements:
          PatternDeclaration name=Twice @1:1
            pattern: Pattern @1:17
              body: SequenceElement form="arrow" @1:17
                items:
                  StepElement type=Login alias=a @1:17
                  StepElement type=Login alias=b @1:31
                    quantifier: Quantifier text="range" min=2 max=Infinity @1:36
                    where:
                      Binary operator="==" @1:47
                        left: Name name="user" @1:47
                        right: Member name=user @1:55
                          object: Name name="a" @1:55
              within: DurationLiteral ms=300000 text="5m" @1:74
          StreamDeclaration name=Alerts @3:1
            source: NamedSource path=Twice @3:17
            operators:
              OperatorCall name=emit @4:5
                arguments:
                  Argument name=user @4:11
                    value: Member name=user @4:17
                      object: Name name="a" @4:17
                  Argument name=text @4:25
                    value: TemplateLiteral @4:31
                      parts:
                        Call @4:34
                          callee: Name name="count" @4:34
                          arguments:
                            Argument @4:40
                              value: Name name="b" @4:40
                        " more"
      "
    `);
  });

  it('prints the tree as JSON, with lines and columns', async () => {
    folder.write('short.vpl', '\nconst A = 1 # one\n');
    const { exitCode, stdout, stderr } = await folder.cep(['parse', '--json', './short.vpl']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchInlineSnapshot(`
      {
        "comments": [
          {
            "kind": "Comment",
            "ownLine": false,
            "span": {
              "end": {
                "column": 18,
                "line": 2,
              },
              "start": {
                "column": 13,
                "line": 2,
              },
            },
            "text": "# one",
          },
        ],
        "kind": "Program",
        "span": {
          "end": {
            "column": 1,
            "line": 3,
          },
          "start": {
            "column": 1,
            "line": 1,
          },
        },
        "statements": [
          {
            "binding": "const",
            "kind": "BindingDeclaration",
            "name": {
              "kind": "Identifier",
              "quoted": false,
              "span": {
                "end": {
                  "column": 8,
                  "line": 2,
                },
                "start": {
                  "column": 7,
                  "line": 2,
                },
              },
              "text": "A",
            },
            "span": {
              "end": {
                "column": 12,
                "line": 2,
              },
              "start": {
                "column": 1,
                "line": 2,
              },
            },
            "type": null,
            "value": {
              "kind": "NumberLiteral",
              "span": {
                "end": {
                  "column": 12,
                  "line": 2,
                },
                "start": {
                  "column": 11,
                  "line": 2,
                },
              },
              "text": "1",
              "type": "int",
              "value": 1,
            },
          },
        ],
      }
    `);
  });

  it('counts columns in code points', async () => {
    folder.write('smile.vpl', 'let x = "\u{1F600}" + y\n');
    expect((await folder.cep(['parse', './smile.vpl'])).stdout).toContain('right: Name name="y" @1:15');
  });

  it('shows where a program cannot be read, exit code 1', async () => {
    folder.write('wrong.vpl', 'event Login:\n    user str\n\nstream = X\n');
    expect(await folder.cep(['parse', './wrong.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "wrong.vpl:2:10: error E000: unexpected \`str\`; expected \`:\`
       2 |     user str
         |          ^^^
      wrong.vpl:4:8: error E000: unexpected \`=\`; expected a name
       4 | stream = X
         |        ^
      ",
        "stdout": "",
      }
    `);
    const { exitCode, stdout, stderr } = await folder.cep(['parse', '--json', './wrong.vpl']);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: false,
      diagnostics: [
        { code: 'E000', line: 2 },
        { code: 'E000', line: 4 },
      ],
    });
  });

  it('fails with 2 for a missing file', async () => {
    expect(await folder.cep(['parse', './absent.vpl'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: "error: program file 'absent.vpl' not found\n",
    });
  });
});
