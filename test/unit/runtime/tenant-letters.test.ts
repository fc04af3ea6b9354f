import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../../worker/connectors/delivery/dead-letters.ts';
import { TenantLetters } from '../../../worker/runtime/tenants/tenant-letters.ts';

const letter = (pipeline_id: string, id: number, payload = ''): DeadLetter => ({
  timestamp: '2026-01-01T00:00:00.000Z',
  connector: 'Hook',
  error: 'no answer',
  event: { event_type: 'S', timestamp: 0, data: {} },
  id: String(id),
  pipeline_id,
  stream: 'S',
  attempts: 4,
  code: 'timeout',
  payload,
});

describe('dead letters of tenants', () => {
  let stateDir: string;

  beforeEach(() => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-letters-'));
  });
  afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

  const open = (dir?: string): Promise<TenantLetters> =>
    TenantLetters.open({ ...(dir === undefined ? {} : { stateDir: dir }), report: () => undefined });
  const totalOf = async (letters: TenantLetters, tenant: string, pipeline: string): Promise<number> =>
    (await letters.of(tenant).page(pipeline, { limit: 1, offset: 0 })).total;

  it('that fell out are counted for pipelines that are there, and forgotten with those', async () => {
    const letters = await open();
    const hosted = new Set(['p-1', 'p-2', 'p-3']);
    letters.isHosted = (id) => hosted.has(id);
    const { dropped } = letters.of('t');
    const drop = (pipeline_id: string): void => dropped.add({ pipeline_id, connector: 'Out' });
    for (const id of ['p-1', 'p-2', 'p-2', 'p-gone']) drop(id);
    const counts = (): number[] => ['p-1', 'p-2', 'p-3', 'p-gone'].map((id) => dropped.of(id, 'Out'));
    expect([...counts(), dropped.total]).toEqual([1, 2, 0, 0, 4]);
    hosted.delete('p-1');
    drop('p-3');
    expect([...counts(), dropped.total]).toEqual([0, 2, 1, 0, 5]);
    await letters.close();
  });

  it('of tenants that are gone are said and left where they cannot be removed, and the others go', async () => {
    const said: unknown[] = [];
    mkdirSync(join(stateDir, 'dlq', 'a-folder.jsonl'), { recursive: true });
    writeFileSync(join(stateDir, 'dlq', 'gone.jsonl'), '');
    const letters = await TenantLetters.open({
      stateDir,
      report: ({ message, fields }) => said.push([message, fields['tenant'], fields['reason']]),
    });
    await letters.keepOnly(new Set(['there']));
    expect(said).toEqual([['Damaged file of dead letters', 'a-folder', 'it cannot be removed: it is a directory']]);
    expect(readdirSync(join(stateDir, 'dlq'))).toEqual(['a-folder.jsonl']);
    await letters.close();
  });

  it('are copied without what is no file where one should be, and that is said', async () => {
    const said: unknown[] = [];
    const letters = await TenantLetters.open({ stateDir, report: ({ fields }) => said.push([fields['file'], fields['reason']]) });
    await letters.of('there').add(letter('p', 1));
    for (const name of ['a-folder.jsonl', 'there.1.jsonl']) mkdirSync(join(stateDir, 'dlq', name));
    const copy = join(stateDir, 'copy');
    expect(Object.keys(await letters.copyTo(copy))).toEqual(['dlq.jsonl', 'dlq/there.jsonl']);
    expect(readdirSync(join(copy, 'dlq'))).toEqual(['there.jsonl']);
    expect(said).toEqual(
      expect.arrayContaining(
        ['a-folder.jsonl', 'there.1.jsonl'].map((name) => [join(stateDir, 'dlq', name), 'it is no file, and not in the copy']),
      ),
    );
    await letters.close();
  });

  it.each(['in memory', 'in files'])('are not pushed out by those of others, however many and large: %s', async (where) => {
    const letters = await open(where === 'in files' ? stateDir : undefined);
    for (const tenant of ['default', 't_victim']) for (let n = 0; n < 3; n++) await letters.of(tenant).add(letter(`p-${tenant}`, n));
    const large = 'x'.repeat(4_000_000);
    for (let n = 0; n < 30; n++) await letters.of('t_greedy').add(letter('p-greedy', n, large));
    expect(letters.of('t_greedy').dropped.total).toBeGreaterThan(0);
    for (const tenant of ['default', 't_victim']) {
      expect([await totalOf(letters, tenant, `p-${tenant}`), letters.of(tenant).dropped.total]).toEqual([3, 0]);
    }
    await letters.close();
  });

  it.each([
    ['in memory', 2],
    ['in files', 0],
  ])('end with the process where they are kept nowhere, without those of messages that were never taken in: %s', async (where, ending) => {
    const letters = await open(where === 'in files' ? stateDir : undefined);
    for (const id of [1, 2]) await letters.of('t_one').add(letter('p', id));
    for (const code of ['unreadable_message', 'invalid_event', 'budget_exceeded'])
      await letters.of('t_one').add({ ...letter('p', 3), stream: '', code });
    await letters.of('t_one').add(letter('p-other', 4));
    expect(letters.endingWithProcess('t_one', 'p')).toBe(ending);
    await letters.of('t_one').remove('p', () => true);
    expect(letters.endingWithProcess('t_one', 'p')).toBe(0);
    await letters.close();
  });

  it('are each in a file that nobody else reads, go with their tenant, and come back with the others', async () => {
    const letters = await open(stateDir);
    for (const tenant of ['default', 't_one', 't_two', 't_lost']) await letters.of(tenant).add(letter('p', 1));
    expect(readdirSync(stateDir).sort()).toEqual(['dlq', 'dlq.jsonl']);
    expect(readdirSync(join(stateDir, 'dlq')).sort()).toEqual(['t_lost.jsonl', 't_one.jsonl', 't_two.jsonl']);
    const modes = ['dlq', 'dlq.jsonl', 'dlq/t_one.jsonl'].map((path) => statSync(join(stateDir, path)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
    await letters.forget('t_two');
    await letters.close();
    const again = await open(stateDir);
    await again.keepOnly(new Set(['default', 't_one']));
    expect(readdirSync(join(stateDir, 'dlq'))).toEqual(['t_one.jsonl']);
    expect([await totalOf(again, 'default', 'p'), await totalOf(again, 't_one', 'p'), await totalOf(again, 't_two', 'p')]).toEqual([
      1, 1, 0,
    ]);
    await again.close();
  });
});
