import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSecretFiles } from '../../../cli/secret-files.ts';
import { readCoordinatorSettings } from '../../../cli/serving/coordinator-settings.ts';
import { readServerSettings } from '../../../cli/serving/server-settings.ts';
import { resolveConfig } from '../../../shared/config/config.ts';
import { parseConfig } from '../../../shared/config/parse.ts';

describe('the names by which a server may be asked for', () => {
  const hostsOf = async (environment: Record<string, string>) =>
    (await readServerSettings(resolveConfig({ environment }), undefined)).allowedHosts;
  const worker = { CEP_COORDINATOR: 'http://c1:9100', CEP_ADVERTISE_ADDRESS: 'http://w1.workers:9000' };
  const key = { CEP_API_KEY: 'the-key-of-the-cluster' };

  it('are those that are named, and of a worker the one that it is reached by, where not all are taken', async () => {
    expect(await hostsOf({ ...worker, ...key })).toEqual([]);
    expect(await hostsOf(worker)).toEqual(['w1.workers']);
    expect(await hostsOf({ ...worker, ...key, CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example', 'w1.workers']);
    expect(await hostsOf({ ...key, CEP_ALLOWED_HOSTS: 'cep.example' })).toEqual(['cep.example']);
    expect(await hostsOf({})).toEqual([]);
  });
});

describe('a key that is required', () => {
  const keysOf = async (environment: Record<string, string>, text = ''): Promise<(string | undefined)[]> => {
    const file = parseConfig({ file: 'cep.toml', text, format: 'toml' });
    const config = resolveConfig({ environment: { CEP_KEY_REQUIRED: 'true', ...environment }, file });
    const settings = await Promise.all([readServerSettings(config, undefined), readCoordinatorSettings(config)]);
    return settings.map(({ apiKey }) => apiKey);
  };
  const both = (key: string | undefined) => [key, key];

  it('may stand wherever settings do', async () => {
    expect(await keysOf({ CEP_API_KEY: 'the-key-of-this' })).toEqual(both('the-key-of-this'));
    const folder = await mkdtemp(join(tmpdir(), 'cep-key-'));
    const path = join(folder, 'key');
    await writeFile(path, 'the-key-in-a-file\n', { mode: 0o600 });
    expect(await keysOf({ CEP_SERVER_API_KEY_FILE: path })).toEqual(both('the-key-in-a-file'));
    expect(await keysOf({}, `[server]\napi_key_file = "${path}"\n`)).toEqual(both('the-key-in-a-file'));
    await rm(folder, { recursive: true });
  });

  it('is in a file that is relative to the one that names it, and that no program may read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cep-key-'));
    await writeFile(join(folder, 'key'), 'the-key-in-a-file\n');
    // Whatever the process masks.
    await chmod(join(folder, 'key'), 0o644);
    const text = '[server]\napi_key_file = "key"\n[client]\napi_key_file = "other"\n';
    const config = resolveConfig({ file: parseConfig({ file: join(folder, 'cep.toml'), text, format: 'toml' }) });
    const { apiKey, privateFiles } = await readServerSettings(config, undefined);
    expect([apiKey, privateFiles]).toEqual(['the-key-in-a-file', [join(folder, 'key'), join(folder, 'other')]]);
    expect((await readCoordinatorSettings(config)).apiKey).toBe('the-key-in-a-file');
    expect(await openSecretFiles(config)).toEqual([{ file: join(folder, 'key'), mode: '644' }]);
    await rm(folder, { recursive: true });
  });

  it.each([
    [{}, ''],
    [{ CEP_API_KEY: '', CEP_INSECURE: 'false' }, ''],
    [{ CEP_CONFIG: '/etc/cep/cep.toml' }, '[server]\nport = 9001\n'],
  ])('is missed with %j, whatever else is set', async (environment, text) => {
    const missed = { code: 'config_error', message: expect.stringContaining('there is no API key') };
    await expect(keysOf(environment, text)).rejects.toMatchObject(missed);
    expect(await keysOf({ ...environment, CEP_KEY_REQUIRED: 'false' }, text)).toEqual(both(undefined));
    expect(await keysOf({ ...environment, CEP_INSECURE: 'true' }, text)).toEqual(both(undefined));
  });
});
