import { describe, expect, it } from 'vitest';
import type { CepOptions, CepResult } from './cep.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();

folder.write(
  'rules.vpl',
  `event Login:
    user: str
    tries: int

event Repeated:
    user: str
    after: duration

stream Many = Login
    .where(tries > 3)
    .emit(user: user, tries: tries)

stream Twice = Login as a -> Login where user == a.user as b
    .within(10s)
    .emit as Repeated (user: b.user, after: b.timestamp - a.timestamp)
`,
);
folder.write('events.evt', '# two logins\n@0 Login { user: "ann", tries: 1 }\n@5s Login { user: "ann", tries: 4 }\n');

/** The result with the two numbers that differ from run to run made equal. */
async function simulate(args: readonly string[], options: CepOptions = {}): Promise<CepResult> {
  const result = await folder.cep(['simulate', ...args], options);
  const stdout = result.stdout
    .replace(/^(Duration: +)\d+\.\d{3}s$/m, '$11.234s')
    .replace(/^(Event rate: +)[\d,]+\.\d events\/sec$/m, '$11.0 events/sec')
    .replace(/"duration_secs":[\d.e-]+/, '"duration_secs":1')
    .replace(/"event_rate":[\d.e-]+/, '"event_rate":1');
  return { ...result, stdout };
}

const files = ['-p', './rules.vpl', '-e', './events.evt'];

async function outputsOf(args: readonly string[]): Promise<string[]> {
  const { exitCode, stdout } = await simulate([...args, '--json']);
  expect(exitCode).toBe(0);
  return stdout.trimEnd().split('\n').slice(0, -1);
}

describe('cep simulate', () => {
  it('prints a line for each output event, then the report', async () => {
    expect(await simulate(files)).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "",
        "stdout": "[00:00:05.000] Many { user: "ann", tries: 4 }
      [00:00:05.000] Repeated { user: "ann", after: 5s } from Twice

      Simulation Complete
      ======================
      Duration:         1.234s
      Events processed: 2
      Workers used:     1
      Alerts generated: 2
      Event rate:       1.0 events/sec
      ",
      }
    `);
  });

  it('counts the alerts of a stream, not its results', async () => {
    folder.write(
      'behind.vpl',
      `event Login: user: str, tries: int
fn twice(user: str):
    emit Login(user: user, tries: 1)
    emit Login(user: user, tries: 2)
stream Filtered = Login.emit(user, tries).where(tries > 99)
stream Again = Login.emit(user).window(2).aggregate(n: count()).emit(n)
stream Forked = Login.fork(all: .emit(user), none: .select(user), more: .where(tries > 3).emit(tries))
stream Processed = Login.process(twice(user)).where(tries > 1)
stream Plain = Login.where(tries > 3).emit(user)
`,
    );
    const { stdout } = await simulate(['-p', './behind.vpl', '-e', './events.evt', '--json', '-q']);
    const { alerts_by_stream: alerts } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(alerts).toEqual({ Filtered: 2, Again: 3, Forked: 3, Processed: 4, Plain: 1 });
  });

  it('prints output events and summary as lines of JSON', async () => {
    const { exitCode, stdout, stderr } = await simulate([...files, '--json']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatchInlineSnapshot(`
      "{"type":"output","stream":"Many","event_type":"Many","timestamp":5000,"data":{"user":"ann","tries":4}}
      {"type":"output","stream":"Twice","event_type":"Repeated","timestamp":5000,"data":{"user":"ann","after":5000}}
      {"type":"summary","duration_secs":1,"events_processed":2,"events_invalid":0,"events_incomplete":0,"events_late":0,"events_unread":0,"unread_types":[],"events_untimed":0,"lines_unreadable":0,"workers_used":1,"alerts_generated":2,"alerts_by_stream":{"Many":1,"Twice":1},"event_rate":1}
      "
    `);
  });

  it('gives the same outputs when it reads line by line', async () => {
    expect(await outputsOf([...files, '--streaming'])).toEqual(await outputsOf(files));
  });

  it('reads JSON lines, and takes the format from the content where the extension says nothing', async () => {
    const lines =
      '{"event_type":"Login","timestamp":0,"user":"ann","tries":1}\n{"event_type":"Login","timestamp":5000000,"data":{"user":"ann","tries":4}}\n';
    folder.write('events.jsonl', lines);
    folder.write('events.data', lines);
    const expected = ['{"type":"output","stream":"Many","event_type":"Many","timestamp":5000000000,"data":{"user":"ann","tries":4}}'];
    expect(await outputsOf(['-p', './rules.vpl', '-e', './events.jsonl'])).toEqual(expected);
    expect(await outputsOf(['-p', './rules.vpl', '-e', './events.data'])).toEqual(expected);
  });

  it('shows dates where times are not offsets of a file', async () => {
    folder.write('dated.jsonl', '{"event_type":"Login","timestamp":"2026-01-31T12:00:05Z","user":"ann","tries":4}\n');
    const { stdout } = await simulate(['-p', './rules.vpl', '-e', './dated.jsonl']);
    expect(stdout).toMatch(/^\[2026-01-31T12:00:05\.000Z\] Many \{ user: "ann", tries: 4 \}\n/);
  });

  it('prints the report only when it is to be quiet', async () => {
    const { stdout, stderr } = await simulate([...files, '-q']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^Simulation Complete\n/), '']);
    expect((await simulate([...files, '-q', '--json'])).stdout).toMatch(/^\{"type":"summary".*\}\n$/);
  });

  it('shows each event before what it causes when it is to be verbose, on standard error beside JSON', async () => {
    const shown = '[00:00:00.000] event Login { user: "ann", tries: 1 }\n[00:00:05.000] event Login { user: "ann", tries: 4 }\n';
    expect((await simulate([...files, '-v'])).stdout).toMatch(
      /^\[00:00:00.000\] event Login .*\n\[00:00:05.000\] event Login .*\n\[00:00:05.000\] Many .*\n/,
    );
    const { stdout, stderr } = await simulate([...files, '-v', '--json']);
    expect([stdout, stderr]).toEqual([(await simulate([...files, '--json'])).stdout, shown]);
  });

  it('says what every operator decided when it traces', async () => {
    expect((await simulate([...files, '--trace'])).stdout).toMatchInlineSnapshot(`
      "EVENT [1/2] Login { user: "ann", tries: 1 }
        -> stream Many matched on Login
           | where(tries > 3) BLOCK tries (1) > 3
        -> stream Twice matched on Login
           | pattern: 1 active run(s), 0 completed
      EVENT [2/2] Login { user: "ann", tries: 4 }
        -> stream Many matched on Login
           | where(tries > 3) PASS
           | emit(user: user, tries: tries) PASS
        <- Many emitted { user: "ann", tries: 4 }
        -> stream Twice matched on Login
           | emit as Repeated (user: b.user, after: b.timestamp - a.timestamp) PASS
        <- Twice emitted Repeated { user: "ann", after: 5s }
           | pattern: 1 active run(s), 1 completed
      END OF INPUT

      Simulation Complete
      ======================
      Duration:         1.234s
      Events processed: 2
      Workers used:     1
      Alerts generated: 2
      Event rate:       1.0 events/sec
      "
    `);
    const { stdout, stderr } = await simulate([...files, '--trace', '--json']);
    expect(stdout).toBe((await simulate([...files, '--json'])).stdout);
    expect(stderr).toMatch(/^EVENT \[1\/2\] Login/);
  });

  it('colours output lines on a terminal only', async () => {
    expect((await simulate(files, { isTTY: true })).stdout).toContain('\u001b[33m');
    expect((await simulate(files, { isTTY: true, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b');
  });

  it('lets no event write to the terminal', async () => {
    folder.write('escape.evt', '@0 Login { user: "\\u001b[2J\\u202eann\\n", tries: 4 }\n');
    const { stdout } = await simulate(['-p', './rules.vpl', '-e', './escape.evt']);
    expect(stdout).toContain('Many { user: "\\u001b[2J\\u{202e}ann\\n", tries: 4 }');
  });

  it('takes the number of workers and a partition field, and says how many threads worked', async () => {
    const { exitCode, stdout } = await simulate([...files, '-w', '4', '--partition-by', 'user']);
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('One worker was used: more threads would not be faster for these events\n'),
    ]);
    expect((await simulate([...files, '-w', '4', '--partition-by', 'tries'])).stdout).toContain(
      'One worker was used: stream Twice looks for a pattern, but not by `tries`; one thread takes all events in order\n',
    );
  });

  it('waits between events as long as the file says', async () => {
    folder.write(
      'timed.evt',
      '@1m Login { user: "ann", tries: 1 }\n@60050 Login { user: "ann", tries: 4 }\n@60030 Login { user: "bob", tries: 9 }\n',
    );
    const started = performance.now();
    const timed = await outputsOf(['-p', './rules.vpl', '-e', './timed.evt', '--timed']);
    expect(performance.now() - started).toBeGreaterThanOrEqual(50);
    expect(timed).toEqual(await outputsOf(['-p', './rules.vpl', '-e', './timed.evt']));
  });
});

describe('the end of the file', () => {
  it('may come at once, and in what is no file', async () => {
    folder.write('empty.evt', '');
    for (const empty of ['./empty.evt', '/dev/null']) {
      const { exitCode, stdout } = await simulate(['-p', './rules.vpl', '-e', empty, '--trace']);
      expect([exitCode, stdout]).toEqual([
        0,
        expect.stringMatching(
          /^END OF INPUT\n\n(No alerts from 0 events:\n( {2}.*\n)+\n)?Simulation Complete\n[\s\S]*Events processed: 0\n/,
        ),
      ]);
    }
  });

  it('completes what is open, unless it is not to be flushed', async () => {
    folder.write('window.vpl', 'stream Counts = Login\n    .window(1h)\n    .aggregate(n: count())\n    .emit(n: n)\n');
    const window = ['-p', './window.vpl', '-e', './events.evt'];
    expect(await outputsOf(window)).toHaveLength(1);
    expect(await outputsOf([...window, '--no-flush'])).toEqual([]);
  });
});

describe('events that are not as they should be', () => {
  folder.write(
    'bad.evt',
    [
      '@0 Login { user: "ann", tries: 4 }',
      '@1s Login { user: 5, tries: 4 }',
      '@2s Login { user: "bob" }',
      '@3s Login { tries: 9 }',
      '@4s Login { user: "x"',
      '@5s Login { user: "eve", tries: 99999999999999999999 }',
      '@6s Login { user: "eve", tries: 7 }',
      '',
    ].join('\n'),
  );
  const bad = ['-p', './rules.vpl', '-e', './bad.evt'];

  it('are told apart, reported with their place, and counted; the others run', async () => {
    expect(await simulate(bad)).toMatchInlineSnapshot(`
      {
        "exitCode": 1,
        "stderr": "bad.evt:2: invalid event: Login, field \`user\`: found 5, expected str: send text in quotes
      bad.evt:5:22: unreadable line: expected \`,\` or \`}\` behind a value, found the end
        | @4s Login { user: "x"
        |                      ^
        hint: text with blanks stands in quotes
      bad.evt:6: invalid event: Login, field \`tries\`: whole number 99999999999999999999 is beyond 2^53-1 and would change: send it as text, and declare the field \`str\`
      ",
        "stdout": "[00:00:00.000] Many { user: "ann", tries: 4 }
      [00:00:03.000] Many { user: null, tries: 9 }
      [00:00:06.000] Many { user: "eve", tries: 7 }

      Unreadable lines:  1, first at bad.evt:5:22
      Invalid events:    2, first at bad.evt:2
      Incomplete events: 2
        Login.tries missing in 1 event, first at bad.evt:3
        Login.user missing in 1 event, first at bad.evt:4

      Simulation Complete
      ======================
      Duration:         1.234s
      Events processed: 4
      Workers used:     1
      Alerts generated: 3
      Event rate:       1.0 events/sec
      ",
      }
    `);
  });

  it('are counted in JSON too', async () => {
    const { exitCode, stdout, stderr } = await simulate([...bad, '--json']);
    const lines = stdout.trimEnd().split('\n');
    expect(exitCode).toBe(1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      events_processed: 4,
      events_invalid: 2,
      events_incomplete: 2,
      alerts_generated: 3,
    });
    expect(stderr).toContain('bad.evt:2: invalid event: Login, field `user`: found 5');
    expect(stderr).toContain('Login.tries missing in 1 event, first at bad.evt:3');
  });

  it('give exit code 0 when lines that cannot be read are to be skipped', async () => {
    const { exitCode, stderr } = await simulate([...bad, '--skip-invalid']);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('bad.evt:5:22: unreadable line')]);
  });

  it('give exit code 0 when they are only invalid', async () => {
    folder.write('invalid.evt', '@1s Login { user: 5, tries: 4 }\n');
    expect((await simulate(['-p', './rules.vpl', '-e', './invalid.evt'])).exitCode).toBe(0);
  });

  it('are invalid when they are incomplete and events are to be strict', async () => {
    for (const result of [
      await simulate([...bad, '--json', '--strict-events']),
      await simulate([...bad, '--json'], { env: { CEP_PROCESSING_STRICT_EVENTS: 'true' } }),
    ]) {
      expect(JSON.parse(result.stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ events_invalid: 4, events_incomplete: 0 });
    }
  });

  it('are reported one by one up to a hundred of a kind', async () => {
    folder.write('many.evt', '@1s Login { user: 5, tries: 4 }\n'.repeat(150));
    const { stdout, stderr } = await simulate(['-p', './rules.vpl', '-e', './many.evt']);
    expect(stderr.trimEnd().split('\n')).toHaveLength(101);
    expect(stderr).toMatch(/many\.evt: further ones of this kind are only counted\n$/);
    expect(stdout).toContain('Invalid events:    150, first at many.evt:1\n');
  });

  it('are summed up, not listed, when it is to be quiet', async () => {
    const { stdout, stderr } = await simulate([...bad, '-q']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^Unreadable lines: {2}1, first at bad\.evt:5:22\nInvalid events: {4}2, first at bad\.evt:2\nIncomplete events: 2\n/,
    );
  });
});

describe('what a program does besides output events', () => {
  folder.write(
    'effects.vpl',
    `event Login:
    user: str
    tries: int

connector Broker = kafka (brokers: ["localhost:9092"])
connector Screen = console ()

stream Printed = Login
    .print("seen", user)
    .log(level: "warn", message: "many")
    .to(Screen, topic: "logins")
    .to(Broker, topic: "logins")
    .alert(url: "http://localhost/hook", message: "{user}")
    .alert(message: "logged {user}")
`,
  );
  const effects = ['-p', './effects.vpl', '-e', './events.evt'];

  it('is shown where it is for the eye, and counted where it would leave the process', async () => {
    expect(await simulate(effects)).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "stderr": "warn Printed: many {"user": "ann", "tries": 1}
      warn Printed: logged ann {"user": "ann", "tries": 1}
      warn Printed: many {"user": "ann", "tries": 4}
      warn Printed: logged ann {"user": "ann", "tries": 4}
      ",
        "stdout": "seen ann
      logins: Login { user: "ann", tries: 1 }
      seen ann
      logins: Login { user: "ann", tries: 4 }

      Not delivered:     2 to Broker (a simulation connects to nothing)
      Not delivered:     2 to webhook http://localhost/hook (a simulation connects to nothing)

      Simulation Complete
      ======================
      Duration:         1.234s
      Events processed: 2
      Workers used:     1
      Alerts generated: 0
      Event rate:       1.0 events/sec
      ",
      }
    `);
  });

  it('keeps standard output to JSON', async () => {
    const { stdout, stderr } = await simulate([...effects, '--json']);
    expect(stdout).toMatch(/^\{"type":"summary".*\}\n$/);
    expect(stderr).toContain('seen ann\n');
    expect(stderr).toContain('logins: Login { user: "ann", tries: 1 }\n');
  });

  it('says which evaluations failed, and how many', async () => {
    folder.write('failing.vpl', 'stream Sums = Open\n    .emit(sum: a + b)\n');
    folder.write('open.evt', '@0 Open { a: 1, b: "x" }\n'.repeat(12));
    const { exitCode, stdout, stderr } = await simulate(['-p', './failing.vpl', '-e', './open.evt']);
    expect(exitCode).toBe(0);
    expect(stderr.match(/^failure in stream Sums: /gm)).toHaveLength(10);
    expect(stderr).toContain('further failures in stream Sums are only counted\n');
    expect(stdout).toContain('Failures:          12 in stream Sums\n');
    folder.write('letters.vpl', 'stream Sums = Open\n    .on_error(dlq)\n    .emit(sum: a + b)\n');
    expect((await simulate(['-p', './letters.vpl', '-e', './open.evt'])).stdout).toContain(
      'Not delivered:     12 to the dead letters of stream Sums ',
    );
  });

  it('says what was late, what was dropped, and what was counted', async () => {
    folder.write(
      'counted.vpl',
      `stream Counts = Login
    .tap(counter: "logins", labels: [user])
    .window(1s)
    .aggregate(n: count())
    .emit(n: n)

stream Twice = Login as a -> Logout as b
    .within(1h)
    .max_runs(1)
    .emit(user: a.user)
`,
    );
    folder.write('late.evt', '@0 Login { user: "ann" }\n@5s Login { user: "bob" }\n@1s Login { user: "ann" }\n');
    const { stdout } = await simulate(['-p', './counted.vpl', '-e', './late.evt', '-q']);
    expect(stdout).toMatchInlineSnapshot(`
      "1 event was late: time stands at 00:00:05
      Late events:       1 in stream Counts
      Dropped:           2 in stream Twice (max_runs)
      Counter:           logins{user="ann"} 2
      Counter:           logins{user="bob"} 1

      Simulation Complete
      ======================
      Duration:         1.234s
      Events processed: 3
      Workers used:     1
      Alerts generated: 2
      Event rate:       1.0 events/sec
      "
    `);
  });
});

describe('what stops a simulation', () => {
  it('is a program with errors, shown on standard error', async () => {
    folder.write('wrong.vpl', 'stream A = Login\n    .emti()\n');
    const { exitCode, stdout, stderr } = await simulate(['-p', './wrong.vpl', '-e', './events.evt']);
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringContaining('wrong.vpl:2:6: error E091')]);
  });

  it.each([
    [['-p', './rules.vpl'], 1, 'error: incomplete command: expected --program and --events\n  hint: cep simulate --help\n'],
    [['-p', './absent.vpl', '-e', './events.evt'], 2, "error: program file 'absent.vpl' not found\n"],
    [['-p', './rules.vpl', '-e', './absent.evt'], 2, "error: event file 'absent.evt' not found\n"],
    [[...files, '-w', '0'], 1, /^error: --workers: /],
    [[...files, '-w', 'two'], 1, /^error: --workers: /],
    [[...files, '-q', '-v'], 1, 'error: --quiet and --verbose exclude each other\n'],
    [[...files, '-q', '--trace'], 1, 'error: --quiet and --trace exclude each other\n'],
    [[...files, '--watch', '--checkpoint-dir', './state'], 1, 'error: --watch and --checkpoint-dir exclude each other\n'],
    [[...files, '--checkpoint-interval', '1'], 1, 'error: --checkpoint-interval needs --checkpoint-dir\n'],
    [
      [...files, '--checkpoint-dir', './state', '--checkpoint-interval', '0'],
      1,
      "error: --checkpoint-interval: expected seconds or a duration such as 500ms, below 25 days, found '0'\n",
    ],
    [
      ['-p', './rules.vpl', '-e', '/dev/null', '--checkpoint-dir', './state'],
      1,
      "error: --checkpoint-dir needs event files, and '/dev/null' cannot be read from the middle on\n  hint: unpack it into a file, .evt or .jsonl\n",
    ],
    [[...files, '--checkpoint-dir', './events.evt'], 2, /^error: checkpoint 'events\.evt\/checkpoint\.json' cannot be made: /],
  ] as const)('is %j', async (args, exitCode, stderr) => {
    expect(await simulate(args)).toEqual({
      exitCode,
      stdout: '',
      stderr: typeof stderr === 'string' ? stderr : expect.stringMatching(stderr),
    });
  });

  it('is a directory in place of the events', async () => {
    const { exitCode, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './']);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: event file '.*' cannot be read: it is a directory\n$/)]);
  });
});
