import { chmodSync, mkdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { readClientSettings } from '../../../../cli/client/client-settings.ts';
import { resolveConfig } from '../../../../shared/config/config.ts';
import { cep } from '../cep.ts';
import { WorkFolder } from '../work-folder.ts';
import { FakeServer } from './fake-server.ts';

const server = await FakeServer.start();
const folder = new WorkFolder();
const list = { json: { pipelines: [], total: 0, pagination: {} } };
beforeEach(() => {
  server.reset().on('GET /api/v1/pipelines', list);
});

const keyOf = (): unknown => server.requests[0]?.headers['x-api-key'];

describe('how long a client command waits', () => {
  it('is what a setting says, else what the command itself has', async () => {
    const timeoutOf = async (environment: Record<string, string>) =>
      (await readClientSettings(resolveConfig({ environment }), { timeoutUnset: '30m' })).timeoutMs;
    expect(await timeoutOf({})).toBe(1_800_000);
    expect(await timeoutOf({ CEP_TIMEOUT: '30s' })).toBe(30_000);
  });
});

describe('which server a client command asks', () => {
  it('is said by --server before CEP_SERVER', async () => {
    const { exitCode } = await cep(['pipelines', '--server', `${server.url}/`], { env: { CEP_SERVER: 'http://127.0.0.1:1' } });
    expect([exitCode, server.requests.length]).toEqual([0, 1]);
  });

  it('is said by .cep.toml of the home folder, with a key file beside it', async () => {
    mkdirSync(folder.file('home/keys'), { recursive: true });
    folder.write('home/.cep.toml', `[client]\nserver = "${server.url}"\napi_key_file = "keys/acme"\n`);
    folder.write('home/keys/acme', 'key-in-a-file\n');
    const env = { HOME: folder.file('home') };
    expect((await cep(['pipelines'], { env })).exitCode).toBe(0);
    expect(keyOf()).toBe('key-in-a-file');
    expect((await cep(['config', 'show'], { env })).stdout).toMatch(/client\.server +\S+ +file +\S+\.cep\.toml:2:10/);
  });

  it('tells of a key file that others can read, wherever it lies', async () => {
    mkdirSync(folder.file('open/keys'), { recursive: true });
    folder.write('open/.cep.toml', `[client]\nserver = "${server.url}"\napi_key_file = "keys/acme"\n`);
    folder.write('open/keys/acme', 'key-in-a-file\n');
    chmodSync(folder.file('open/keys/acme'), 0o644);
    const { stderr } = await folder.cep(['pipelines'], { env: { HOME: folder.file('open') } });
    expect(stderr).toBe('warning: open/keys/acme holds a secret, and others can read it (mode 644)\n');
  });

  it('is said by the file of --config instead of .cep.toml', async () => {
    folder.write('named.yaml', `client:\n  server: ${server.url}\n`);
    folder.write('.cep.toml', 'no = "configuration"\n');
    expect((await folder.cep(['pipelines', '--config', './named.yaml'], { env: { HOME: folder.path } })).exitCode).toBe(0);
    const { exitCode, stderr } = await folder.cep(['pipelines'], { env: { HOME: folder.path } });
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(".cep.toml:1:1: unknown section 'no'")]);
  });

  it.each([
    [['--server', 'localhost:9000'], 1, 'write it as http://localhost:9000'],
    [['--server', 'ftp://x'], 1, "expected a URL such as http://127.0.0.1:9000, found 'ftp://x'"],
    [['--server', 'http://user:secret@x'], 1, 'a URL holds no key'],
    [['--server', 'http://x/?y'], 1, 'without a query'],
    [['--timeout', 'long'], 1, "--timeout: found the text 'long', expected seconds or a duration such as 500ms, below 25 days"],
    [['--api-key', 'two words'], 1, '--api-key: the key has blanks'],
    [['--api-key-file', 'none'], 2, "API key file 'none' not found"],
    [['--tls-ca', 'none'], 2, "TLS authority 'none' not found"],
    [['--tls-ca', folder.write('no.pem', 'hello')], 3, 'it is no PEM file with certificates'],
  ])('is refused with %s', async (args, exitCode, message) => {
    const result = await cep(['pipelines', ...args]);
    expect([result.exitCode, result.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  });

  it('ends with 3 when a variable is wrong', async () => {
    expect((await cep(['pipelines'], { env: { CEP_SERVER: 'nowhere' } })).exitCode).toBe(3);
  });
});

describe('which key a client command sends', () => {
  const file = folder.write('key', 'from-a-file\n');
  chmodSync(file, 0o600);

  it.each([
    ['none when none is given', [], {}, undefined],
    ['that of --api-key before all', ['--api-key', 'flag', '--api-key-file', file], { CEP_API_KEY: 'variable' }, 'flag'],
    ['that of --api-key-file before CEP_API_KEY', ['--api-key-file', file], { CEP_API_KEY: 'variable' }, 'from-a-file'],
    ['that of CEP_API_KEY before CEP_API_KEY_FILE', [], { CEP_API_KEY: 'variable', CEP_API_KEY_FILE: file }, 'variable'],
    ['that of CEP_API_KEY_FILE', [], { CEP_API_KEY_FILE: file }, 'from-a-file'],
  ])('%s', async (_, args, env, key) => {
    expect(await server.cep(['pipelines', ...args], { env })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(keyOf()).toBe(key);
  });

  it('is warned of when it would go over the net without TLS', async () => {
    const { stderr } = await cep(['pipelines', '--server', 'http://cep.invalid', '--api-key', 'secret-1']);
    expect(stderr).toContain('warning: the key goes to http://cep.invalid without TLS');
    expect(stderr).not.toContain('secret-1');
  });
});
