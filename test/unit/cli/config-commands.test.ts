import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cli } from 'clipanion';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../cli/commands.ts';
import type { CliContext } from '../../../cli/context.ts';
import { generateConfig } from '../../../shared/config/generate.ts';
import { configKeys } from '../../../shared/config/keys.ts';
import { cep } from './cep.ts';

let folder = '';
let file = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-cli-'));
  file = join(folder, 'cep.yaml');
  await writeFile(file, 'server:\n  port: 9001\n');
});
afterAll(() => rm(folder, { recursive: true }));

async function shownPort(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { exitCode, stdout, stderr } = await cep([...args, '--json'], { env });
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout)['server.port'];
}

describe('cep config show', () => {
  it('prints one line for each setting', async () => {
    const { stdout } = await cep(['config', 'show', '--config', file]);
    expect(stdout).toMatch(new RegExp(`^server\\.port +9001 +file +${file}:2:9$`, 'm'));
    expect(stdout).toMatch(/^metrics\.port +9090 +default$/m);
  });

  it('takes the file before the command, after it, or from CEP_CONFIG, the last word first', async () => {
    const fromFile = { value: 9001, origin: 'file', where: `${file}:2:9` };
    expect(await shownPort(['-c', file, 'config', 'show'])).toEqual(fromFile);
    expect(await shownPort([`--config=${file}`, 'config', 'show'])).toEqual(fromFile);
    expect(await shownPort(['config', 'show', '-c', file])).toEqual(fromFile);
    expect(await shownPort(['config', 'show'], { CEP_CONFIG: file })).toEqual(fromFile);
    expect(await shownPort(['-c', 'absent.yaml', 'config', 'show', '-c', file], { CEP_CONFIG: 'none.yaml' })).toEqual(fromFile);
  });

  it('takes the flags of other commands', async () => {
    expect(await shownPort(['config', 'show', '-c', file, '--port', '9003'], { CEP_SERVER_PORT: '9002' })).toEqual({
      value: 9003,
      origin: 'flag',
      where: '--port',
    });
    const { stdout } = await cep(['config', 'show', '--metrics', '--json']);
    expect(JSON.parse(stdout)['metrics.enabled']).toEqual({ value: true, origin: 'flag', where: '--metrics' });
  });

  it('takes no flag that is of no command', async () => {
    const cli = new Cli<CliContext>();
    for (const { load } of commands) cli.register(await load());
    const others = cli.definitions().filter(({ path }) => !path.endsWith('config show'));
    const taken = new Set(others.flatMap(({ options }) => options.flatMap(({ definition }) => definition.match(/--[\w-]+/g) ?? [])));
    const flags = configKeys.flatMap((key) => ('flag' in key ? [key.flag] : []));
    expect(flags.length).toBeGreaterThan(40);
    expect(flags.filter((flag) => !taken.has(flag))).toEqual([]);
  });

  it.each(['--keep-backups', '--workers'])('takes %s, which a server reads', async (flag) => {
    const { exitCode, stderr } = await cep(['server', flag, '0']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${flag}: found the text '0', expected an integer of at least 1`)]);
  });

  it('writes warnings to standard error', async () => {
    const deprecated = join(folder, 'mqtt.toml');
    await writeFile(deprecated, '[mqtt]\nbroker = "localhost"\n');
    const { exitCode, stderr } = await cep(['config', 'show', '-c', deprecated]);
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^warning: .*mqtt\.toml:2:10: section 'mqtt' is deprecated/)]);
  });

  it('fails with 2 for a missing file, 3 for wrong content or environment, 1 for a wrong flag', async () => {
    const wrong = join(folder, 'wrong.yaml');
    await writeFile(wrong, 'server:\n  prot: 1\n');
    expect(await cep(['config', 'show', '-c', 'absent.yaml'])).toMatchObject({
      exitCode: 2,
      stderr: "error: configuration file 'absent.yaml' not found\n",
    });
    expect(await cep(['config', 'show', '-c', wrong])).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: `error: ${wrong}:2:3: unknown key 'prot' in section 'server'; did you mean 'port'?\n`,
    });
    expect(await cep(['config', 'show'], { env: { CEP_SERVER_PORT: 'x' } })).toMatchObject({ exitCode: 3 });
    expect(await cep(['config', 'show', '--port', 'x'])).toMatchObject({ exitCode: 1 });
  });
});

describe('cep config-gen', () => {
  it('prints YAML, or TOML when asked', async () => {
    expect(await cep(['config-gen'])).toEqual({ exitCode: 0, stdout: generateConfig('yaml'), stderr: '' });
    expect(await cep(['config-gen', '-f', 'toml'])).toEqual({ exitCode: 0, stdout: generateConfig('toml'), stderr: '' });
  });

  it('writes a file that can be used as it is', async () => {
    const output = join(folder, 'made.toml');
    expect(await cep(['config-gen', '--format', 'toml', '--output', output])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await readFile(output, 'utf8')).toBe(generateConfig('toml'));
    expect(await shownPort(['config', 'show', '-c', output])).toMatchObject({ value: 9000, origin: 'file' });
  });

  it('fails with 1 for an unknown format and 2 where it cannot write', async () => {
    expect(await cep(['config-gen', '-f', 'xml'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('expected one of "yaml" or "toml" (got "xml")'),
    });
    expect(await cep(['config-gen', '-o', join(folder, 'no', 'cep.yaml')])).toMatchObject({ exitCode: 2 });
  });
});
