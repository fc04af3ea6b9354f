import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../shared/config/load.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cep-config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileWith(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('loadConfig', () => {
  it.each([
    ['a.yaml', 'server: { port: 9001 }'],
    ['a.yml', 'server: { port: 9001 }'],
    ['a.TOML', '[server]\nport = 9001\n'],
  ])('reads %s by its extension', async (name, text) => {
    const config = await loadConfig({ path: await fileWith(name, text) });
    expect(config.get('server.port')).toBe(9001);
  });

  it('gives the defaults when no file is named', async () => {
    expect((await loadConfig({})).settings.every(({ origin }) => origin === 'default')).toBe(true);
  });

  it('lets the environment win over the file', async () => {
    const path = await fileWith('b.yaml', 'server: { port: 9001, bind: "::1" }');
    const config = await loadConfig({ path, environment: { CEP_SERVER_PORT: '9002' } });
    expect([config.get('server.port'), config.get('server.bind')]).toEqual([9002, '::1']);
  });

  it('fails with exit code 2 for a missing file and 3 for wrong content or an unknown format', async () => {
    await expect(loadConfig({ path: join(folder, 'none.yaml') })).rejects.toMatchObject({ exitCode: 2 });
    await expect(loadConfig({ path: join(folder, 'none.ini') })).rejects.toMatchObject({ exitCode: 2 });
    await expect(loadConfig({ path: await fileWith('c.yaml', 'server: { prot: 1 }') })).rejects.toMatchObject({ exitCode: 3 });
    await expect(loadConfig({ path: await fileWith('c.ini', '') })).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/c\.ini': expected a name that ends in \.yaml, \.yml, \.toml$/),
    });
  });
});
