import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CepOptions } from './cep.ts';
import { WorkFolder } from './work-folder.ts';

const folder = new WorkFolder();
folder.write(
  'rules.vpl',
  `event Login:
    user: str
    tries: int
    score: float?
    ok: bool?
    at: timestamp?

stream Many = Login.where(tries > 3).emit(user, tries, score, ok)
`,
);

const evt = '@0 Login { user: "ann", tries: 4 }\n@1s Login { user: "bob", tries: 1 }\n@2s Login { user: "cas", tries: 9 }\n';
const jsonl = '{"event_type": "Login", "user": "dot", "tries": 5}\n{"event_type": "Login", "user": "eve", "tries": 6}\n';
const csv = 'event_type,user,tries,score,ok\nLogin,fay,7,1.5,true\nLogin,"gus, the second",8,,FALSE\n';
folder.write('a.evt', evt);
folder.write('b.jsonl', jsonl);
folder.write('c.csv', csv);
for (const name of ['a.evt', 'b.jsonl', 'c.csv']) folder.write(`${name}.gz`, gzipSync(folder.read(name)));

async function usersOf(args: readonly string[], options: CepOptions = {}): Promise<readonly unknown[]> {
  const { stdout, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '--json', ...args], options);
  const lines = stdout.split('\n').filter((line) => line !== '');
  if (lines.length === 0) throw new Error(stderr);
  return lines.map((line) => JSON.parse(line)).flatMap(({ type, data }) => (type === 'output' ? [data.user] : []));
}

const ofEvt = ['ann', 'cas'];
const ofJsonl = ['dot', 'eve'];
const ofCsv = ['fay', 'gus, the second'];

describe('several event files', () => {
  it.each([
    ['./a.evt', './b.jsonl'],
    ['./b.jsonl', './a.evt', './a.evt'],
    ['./c.csv', './a.evt.gz', './b.jsonl'],
  ])('are read in the order in which they are named: %s, %s', async (...files) => {
    const expected = files.flatMap((file) => (file.includes('a.evt') ? ofEvt : file.includes('b.jsonl') ? ofJsonl : ofCsv));
    for (const more of [[], ['--streaming'], ['--workers', '2'], ['--quiet', '--verbose'].slice(1)]) {
      const outputs = await folder.cep(['simulate', '-p', './rules.vpl', ...files.flatMap((file) => ['-e', file]), ...more]);
      const users = [...outputs.stdout.matchAll(/Many \{ user: "(.*?)"/g)].map(([, user]) => user);
      expect(users).toEqual(expected);
    }
  });

  it('name the file of a line that cannot be read, and of an invalid event', async () => {
    folder.write('bad.evt', '@5s Login { user: 7, tries: 4 }\nLogin\n');
    const { stdout, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './a.evt', '-e', './bad.evt', '-e', './b.jsonl']);
    expect(stderr).toContain('bad.evt:1: invalid event');
    expect(stderr).toContain('bad.evt:2:6: unreadable line');
    expect(stdout).toMatch(/first at bad\.evt:2:6\n.*first at bad\.evt:1\n/);
  });

  it('share their time: what says none has that of the line before, also of another file', async () => {
    const { stdout } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './a.evt', '-e', './b.jsonl']);
    expect(stdout).toContain('[00:00:02.000] Many { user: "dot"');
  });

  it('are one input of explain and infer, and what does not exist is named', async () => {
    const explained = await folder.cep(['explain', '-p', './rules.vpl', '-s', 'Many', '-e', './a.evt', '-e', './b.jsonl']);
    expect(explained.stdout).toContain('5 events in, 4 results out');
    const inferred = await folder.cep(['infer', '-e', './a.evt', '-i', './b.jsonl']);
    expect(inferred.stdout).toContain('from 5 events');
    const missing = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './a.evt', '-e', './none.evt']);
    expect([missing.exitCode, missing.stderr]).toEqual([2, expect.stringContaining("'none.evt' not found")]);
  });
});

describe('several long event files', () => {
  const line = (user: number): string => `Login { user: "u${user}", tries: ${user % 7} }\n`;
  const long = Array.from({ length: 400 }, (_, user) => `@${user * 10} ${line(user)}`).join('');
  folder.write('one.evt', `${long}BATCH 7s\n`);
  folder.write('other.evt', `${line(1_000)}${long}`);
  const files = ['-e', './one.evt', '-e', './b.jsonl', '-e', './other.evt'];

  it('give the same when several threads are asked for', async () => {
    const one = await folder.cep(['simulate', '-p', './rules.vpl', ...files, '-w', '1']);
    const several = await folder.cep(['simulate', '-p', './rules.vpl', ...files, '-w', '2', '--piece-bytes', '3000']);
    const alerts = ({ stdout }: { readonly stdout: string }) => stdout.split('\n').filter((text) => / Many \{/.test(text));
    expect(alerts(one).length).toBeGreaterThan(300);
    expect(alerts(several)).toEqual(alerts(one));
    expect(several.stdout).toMatch(/Events processed: 803\n/);
  });
});

describe('what holds events', () => {
  it.each([
    [['-e', './a.evt.gz'], '', ofEvt],
    [['-e', './b.jsonl.gz'], '', ofJsonl],
    [['-e', './c.csv.gz'], '', ofCsv],
    [['-e', '-'], evt, ofEvt],
    [['-e', '-'], jsonl, ofJsonl],
    [['-e', '-', '--format', 'csv'], csv, ofCsv],
    [['-e', './a.evt', '-e', '-'], jsonl, [...ofEvt, ...ofJsonl]],
  ])('is read: %j', async (args, stdin, users) => {
    expect(await usersOf(args, { stdin })).toEqual(users);
  });

  it('is known as gzip by its bytes', async () => {
    folder.write('packed.evt', gzipSync(evt));
    expect(await usersOf(['-e', './packed.evt'])).toEqual(ofEvt);
  });

  it('is told when it is damaged', async () => {
    folder.write('cut.evt.gz', gzipSync(evt).subarray(0, 40));
    const { exitCode, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './cut.evt.gz']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('the gzip file ends too soon')]);
  });

  it('takes no more memory than a line may have, whatever is packed into it', async () => {
    folder.write('bomb.evt.gz', gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x')));
    folder.write('bomb.csv.gz', gzipSync(Buffer.concat([Buffer.from('event_type,user\nLogin,"'), Buffer.alloc(64 * 1024 * 1024, 'x')])));
    for (const file of ['./bomb.evt.gz', './bomb.csv.gz']) {
      const { exitCode, stdout, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', file]);
      expect(exitCode).toBe(1);
      expect(stdout + stderr).toMatch(/1,?048,?576|Unreadable|Invalid/);
    }
  });

  it('cannot be gone on with from a checkpoint, nor watched, where it can be read only once', async () => {
    const checkpoint = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './a.evt.gz', '--checkpoint-dir', './state']);
    expect([checkpoint.exitCode, checkpoint.stderr]).toEqual([1, expect.stringContaining('cannot be read from the middle on')]);
    const watched = await folder.cep(['simulate', '-p', './rules.vpl', '-e', '-', '--watch']);
    expect([watched.exitCode, watched.stderr]).toEqual([1, expect.stringContaining('exclude each other')]);
  });
});

describe('a CSV file', () => {
  it('gives values of the declared types, and of those that it seems to have', async () => {
    const { stdout } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './c.csv']);
    expect(stdout).toContain('Many { user: "fay", tries: 7, score: 1.5, ok: true }');
    expect(stdout).toContain('Many { user: "gus, the second", tries: 8, score: null, ok: false }');
    const inferred = await folder.cep(['infer', '-e', './c.csv']);
    expect(inferred.stdout).toContain('    ok: str\n    score: float\n    tries: int\n    user: str\n');
  });

  it('keeps a text that looks like a number, with its zeros', async () => {
    folder.write('zeros.csv', 'user;tries\n007;9\n');
    expect(await usersOf(['-e', './zeros.csv', '--event-type', 'Login'])).toEqual(['007']);
  });

  it('has its lines numbered as they stand there, also behind values of several lines', async () => {
    folder.write(
      'lines.csv',
      'event_type,user,tries\nLogin,"of two\nlines",4\n\nLogin,ann,many\nLogin,bob,4,5\nLogin,x"y,4\nLogin,last,9\n',
    );
    const { stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './lines.csv']);
    expect(stderr).toContain('lines.csv:5: invalid event: Login, field `tries`');
    expect(stderr).toContain('lines.csv:6:1: unreadable line: found 4 values, and the header names 3 columns');
    expect(stderr).toMatch(/lines\.csv:7:1: unreadable line: found a quote within a value/);
    expect(await usersOf(['-e', './lines.csv'])).toEqual(['of two\nlines', 'last']);
  });

  it.each([
    ['user,tries\nann,4\n', "no column says the type of an event: expected one called 'event_type'"],
    ['event_type,user,user\n', "two columns are called 'user'"],
    ['event_type,,user\n', 'a column has no name'],
    ['event_type,us"er\n', 'the header cannot be read: found a quote within a value'],
    ['event_type,user\rLogin,ann\r', 'the header cannot be read: found lines that end with a carriage return alone'],
    [[...'event_type,user\n'].join('\0'), 'the header cannot be read: found UTF-16'],
  ])('with the header of %j is refused', async (text, message) => {
    folder.write('header.csv', text);
    const { exitCode, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './header.csv']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`header.csv:1: ${message}`)]);
  });
});

describe('what asks for threads and gets one', () => {
  it.each([
    [['-e', './a.evt', '-w', '2'], 'more threads would not be faster for these events'],
    [['-e', './a.evt.gz', '-w', '2'], 'a.evt.gz can only be read from its beginning to its end'],
    [['-e', './a.evt', '-e', './a.evt', '-w', '2'], 'of several files each goes on at the time of the one before'],
    [['-e', './a.evt', '-w', '2', '--verbose'], '--timed, --verbose and --trace go event by event'],
    [['-e', './a.evt', '--partition-by', 'user', '-w', '2'], 'more threads would not be faster for these events'],
  ])('learns why: %j', async (args, reason) => {
    const { stdout } = await folder.cep(['simulate', '-p', './rules.vpl', ...args]);
    expect(stdout).toContain(`One worker was used: ${reason}\n`);
  });

  it('learns of a field that no event has', async () => {
    const { exitCode, stderr } = await folder.cep(['simulate', '-p', './rules.vpl', '-e', './a.evt', '--partition-by', 'usr']);
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/no event of the program has a field 'usr'\n.*did you mean 'user'\?/)]);
  });
});

describe('infer', () => {
  it('does not take a file without events for one with them', async () => {
    folder.write('empty.evt', '# nothing\n');
    const { exitCode, stdout, stderr } = await folder.cep(['infer', '-e', './empty.evt']);
    expect([exitCode, stdout, stderr]).toEqual([1, '', expect.stringContaining("no events in 'empty.evt'")]);
  });
});
