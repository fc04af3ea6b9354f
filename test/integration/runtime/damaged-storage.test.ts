import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RuntimeReport } from '../../../worker/runtime/service.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { TenantLetters } from '../../../worker/runtime/tenants/tenant-letters.ts';
import { letterOf } from './letters-under-test.ts';
import { event, outputTexts, type RuntimeUnderTest, startRuntime, TENANT } from './runtime-under-test.ts';

const counting = `stream Seen = Tx
  .partition_by(n)
  .aggregate(n: last(n), times: count())
  .emit(n: n, times: times)
`;
const events = 40;
const all = Array.from({ length: events }, (_, n) => n);
const tx = (n: number): object => event('Tx', { n });
const page = { limit: 50, offset: 0 };

/** What is done to a file. */
const damages: Readonly<Record<string, (path: string) => void>> = {
  'flipped in the middle': (path) => {
    const bytes = readFileSync(path);
    const at = Math.floor(bytes.length / 2);
    for (let byte = at; byte < Math.min(at + 4, bytes.length); byte++) bytes[byte] = (bytes[byte] as number) ^ 0xff;
    writeFileSync(path, bytes);
  },
  'flipped at its beginning': (path) => {
    const bytes = readFileSync(path);
    bytes[3] = (bytes[3] as number) ^ 0xff;
    writeFileSync(path, bytes);
  },
  'cut in half': (path) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  empty: (path) => truncateSync(path, 0),
  gone: (path) => rmSync(path),
  'a directory': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};

/** Kinds of files, and which of a directory are of the kind. */
const kinds: Readonly<Record<string, RegExp>> = {
  'the inventory': /^inventory$/,
  'a segment of the log': /^log\/00000001\.log$/,
  'the last segment of the log': /^log\/00000002\.log$/,
  'a table of the store': /^store\/\d+\.ldb$/,
  'the log of the store': /^store\/\d+\.log$/,
  'the manifest of the store': /^store\/MANIFEST-\d+$/,
  'CURRENT of the store': /^store\/CURRENT$/,
};

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1));

describe('a damaged state directory', () => {
  let base: string;
  let whole: string;
  let id: string;
  let tenantId: string;

  /** A directory with tables and a log in the store, two segments of the event log, a tenant, and events that no checkpoint has. */
  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'cep-damaged-'));
    whole = join(base, 'whole');
    const options = { stateDir: whole, checkpointIntervalMs: 3_600_000, apiKey: 'the key of the server' };
    const first = await startRuntime(options);
    id = await first.deploy(counting, 'counting');
    tenantId = (await first.runtime.tenants.create({ name: 'acme' })).id;
    for (const n of all.slice(0, events / 2)) await first.inject(id, tx(n), { durable: true });
    await first.runtime.shutdown({ deadlineMs: 5_000 });
    const second = await startRuntime(options);
    await second.runtime.tenants.create({ name: 'later' });
    for (const n of all.slice(events / 2)) await second.inject(id, tx(n), { durable: true });
    const ended = `${whole}.ended`;
    cpSync(whole, ended, { recursive: true });
    await second.runtime.shutdown({ deadlineMs: 5_000 });
    rmSync(whole, { recursive: true });
    cpSync(ended, whole, { recursive: true });
  }, 60_000);
  afterAll(() => rmSync(base, { recursive: true, force: true }));

  const open = (stateDir: string): Promise<RuntimeUnderTest> => startRuntime({ stateDir, apiKey: 'the key of the server' });

  /** How often each event counts in the state. */
  async function counts({ runtime, inject }: RuntimeUnderTest): Promise<number[]> {
    if (runtime.pipelines.get(TENANT, id).status !== 'running') return [];
    const answer = await inject(id, all.map(tx));
    return outputTexts(answer).map((text) => Number(/"times":(\d+)/.exec(text)?.[1]) - 1);
  }

  it('is whole in this test before it is damaged', async () => {
    expect(filesIn(whole).filter((name) => Object.values(kinds).some((kind) => kind.test(name))).length).toBeGreaterThanOrEqual(7);
    const stateDir = join(base, 'undamaged');
    cpSync(whole, stateDir, { recursive: true });
    const under = await open(stateDir);
    expect(await counts(under)).toEqual(all.map(() => 1));
    expect(under.reports.filter(({ level }) => level !== 'info')).toEqual([]);
    await under.runtime.shutdown({ deadlineMs: 5_000 });
  });

  const cases = Object.keys(kinds).flatMap((kind) => Object.keys(damages).map((damage) => [kind, damage] as const));

  it.each(cases)('with %s %s has everything, or says what it lacks', async (kind, damage) => {
    const stateDir = join(base, `${kind} ${damage}`.replaceAll(' ', '-'));
    cpSync(whole, stateDir, { recursive: true });
    const names = filesIn(stateDir).filter((name) => kinds[kind]?.test(name));
    expect(names).not.toEqual([]);
    for (const name of names) damages[damage]?.(join(stateDir, name));
    const before = new Map(filesIn(stateDir).map((name) => [name, readFileSync(join(stateDir, name))]));
    const under = await open(stateDir).catch((error: Error & { code?: string; hint?: string }) => error);
    if (under instanceof Error) {
      expect(under).toMatchObject({ code: 'io_error', hint: expect.stringContaining('docs/operations/damaged-storage.md') });
      expect(under.message).toMatch(/damaged|cannot be (opened|read)/);
      // What is whole is where it was.
      for (const [name, bytes] of before) {
        if (name.startsWith('log/') && statSync(join(stateDir, name)).isFile())
          expect(readFileSync(join(stateDir, name)).equals(bytes.subarray(0, statSync(join(stateDir, name)).size))).toBe(true);
      }
      return;
    }
    const { runtime, reports } = under;
    // What a crash tears off the end of the log cannot be told from what somebody cuts off there.
    const isSaid = ({ message, fields }: RuntimeReport): boolean => 'runbook' in fields || message === 'Torn end of the event log cut';
    const said = reports.filter(isSaid);
    const tenants = runtime.tenants.list().map(({ id: one }) => one);
    const found = await counts(under);
    await runtime.shutdown({ deadlineMs: 5_000 });
    const isWhole = tenants.includes(tenantId) && tenants.length === 3 && found.length === events && found.every((times) => times === 1);
    if (!isWhole) expect([kind, damage, said.length]).not.toEqual([kind, damage, 0]);
    expect(found.filter((times) => times > 1)).toEqual([]);
  });

  it.each([
    ['store', 'file', 'a part of its path is no directory'],
    ['log', 'file', 'file already exists'],
    ['dlq.jsonl', 'directory', 'it is a directory'],
  ])("in which '%s' is a %s is refused, and says where and why", async (name, what, reason) => {
    const stateDir = join(base, `${name}-is-a-${what}`);
    cpSync(whole, stateDir, { recursive: true });
    const path = join(stateDir, name);
    rmSync(path, { recursive: true, force: true });
    if (what === 'file') writeFileSync(path, '');
    else mkdirSync(path);
    const refused = await open(stateDir).catch((error: Error & { hint?: string }) => error);
    expect(refused).toMatchObject({ code: 'io_error', hint: expect.stringContaining('docs/operations/damaged-storage.md') });
    expect((refused as Error).message).toContain(path);
    expect((refused as Error).message).toContain(reason);
  });

  it('without its store is refused, and is not made anew', async () => {
    const stateDir = join(base, 'no-store');
    cpSync(whole, stateDir, { recursive: true });
    rmSync(join(stateDir, 'store'), { recursive: true });
    for (const _ of ['once', 'and again']) {
      await expect(open(stateDir)).rejects.toMatchObject({
        code: 'io_error',
        message: expect.stringMatching(/is damaged: the database in 'store': .*tenant 'acme' .* is missing.*pipeline 'counting'/),
      });
      expect(existsSync(join(stateDir, 'store'))).toBe(false);
    }
  });

  it('of which somebody accepts what is missing goes on with the rest', async () => {
    const stateDir = join(base, 'accepted');
    cpSync(whole, stateDir, { recursive: true });
    rmSync(join(stateDir, 'store'), { recursive: true });
    rmSync(join(stateDir, 'inventory'));
    const under = await open(stateDir);
    expect(under.runtime.pipelines.list(TENANT, page).total).toBe(0);
    await under.runtime.shutdown({ deadlineMs: 5_000 });
  });

  it('of a later version is refused', async () => {
    const { crc32c } = await import('../../../shared/checksum/crc32c.ts');
    const stateDir = join(base, 'later');
    cpSync(whole, stateDir, { recursive: true });
    const text = readFileSync(join(stateDir, 'inventory'), 'utf8').split('\n')[0]?.replace('"format":2', '"format":3') ?? '';
    writeFileSync(join(stateDir, 'inventory'), `${text}\n${crc32c(Buffer.from(text)).toString(16)}\n`);
    await expect(open(stateDir)).rejects.toMatchObject({ code: 'io_error', message: expect.stringContaining('has format 3') });
    expect(existsSync(join(stateDir, 'inventory'))).toBe(true);
  });

  it.each([
    ['dlq.jsonl', 'flipped in the middle', /not what was written; 1 of its lines cannot be read/, 3],
    ['dlq.jsonl', 'cut in half', /has \d+ of \d+ bytes in whole lines$/, 2],
    ['dlq.jsonl', 'gone', /is gone$/, 0],
    ['dlq/t_1.jsonl', 'flipped at its beginning', /not what was written$/, 4],
    ['dlq/t_1.jsonl', 'empty', /has 0 of \d+ bytes/, 0],
    ['dlq/t_1.jsonl', 'gone', /is gone$/, 0],
  ] as const)('whose dead letters %s are %s is named once, and has the others', async (path, damage, reason, left) => {
    const stateDir = join(base, `${path} ${damage}`.replaceAll(/[ /]/g, '-'));
    cpSync(whole, stateDir, { recursive: true });
    const opened = async () => {
      const said: RuntimeReport[] = [];
      const report = (one: RuntimeReport): void => void (one.level === 'info' || said.push(one));
      const storage = await DurableStorage.open({ stateDir, report });
      const letters = await TenantLetters.open({ stateDir, report, list: storage.letterList });
      await letters.examine();
      const close = async (): Promise<void> => {
        await letters.close();
        await storage.close();
      };
      return { said, letters, close };
    };
    const first = await opened();
    for (const tenant of ['default', 't_1']) for (let n = 1; n <= 4; n++) await first.letters.of(tenant).add(letterOf(n));
    await first.close();
    damages[damage]?.(join(stateDir, path));
    const second = await opened();
    expect(second.said.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'Damaged file of dead letters',
        fields: expect.objectContaining({ reason: expect.stringMatching(reason), runbook: 'docs/operations/damaged-storage.md' }),
      },
    ]);
    const totals = await Promise.all(['default', 't_1'].map(async (id) => (await second.letters.of(id).page('p', page)).total));
    expect(totals.toSorted()).toEqual([left, 4].toSorted());
    await second.close();
    const third = await opened();
    expect(third.said).toEqual([]);
    await third.close();
  });

  it('names a page that exists', () => {
    expect(existsSync(join(import.meta.dirname, '../../../docs/operations/damaged-storage.md'))).toBe(true);
  });
});
