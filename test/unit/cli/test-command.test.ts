import { describe, expect, it } from 'vitest';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

const program = `event Login:
    user: str
    tries: int

stream Many = Login
    .where(tries > 3)
    .emit(user: user, tries: tries)

stream Pair = Login as a -> Login where user == a.user as b
    .within(10s)
    .emit(user: a.user, n: b.tries)

stream Gone = Login as a -> NOT Login within 5m
    .emit(user: a.user)
`;

folder.write(
  'good.vpl',
  `${program}
test "time passes":
    at 0s Login { user: "ann", tries: 5 }
    expect Many { user: "ann" } once
    expect no Pair
    advance 6m
    expect Gone { user: "ann" } once
    expect no Many

test "a test begins with nothing":
    at 0s Login { user: "ann", tries: 1 }
    expect no Pair
`,
);
folder.write(
  'failing.vpl',
  `${program}
test "everything goes wrong":
    at 0s Login { user: "ann", tries: 2 }
    expect Many { user: "ann", tries: 2 }
    expect Pair
    at 1s Login { user: "ann", tries: 7 }
    expect Pair {
        user: "ann", n: 8
    } once
    expect Many 2 times
    at 2s Login { user: "bob", tries: 9 }
    expect no Many { tries: 9 }

test "an event is invalid":
    at 0s Login { user: 5, tries: 7 }
`,
);

describe('cep test', () => {
  it('runs each test in virtual time with an engine of its own', async () => {
    expect(await folder.cep(['test', './good.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "",
        "stdout": "good.vpl
        pass  time passes
        pass  a test begins with nothing

      2 tests: 2 passed
      ",
      }
    `);
  });

  it('says of a failed expectation what was expected, what came, and what came closest', async () => {
    expect(await folder.cep(['test', './failing.vpl'])).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "",
        "stdout": "failing.vpl
        FAIL  everything goes wrong
              failing.vpl:18:5: expected Many { user: "ann", tries: 2 }, found none
                nearest: Login { user: "ann", tries: 2 } at @0s was held back by where(tries > 3): tries (2) > 3
              failing.vpl:19:5: expected Pair, found none
                nearest: a run that has taken 1 of 2 steps, a = Login { user: "ann", tries: 2 } at @0s, which waits for Login where user == a.user as b, until @10s, 10s left
              failing.vpl:21:5: expected Pair { user: "ann", n: 8 } once, found none
                came:
                  [00:00:01.000] Pair { user: "ann", n: 7 }
                nearest: Pair whose n is 7, not 8
              failing.vpl:24:5: expected Many 2 times, found 1
                came:
                  [00:00:01.000] Many { user: "ann", tries: 7 }
                nearest: Login { user: "ann", tries: 2 } at @0s was held back by where(tries > 3): tries (2) > 3
              failing.vpl:26:5: expected no Many { tries: 9 }, found 1
                came:
                  [00:00:02.000] Many { user: "bob", tries: 9 }
        FAIL  an event is invalid
              failing.vpl:29:5: the event is invalid: field \`user\`: found 5, expected str: send text in quotes

      2 tests: 2 failed
      ",
      }
    `);
  });

  it('says why an output of its own key did not come though one of another key did, or came before', async () => {
    folder.write(
      'keys.vpl',
      `event P: user: str, amount: float
event L: user: str

stream Silent = P as p -> NOT L within 5m
    .partition_by(user)
    .emit(user: p.user)

stream Once = P.where(amount > 50).dedupe(user, within: 10m).emit(user, amount)

test "another key":
    at 0s P { user: "ann", amount: 1 }
    at 0s P { user: "bob", amount: 1 }
    at 1m L { user: "ann" }
    advance 10m
    expect Silent { user: "ann" }

test "held back":
    at 0s P { user: "ann", amount: 60 }
    at 10s P { user: "ann", amount: 90 }
    expect Once { user: "ann", amount: 90 }

test "another value":
    at 0s P { user: "ann", amount: 1 }
    at 10s P { user: "ann", amount: 90 }
    expect Once { user: "ann", amount: 80 }

test "before":
    at 0s P { user: "ann", amount: 60 }
    expect Once { user: "ann" }
    at 1s L { user: "ann" }
    expect Once { user: "ann" }
`,
    );
    const { stdout } = await folder.cep(['test', './keys.vpl']);
    expect(stdout.split('\n').filter((line) => line.includes('nearest:'))).toMatchInlineSnapshot(`
      [
        "          nearest: a run that has taken 1 of 1 step, p = P { user: "ann", amount: 1 } at @0s, which ended at @1m: NOT L within 5m forbids the event (L { user: "ann" } at @1m)",
        "          nearest: Once whose amount is 60, not 90; P { user: "ann", amount: 90 } at @10s was held back by dedupe(user, within: 10m): user ("ann") has passed before",
        "          nearest: Once whose amount is 90, not 80; P { user: "ann", amount: 1 } at @0s was held back by where(amount > 50): amount (1) > 50",
        "          nearest: Once { user: "ann", amount: 60 } at @0s came before the last expectation, and counts no longer",
      ]
    `);
  });

  it('gives the same as lines of JSON', async () => {
    const { exitCode, stdout, stderr } = await folder.cep(['test', '--json', './good.vpl', './failing.vpl']);
    expect([exitCode, stderr]).toEqual([1, '']);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ type, name, passed }) => [type, name, passed])).toEqual([
      ['test', 'time passes', true],
      ['test', 'a test begins with nothing', true],
      ['test', 'everything goes wrong', false],
      ['test', 'an event is invalid', false],
      ['summary', undefined, 2],
    ]);
    expect(lines[2].failures[2]).toEqual({
      line: 21,
      column: 5,
      message: 'expected Pair { user: "ann", n: 8 } once, found none',
      nearest: 'Pair whose n is 7, not 8',
      found: [{ event_type: 'Pair', timestamp: 1000, data: { user: 'ann', n: 7 } }],
    });
    expect(lines.at(-1)).toEqual({ type: 'summary', tests: 4, passed: 2, failed: 2 });
  });

  it('compares as `==` does: a duration is its milliseconds', async () => {
    folder.write(
      'durations.vpl',
      `event A:
    x: int
event B:
    x: int
stream S = A as a -> B as b
    .within(1m)
    .emit(taken: match_duration_ms, gap: b.timestamp - a.timestamp, none: null)

test "durations":
    at 0s A { x: 1 }
    at 9s B { x: 2 }
    expect S { taken: 9s, gap: 9s, none: null } once
    expect S { taken: 9000, gap: 9000 } once
    expect no S { taken: 8s }
    expect no S { none: 0 }
`,
    );
    expect(await folder.cep(['test', './durations.vpl'])).toMatchObject({ exitCode: 0 });
  });

  it('does not take a program without tests for one that passes', async () => {
    folder.write('none.vpl', program);
    expect(await folder.cep(['test', './none.vpl'])).toEqual({
      exitCode: 1,
      stdout: 'none.vpl\n\n0 tests\n',
      stderr: 'no tests in none.vpl: a block `test "name":` with events and `expect` is one\n',
    });
  });

  it('shows the errors of a program, and runs the tests of the others', async () => {
    folder.write('wrong.vpl', `${program}\ntest "unknown":\n    expect no Nothing\n`);
    const { exitCode, stdout, stderr } = await folder.cep(['test', './wrong.vpl', './good.vpl']);
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      expect.stringContaining('2 tests: 2 passed\n'),
      expect.stringContaining('wrong.vpl:17:15: error E033'),
    ]);
  });

  it('fails with 2 for a missing file', async () => {
    expect(await folder.cep(['test', './absent.vpl'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: "error: program file 'absent.vpl' not found\n",
    });
  });
});
