import { describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { cep } from './cep.ts';

describe('cep', () => {
  it.each(['-V', '--version'])('prints its version for %s', async (option) => {
    expect(await cep([option])).toEqual({ exitCode: 0, stdout: `cep ${manifest.version}\n`, stderr: '' });
  });

  it.each([['-h'], ['--help'], ['help']])('lists every command for %s', async (...args) => {
    const { exitCode, stdout } = await cep(args);
    expect(exitCode).toBe(0);
    for (const { words } of commands) expect(stdout).toMatch(new RegExp(`^  ${words} +[A-Z]`, 'm'));
  });

  it('lists the commands on standard error when none is given, which is a usage error', async () => {
    const { exitCode, stdout, stderr } = await cep([]);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe((await cep(['--help'])).stdout);
  });

  it.each([[['config-gen', '--help']], [['config-gen', '-h']], [['help', 'config-gen']]])('explains a command for %j', async (args) => {
    const { exitCode, stdout } = await cep(args);
    expect(exitCode).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Write a commented configuration file with every default

      Usage: cep config-gen [options]

      Options
        -c, --config <CONFIG>  Configuration file, YAML or TOML (CEP_CONFIG)
        -f, --format <FORMAT>  yaml or toml
        -o, --output <OUTPUT>  File to write; standard output without it
        -h, --help             Show this help

      Examples
        YAML to standard output
          cep config-gen
        TOML to a file
          cep config-gen --format toml --output cep.toml
      "
    `);
  });

  it.each([
    [['config-gne'], "error: unknown command 'config-gne'\n  hint: did you mean 'config-gen'?\n"],
    [['frobnicate'], "error: unknown command 'frobnicate'\n  hint: cep --help lists the commands\n"],
    [['--verison'], "error: unknown option '--verison'\n  hint: cep --help lists the commands\n"],
    [['config-gen', '--formta', 'x'], "error: unknown option '--formta'\n  hint: did you mean '--format'?\n"],
    [['config-gen', '--zzz'], "error: unknown option '--zzz'\n  hint: the options are listed by --help\n"],
    [['check', '-p', 'x'], "error: unknown option '-p'\n  hint: the options are listed by --help\n"],
    [['check', '-C', 'x'], "error: unknown option '-C'\n  hint: did you mean '-c'?\n"],
    [['config', '--jsn'], "error: unknown option '--jsn'\n  hint: did you mean '--json'?\n"],
    [['config', '--json'], 'error: incomplete command\n  hint: cep config show --help\n'],
    [['top', '--interval', '30d'], "error: --interval: expected seconds or a duration such as 500ms, below 25 days, found '30d'\n"],
    [['alerts', '-n', '2000'], "error: --limit: expected a whole number from 1 to 1000, found '2000'\n"],
    [['dlq', 'ls', 'x', '-n', '2000'], "error: --limit: expected a whole number from 1 to 1000, found '2000'\n"],
    [['dev', 'cli', '--port', '70000'], "error: --port: expected a whole number from 0 to 65535, found '70000'\n"],
    [['demo', '--metrics-port', '70000'], "error: --metrics-port: expected a whole number from 0 to 65535, found '70000'\n"],
    [
      ['generate', 'fraud', '-n', '-5'],
      "error: -n: expected a value, found '-5'\n  hint: a value that begins with a dash is joined on: -n=-5\n",
    ],
    [
      ['generate', 'fraud', '-n', '5', '-n', '-5'],
      "error: -n: expected a value, found '-5'\n  hint: a value that begins with a dash is joined on: -n=-5\n",
    ],
    [['generate', 'fraud', '-n=-5'], "error: --count: expected a whole number, at least 0, found '-5'\n"],
    [['generate', 'fraud', '--count'], 'error: --count: expected a value\n'],
    [['raft', 'add', '4'], 'error: too few arguments, expected <ID> <URL>\n  hint: cep raft add --help\n'],
    [['config-gen', 'x'], "error: 'x' is one argument too many\n  hint: cep config-gen --help\n"],
    [['config'], 'error: incomplete command\n  hint: cep config show --help\n'],
    [['-c'], 'error: -c: expected the path of a configuration file\n'],
    [['--config='], 'error: --config=: expected the path of a configuration file\n'],
  ])('refuses %j with exit code 1', async (args, stderr) => {
    expect(await cep(args)).toEqual({ exitCode: 1, stdout: '', stderr });
  });

  it('colours errors on a terminal, but not with NO_COLOR and not in a pipe', async () => {
    const red = '\u001b[31merror:';
    expect((await cep(['x'], { isTTY: true })).stderr).toContain(red);
    expect((await cep(['x'], { isTTY: true, env: { NO_COLOR: '1' } })).stderr).not.toContain('\u001b');
    expect((await cep(['x'], { env: { CI: 'true' } })).stderr).not.toContain('\u001b');
    expect((await cep(['x'], { env: { FORCE_COLOR: '1' } })).stderr).toContain(red);
  });
});

it('names the files that a command takes, whether it needs one or not', async () => {
  expect((await cep(['test', '--help'])).stdout).toContain('Usage: cep test [<FILE> ...] [options]\n');
  expect((await cep(['check', '--help'])).stdout).toContain('Usage: cep check <FILE> ... [options]\n');
});

describe('the table of commands', () => {
  it.each(commands.map(({ words, load }) => [words, load] as const))('names "%s" as its class does', async (words, load) => {
    const { paths, usage } = await load();
    expect(paths?.map((path) => path.join(' '))).toContain(words);
    expect(usage?.category).toBeTruthy();
    expect(usage?.description).toBeTruthy();
    expect(usage?.examples?.length).toBeGreaterThan(0);
  });

  it.each(commands.map(({ words, load }) => [words, load] as const))('explains "%s" when its help is asked for', async (words, load) => {
    const description = (await load()).usage?.description ?? '';
    for (const args of [
      [...words.split(' '), '--help'],
      ['help', ...words.split(' ')],
    ]) {
      const { exitCode, stdout } = await cep(args);
      expect([exitCode, stdout.split('\n')[0]]).toEqual([0, description]);
    }
  });
});
