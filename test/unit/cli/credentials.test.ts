import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readProfiles } from '../../../shared/security/credentials/credentials.ts';
import { cep } from './cep.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text = 'version: 1\nprofiles: {p: {properties: {password: hidden-one}}}\n', mode = 0o600): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
};
const newKey = async (): Promise<string> => (await cep(['credentials', 'keygen'])).stdout.trim();

describe('cep credentials', () => {
  it('keygen prints another key each time', async () => {
    const keys = await Promise.all([newKey(), newKey()]);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(keys[0]).not.toBe(keys[1]);
    const { stdout } = await cep(['credentials', 'keygen', '--json']);
    expect(JSON.parse(stdout)).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it('encrypt and rotate change the file in place, and print no secret', async () => {
    const path = write('both.yaml');
    const [first, second] = [await newKey(), await newKey()];
    const encrypted = await cep(['credentials', 'encrypt', path, '--json'], { env: { CEP_MASTER_KEY: first } });
    expect([encrypted.exitCode, JSON.parse(encrypted.stdout)]).toEqual([
      0,
      { encrypted: 1, encrypted_before: 0, key_id: expect.any(String) },
    ]);
    const rotated = await cep(['credentials', 'rotate', path], { env: { CEP_MASTER_KEY: first, CEP_NEW_MASTER_KEY: second } });
    expect([rotated.exitCode, rotated.stdout]).toEqual([0, expect.stringMatching(/^Encrypted 1 values with the key [0-9a-f]{8}\n$/)]);
    expect((await readProfiles(path, second)).get('p')?.properties.get('password')).toBe('hidden-one');
    const said = [encrypted, rotated].map(({ stdout, stderr }) => stdout + stderr).join('');
    for (const secret of ['hidden-one', first, second]) expect(said).not.toContain(secret);
  });

  it.each([
    ['no key', {}, 'CEP_MASTER_KEY is not set'],
    ['a key that is none', { CEP_MASTER_KEY: 'short' }, 'CEP_MASTER_KEY: expected a master key of 64 hex digits'],
  ])('with %s end with 3', async (_what, env, message) => {
    const path = write('keyless.yaml');
    for (const command of ['encrypt', 'rotate']) {
      const { exitCode, stderr } = await cep(['credentials', command, path], { env });
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining(message)]);
    }
    expect(readFileSync(path, 'utf8')).toContain('hidden-one');
  });

  it('rotate needs the new key too, and encrypt a file', async () => {
    const env = { CEP_MASTER_KEY: await newKey() };
    expect(await cep(['credentials', 'rotate', write('one.yaml')], { env })).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('CEP_NEW_MASTER_KEY is not set'),
    });
    expect(await cep(['credentials', 'encrypt', join(folder, 'none')], { env })).toMatchObject({ exitCode: 2 });
    expect(await cep(['credentials', 'encrypt', write('bad.yaml', 'version: 9\n')], { env })).toMatchObject({ exitCode: 3 });
  });
});

describe('--credentials', () => {
  const program = (): string => write('program.vpl', 'stream S = A.emit(x: 1)\n');

  it('is taken by every command, before anything else is done', async () => {
    expect(await cep(['check', program(), '--credentials', write('good.yaml')])).toMatchObject({ exitCode: 0 });
    for (const args of [['check', program()], ['config', 'show'], ['pipelines']]) {
      const named = [...args, '--credentials', write('open.yaml', undefined, 0o644)];
      if (args[0] === 'config')
        expect(await cep(named)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/server\.credentials .*open\.yaml +flag/) });
      else expect(await cep(named)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('can be read by others') });
    }
  });

  it('is shown with where it comes from, the key is not shown', async () => {
    const key = await newKey();
    const { stdout } = await cep(['config', 'show'], { env: { CEP_MASTER_KEY: key, CEP_CREDENTIALS: 'c.yaml' } });
    expect(stdout).toMatch(/server\.credentials +c\.yaml +environment/);
    expect(stdout).toMatch(/server\.master_key +\*{8} +environment/);
    expect(stdout).not.toContain(key);
  });
});
