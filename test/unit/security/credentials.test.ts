import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { encryptCredentials, rotateCredentials } from '../../../shared/security/credentials/change-credentials.ts';
import { readProfiles } from '../../../shared/security/credentials/credentials.ts';
import { MasterKey } from '../../../shared/security/credentials/master-key.ts';
import { looksSealed, seal, unseal } from '../../../shared/security/credentials/sealed-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'cep-credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

const keyText = MasterKey.generate();
const key = MasterKey.parse(keyText, 'the key');
const otherText = MasterKey.generate();
const other = MasterKey.parse(otherText, 'the other key');
const canary = 'canary-of-the-password';

let files = 0;
function write(text: string, mode = 0o600): string {
  const path = join(folder, `${++files}.yaml`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const open = `version: 1
# what the hook needs
profiles:
  hook:
    connector_type: rest
    properties:
      url: "https://example.org/x" # where it is
      headers: { authorization: "Bearer ${canary}" }
      retries: 5
  broker:
    properties: { brokers: [a:9092, b:9092], sasl_password: "${canary}" }
`;

describe('a master key', () => {
  it.each(['', 'abc', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65), ` ${'a'.repeat(63)}`])('is never %o, and is not shown', (text) => {
    expect(() => MasterKey.parse(text, 'CEP_MASTER_KEY')).toThrow(
      expect.objectContaining({
        code: 'config_error',
        exitCode: 3,
        message: expect.stringMatching(/^CEP_MASTER_KEY: expected .* 64 hex digits/),
      }),
    );
  });

  it('shows nothing of itself but an id', () => {
    expect(JSON.stringify(key) + String(key)).not.toContain(keyText.slice(0, 8));
    expect([key.id, MasterKey.parse(keyText.toUpperCase(), '').id]).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/), key.id]);
    expect(keyText).not.toContain(key.id);
  });
});

describe('a text under lock', () => {
  const entry = ['hook', 'properties', 'password'];

  it('opens as it was, whatever it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const sealed = seal(text, key, entry);
        expect(looksSealed(sealed)).toBe(true);
        expect(unseal(sealed, key, entry)).toBe(text);
      }),
    );
  });

  it('never repeats a nonce', () => {
    const count = 100_000;
    const nonces = new Set(Array.from({ length: count }, () => /nonce:([\w-]{16})/.exec(seal('x', key, entry))?.[1]));
    expect(nonces.size).toBe(count);
  });

  it('opens with no other key, and says so', () => {
    expect(() => unseal(seal(canary, key, entry), other, entry)).toThrow(
      expect.objectContaining({ code: 'config_error', exitCode: 3, message: expect.stringContaining(`master key ${key.id}`) }),
    );
    const relabelled = seal(canary, key, entry).replace(key.id, other.id);
    expect(() => unseal(relabelled, other, entry)).toThrow(/was changed/);
  });

  it.each([[['hook', 'properties', 'username']], [['other', 'properties', 'password']], [['hook', 'properties', 'password', '0']]])(
    'does not open in another place: %o',
    (place) => {
      expect(() => unseal(seal(canary, key, entry), key, place)).toThrow(/belongs to another entry/);
    },
  );

  it('does not open when any one of its characters is another, and is never taken for plain text', async () => {
    const sealed = seal(canary, key, ['p', 'properties', 'sasl_password']);
    const changes = [...sealed].flatMap((character, at) =>
      ['A', 'b', '0', '_', ']'].filter((one) => one !== character).map((one) => sealed.slice(0, at) + one + sealed.slice(at + 1)),
    );
    expect(changes.length).toBeGreaterThan(4 * sealed.length - 20);
    for (const changed of [...changes, sealed.slice(0, -1), sealed.slice(1), `${sealed} `, ` ${sealed}`]) {
      const path = write(`version: 1\nprofiles: {p: {properties: {sasl_password: ${JSON.stringify(changed)}}}}\n`);
      await expect(readProfiles(path, keyText)).rejects.toMatchObject({ code: 'config_error' });
    }
  });
});

describe('a credentials file', () => {
  it('gives the properties of its profiles, encrypted or not', async () => {
    const plain = await readProfiles(write(open), undefined);
    expect(plain.get('hook')).toEqual({
      connectorType: 'http',
      properties: new Map<string, unknown>([
        ['url', 'https://example.org/x'],
        ['headers', new Map([['authorization', `Bearer ${canary}`]])],
        ['retries', 5],
      ]),
      secrets: expect.arrayContaining([`Bearer ${canary}`]),
    });
    expect(plain.get('broker')?.properties.get('brokers')).toEqual(['a:9092', 'b:9092']);
    const path = write(open);
    expect(await encryptCredentials(path, key)).toEqual({ encrypted: 5, before: 0 });
    const opened = await readProfiles(path, keyText);
    expect([...opened].map(([name, { properties }]) => [name, properties])).toEqual(
      [...plain].map(([name, { properties }]) => [name, properties]),
    );
    expect(opened.get('hook')?.secrets).toEqual(['https://example.org/x', `Bearer ${canary}`]);
  });

  it.each([0o600, 0o400])('of mode %o is read', async (mode) => {
    expect((await readProfiles(write(open, mode), undefined)).size).toBe(2);
  });

  it.each([0o644, 0o640, 0o604, 0o620, 0o601, 0o777])('of mode %o is refused, through a link too', async (mode) => {
    const path = write(open, mode);
    symlinkSync(path, `${path}.link`);
    for (const at of [path, `${path}.link`]) {
      await expect(readProfiles(at, undefined)).rejects.toMatchObject({
        exitCode: 3,
        message: expect.stringContaining(`mode ${mode.toString(8)}`),
      });
    }
  });

  it('that is missing is exit code 2', async () => {
    await expect(readProfiles(join(folder, 'none'), undefined)).rejects.toMatchObject({ code: 'file_not_found', exitCode: 2 });
  });

  it('with encrypted values needs the key that it was encrypted with', async () => {
    const path = write(open);
    await encryptCredentials(path, key);
    for (const wrong of [undefined, otherText, 'abc']) {
      await expect(readProfiles(path, wrong)).rejects.toMatchObject({ code: 'config_error', exitCode: 3 });
    }
  });

  it('with require_encryption has no text in clear', async () => {
    const path = write(open.replace('profiles', 'require_encryption: true\nprofiles'));
    await expect(readProfiles(path, keyText)).rejects.toMatchObject({
      message: expect.stringMatching(/^hook\.properties\.url is not encrypted/),
    });
    await encryptCredentials(path, key);
    expect((await readProfiles(path, keyText)).size).toBe(2);
  });

  it.each([
    ['', 'version: 1'],
    ['version: 2', 'version: 1'],
    [`profiles: {p: {properties: {a: ${canary}}}}`, 'version: 1'],
    [`version: 1\nprofile: {p: {properties: {a: ${canary}}}}`, "unknown member 'profile'"],
    [`version: 1\nrequire_encryption: ${canary}`, 'true or false'],
    [`version: 1\nprofiles: [${canary}]`, 'names with values'],
    [`version: 1\nprofiles: {p: ${canary}}`, 'names with values'],
    [`version: 1\nprofiles: {p: {propertys: {a: ${canary}}}}`, "unknown member 'propertys'"],
    [`version: 1\nprofiles: {p: {connector_type: ${canary}}}`, 'expected one of kafka'],
    ['version: 1\nprofiles: {p: {properties: {a: }}}', 'p.properties.a: expected a value'],
    [`version: 1\nprofiles: {p: {properties: {a: &x ${canary}, b: *x}}}`, 'p.properties.b: expected a value'],
    [`version: 1\nprofiles: {p: {properties: {a: ${canary}, a: 1}}}`, 'is no YAML'],
    [`version: 1\nprofiles: {p: {properties: {a: "${canary}`, 'is no YAML'],
    [`version: 1\n---\nversion: 1 # ${canary}`, 'is no YAML'],
  ])('%o is refused because of %s, and what stands in it is not shown', async (text, message) => {
    const error = await readProfiles(write(text), keyText).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CepError);
    expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining(message) });
    expect(`${(error as Error).message} ${(error as CepError).hint}`).not.toContain(canary);
  });
});

describe('encrypting a file', () => {
  it('leaves its comments, its numbers and what is encrypted, and shows it to nobody else', async () => {
    const path = write(open, 0o644);
    await encryptCredentials(path, key);
    const text = readFileSync(path, 'utf8');
    expect(text).not.toMatch(/canary|example/);
    expect(text).toContain('# what the hook needs\n');
    expect(text).toMatch(/url: ENC\[\S+\] # where it is\n/);
    expect(text).toContain('retries: 5\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await encryptCredentials(path, key)).toEqual({ encrypted: 0, before: 5 });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('does nothing to a file with values of another key', async () => {
    const path = write(open);
    await encryptCredentials(path, key);
    const before = readFileSync(path, 'utf8');
    await expect(encryptCredentials(path, other)).rejects.toMatchObject({ exitCode: 3 });
    await expect(rotateCredentials(path, { from: other, to: key })).rejects.toMatchObject({ exitCode: 3 });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('with another key makes the old one useless', async () => {
    const path = write(open);
    await encryptCredentials(path, key);
    expect(await rotateCredentials(path, { from: key, to: other })).toBe(5);
    await expect(readProfiles(path, keyText)).rejects.toMatchObject({ exitCode: 3 });
    expect((await readProfiles(path, otherText)).get('broker')?.properties.get('sasl_password')).toBe(canary);
  });
});
