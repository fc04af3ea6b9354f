import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { CepProcess } from './cep-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), 'cep-process-'));
const running: CepProcess[] = [];
afterEach(() => {
  for (const cep of running.splice(0)) cep.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

function cep(args: readonly string[], options: { readonly readsOutput?: boolean } = {}): CepProcess {
  const started = new CepProcess(args, options);
  running.push(started);
  return started;
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const rules = write(
  'rules.vpl',
  `event Login:
    user: str
    tries: int

stream Pair = Login as a -> Login where user == a.user as b
    .within(1m)
    .emit(user: a.user, n: a.tries, m: b.tries)

stream Sums = Login
    .partition_by(user)
    .window(7)
    .aggregate(sum: sum(tries))
    .emit(user: user, sum: sum)
`,
);

function logins(count: number, apartMs: number): string {
  return Array.from({ length: count }, (_, i) => `@${i * apartMs} Login { user: "u${i % 5}", tries: ${(i * 7) % 11} }\n`).join('');
}

function outputLines(stdout: string): string[] {
  return stdout.split('\n').filter((line) => line.startsWith('{"type":"output"') && line.endsWith('}'));
}

/** Outputs behind which the checkpoint in a folder stands; 0 when there is none. */
function savedOutputs(state: string): number {
  const path = join(state, 'checkpoint.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).checkpoint.totals.outputs : 0;
}

describe('a process cep simulate', () => {
  const events = write('events.evt', logins(50, 1000));

  it.each([
    ['0 when all is well', ['-p', rules, '-e', events], 0],
    ['1 when a line cannot be read', ['-p', rules, '-e', write('unreadable.evt', 'Login {\n')], 1],
    ['1 when the program has errors', ['-p', write('wrong.vpl', 'stream\n'), '-e', events], 1],
    ['2 when a file is missing', ['-p', rules, '-e', join(folder, 'absent.evt')], 2],
    ['3 when the configuration is wrong', ['-p', rules, '-e', events, '--config', write('wrong.yaml', 'procesing: 1\n')], 3],
  ])('ends with %s', async (_, args, code) => {
    expect((await cep(['simulate', ...args]).ended).code).toBe(code);
  });

  it('ends quietly when nobody reads its output', async () => {
    const many = write('many.evt', logins(20_000, 1000));
    const process = cep(['simulate', '-p', rules, '-e', many], { readsOutput: false });
    expect(await process.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('ends quietly when its reader has seen enough', async () => {
    const many = write('more.evt', logins(20_000, 1000));
    const process = cep(['simulate', '-p', rules, '-e', many, '--json']);
    await process.until(({ stdout }) => stdout.length > 0);
    process.child.stdout?.destroy();
    expect(await process.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('goes on where it was killed, with the same outputs', async () => {
    const paced = write('paced.evt', logins(400, 10));
    const state = join(folder, 'state');
    const args = ['simulate', '-p', rules, '-e', paced, '--json', '--checkpoint-dir', state, '--checkpoint-interval', '50ms'];
    const killed = cep([...args, '--timed']);
    await killed.until(() => savedOutputs(state) >= 20);
    killed.kill('SIGKILL');
    const first = await killed.ended;
    expect(first.signal).toBe('SIGKILL');
    const resumed = await cep(args).ended;
    const whole = await cep(['simulate', '-p', rules, '-e', paced, '--json']).ended;
    const outputs = Number(/resumed behind .* and (\d+) outputs?/.exec(resumed.stderr)?.[1]);
    expect(outputs).toBeGreaterThanOrEqual(20);
    expect([...outputLines(first.stdout).slice(0, outputs), ...outputLines(resumed.stdout)]).toEqual(outputLines(whole.stdout));
    const summary = ({ stdout }: { readonly stdout: string }): unknown => ({
      ...JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''),
      duration_secs: 0,
      event_rate: 0,
    });
    expect(summary(resumed)).toEqual(summary(whole));
  });
});

describe('a process cep simulate with a checkpoint directory that is told to stop', () => {
  it.each([
    ['at full speed', logins(100_000, 1000), []],
    ['at the speed of the recording', logins(400, 10), ['--timed']],
  ])('goes on behind the last output that it showed: %s', async (name, text, more) => {
    const events = write('stopped.evt', text);
    const args = ['simulate', '-p', rules, '-e', events, '--json', '--checkpoint-dir', join(folder, `stopped ${name}`)];
    const stopped = cep([...args, ...more]);
    await stopped.until(({ stdout }) => outputLines(stdout).length >= 20);
    stopped.kill('SIGTERM');
    const first = await stopped.ended;
    expect(first.code).toBe(130);
    const resumed = await cep(args).ended;
    const whole = await cep(['simulate', '-p', rules, '-e', events, '--json']).ended;
    expect(resumed.stderr).toContain(`and ${outputLines(first.stdout).length.toLocaleString('en')} outputs`);
    expect([...outputLines(first.stdout), ...outputLines(resumed.stdout)]).toEqual(outputLines(whole.stdout));
  });
});

it('a process cep simulate that is told to stop while it waits for the first event of another file goes on there', async () => {
  const [first, second] = [
    write('first.jsonl', '{"event_type":"Login","timestamp":1700000000000,"user":"ann","tries":1}\n'),
    write('second.jsonl', '{"event_type":"Login","timestamp":1700000600000,"user":"ann","tries":2}\n'),
  ];
  const program = write('each.vpl', 'event Login:\n    user: str\n    tries: int\n\nstream Each = Login.emit(tries: tries)\n');
  const args = ['simulate', '-p', program, '-e', first, '-e', second, '--json', '--checkpoint-dir', join(folder, 'waited')];
  const stopped = cep([...args, '--timed']);
  await stopped.until(({ stdout }) => outputLines(stdout).length === 1);
  stopped.kill('SIGTERM');
  expect((await stopped.ended).code).toBe(130);
  expect(outputLines((await cep(args).ended).stdout)).toEqual([expect.stringContaining('"tries":2')]);
});

describe('a process cep simulate --watch', () => {
  async function runs(process: CepProcess, count: number): Promise<void> {
    await process.until(({ stderr }) => stderr.split('watching for changes').length > count);
  }

  it('runs again when a file changes, shows errors without stopping, and ends with 0 on Ctrl+C', async () => {
    const program = write('watched.vpl', readFileSync(rules, 'utf8'));
    const events = write('watched.evt', logins(10, 1000));
    const process = cep(['simulate', '-p', program, '-e', events, '--watch']);
    await runs(process, 1);
    expect(process.stdout).toContain('Events processed: 10\n');

    appendFileSync(events, logins(1, 20_000));
    await runs(process, 2);
    expect(process.stdout).toContain('Events processed: 11\n');

    write('watched.vpl', 'stream A = Login\n    .emti()\n');
    await runs(process, 3);
    expect(process.stderr).toContain('watched.vpl:2:6: error E091');

    rmSync(events);
    write('watched.vpl', readFileSync(rules, 'utf8'));
    await runs(process, 4);
    expect(process.stderr).toContain("watched.evt' not found");

    write('watched.evt', logins(3, 1000));
    await runs(process, 5);
    expect(process.stdout).toContain('Events processed: 3\n');
    expect(process.stdout).not.toContain('\u001b');

    process.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
  });

  it('runs again when a file comes that an imported pattern names, and not for another', async () => {
    mkdirSync(join(folder, 'parts'));
    write('parts/one.vpl', 'stream One = Login.emit(n: tries)\n');
    const program = write('by-pattern.vpl', 'import "parts/*.vpl"\n');
    const process = cep(['simulate', '-p', program, '-e', write('patterned.evt', logins(10, 1000)), '--watch']);
    await runs(process, 1);
    expect(process.stdout).toContain('Alerts generated: 10\n');
    write('parts/notes.txt', 'nothing\n');
    write('parts/two.vpl', 'stream Two = Login.emit(n: tries)\n');
    await process.until(({ stdout }) => stdout.includes('Alerts generated: 20\n'));
    expect(process.stderr.split('watching for changes').length).toBeLessThanOrEqual(3);
    process.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
  });

  it('runs again when an import changes', async () => {
    const lib = write('lib.vpl', 'const LIMIT = 100\n');
    const program = write('importing.vpl', 'import "lib.vpl"\n\nstream A = Login\n    .where(tries >= LIMIT)\n    .emit(n: tries)\n');
    const process = cep(['simulate', '-p', program, '-e', write('imported.evt', logins(10, 1000)), '--watch']);
    await runs(process, 1);
    expect(process.stdout).toContain('Alerts generated: 0\n');
    writeFileSync(lib, 'const LIMIT = 0\n');
    await process.until(({ stdout }) => stdout.includes('Alerts generated: 10\n'));
    process.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
  });

  it('breaks off a run that still goes on', async () => {
    const events = write('slow.evt', logins(3, 60_000));
    const process = cep(['simulate', '-p', rules, '-e', events, '--watch', '--timed', '--verbose']);
    await process.until(({ stdout }) => stdout.includes('event Login'));
    write('slow.evt', logins(2, 1));
    await runs(process, 1);
    expect(process.stdout).toContain('Events processed: 2\n');
    process.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
  });

  it('ends with 2 at once when a file is missing from the start', async () => {
    const { code, stderr } = await cep(['simulate', '-p', rules, '-e', join(folder, 'absent.evt'), '--watch']).ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining("absent.evt' not found")]);
  });
});

describe('a process cep test --watch', () => {
  it('runs the tests again when the program changes', async () => {
    const tested = (tries: number): string =>
      `${readFileSync(rules, 'utf8')}\ntest "pairs":\n    at 0s Login { user: "a", tries: 1 }\n    at 1s Login { user: "a", tries: 2 }\n    expect Pair { m: ${tries} } once\n`;
    const program = write('tested.vpl', tested(3));
    const process = cep(['test', program, '--watch']);
    await process.until(({ stdout }) => stdout.includes('1 test: 1 failed\n'));
    await process.until(({ stderr }) => stderr.includes('watching for changes'));
    writeFileSync(program, tested(2));
    await process.until(({ stdout }) => stdout.includes('1 test: 1 passed\n'));
    process.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
  });

  it('notices files of a folder that come and go, and waits where none is left', async () => {
    // Another one for a second try.
    const rulesFolder = mkdtempSync(join(folder, 'tested-'));
    const tested = (name: string): string =>
      write(`${basename(rulesFolder)}/${name}.vpl`, `stream A = X.emit()\n\ntest "${name}":\n    at 0s X { v: 1 }\n    expect A\n`);
    tested('one');
    const process = cep(['test', rulesFolder, '--watch']);
    /** Waits for a run from here on that ends so, and for the program to watch again. */
    const later = async (change: () => unknown, ...ends: readonly string[]): Promise<void> => {
      const seen = { stdout: process.stdout.length, stderr: process.stderr.length };
      change();
      await process.until(({ stdout, stderr }) => {
        const text = stdout.slice(seen.stdout) + stderr.slice(seen.stderr);
        return ends.every((end) => text.includes(end)) && stderr.slice(seen.stderr).endsWith('watching for changes, Ctrl+C ends\n');
      });
    };
    await later(() => undefined, '1 test: 1 passed');
    await later(() => tested('two'), 'pass  two', '2 tests: 2 passed');
    await later(() => rmSync(join(rulesFolder, 'two.vpl')), '1 test: 1 passed');
    await later(() => rmSync(join(rulesFolder, 'one.vpl')), 'holds no program');
    await later(() => tested('three'), 'pass  three', '1 test: 1 passed');
    await later(() => rmSync(rulesFolder, { recursive: true }), `${basename(rulesFolder)}' not found`);
    await later(() => mkdirSync(rulesFolder), 'holds no program');
    await later(() => tested('four'), 'pass  four', '1 test: 1 passed');
    process.kill('SIGINT');
    expect((await process.ended).code).toBe(0);
  });
});
