import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PipelineCheckpoint, PipelineDefinition } from '../../../worker/runtime/pipelines/runtime-storage.ts';
import type { RuntimeReport } from '../../../worker/runtime/service.ts';
import { StateStore } from '../../../worker/runtime/storage/state-store.ts';
import { StorageHealth } from '../../../worker/runtime/storage/storage-health.ts';
import type { StoredTenant } from '../../../worker/runtime/tenants/tenant-registry.ts';

const tenant = (id: string, name = id): StoredTenant => ({ id, name, createdAt: 1 }) as unknown as StoredTenant;

describe('StateStore after a change that failed', () => {
  let folder: string;
  let reports: RuntimeReport[];
  let store: StateStore;
  const report = (each: RuntimeReport): void => void reports.push(each);
  const names = async (): Promise<string[]> => (await store.tenants()).map(({ name }) => name);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cep-store-'));
    reports = [];
    store = await StateStore.open(join(folder, 'store'), report);
    await store.saveTenant(tenant('a'));
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('opens the database again before the next one, and has what was acknowledged', async () => {
    vi.spyOn(Level.prototype, 'batch').mockRejectedValueOnce(new Error('IO error: fdatasync'));
    const opened = vi.spyOn(Level.prototype, 'open');
    await expect(store.saveTenant(tenant('b'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await names()).toEqual(['a']);
    expect(opened).toHaveBeenCalledTimes(0);
    await Promise.all([store.saveTenant(tenant('c')), store.saveTenant(tenant('d'))]);
    expect(opened).toHaveBeenCalledTimes(1);
    expect(await names()).toEqual(['a', 'c', 'd']);
  });

  it('leaves nothing of one that reached the disk all the same', async () => {
    const { batch } = Level.prototype;
    vi.spyOn(Level.prototype, 'batch').mockImplementationOnce(async function (this: Level, ...given: unknown[]) {
      const { close } = this;
      vi.spyOn(this, 'close').mockImplementation(async () => {
        await Reflect.apply(batch, this, given);
        await Reflect.apply(close, this, []);
      });
      throw new Error('IO error: fdatasync');
    } as unknown as typeof batch);
    await expect(store.saveTenant(tenant('a', 'another'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await store.saveTenant(tenant('c'));
    expect(await names()).toEqual(['a', 'c']);
  });

  it('is unavailable until it could be opened again, and takes nothing for damaged meanwhile', async () => {
    const health = new StorageHealth(folder, report);
    store.onFailure = (cause) => health.failed(cause);
    health.recover = () => store.recover();
    vi.spyOn(Level.prototype, 'batch').mockRejectedValueOnce(new Error('IO error: fdatasync'));
    const current = join(folder, 'store', 'CURRENT');
    renameSync(current, `${current}.away`);
    await expect(store.saveTenant(tenant('b'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    await health.look();
    expect(health.problem).not.toBeNull();
    await expect(store.tenants()).rejects.toMatchObject({ code: 'storage_unavailable' });
    renameSync(`${current}.away`, current);
    await health.look();
    expect(health.problem).toBeNull();
    expect(await names()).toEqual(['a']);
    expect(reports.filter(({ message }) => /corrupt/i.test(message))).toEqual([]);
    expect(store.failures).toBe(1);
  });

  it('is not opened again once it is closed', async () => {
    vi.spyOn(Level.prototype, 'batch').mockRejectedValueOnce(new Error('IO error: fdatasync'));
    await expect(store.saveTenant(tenant('b'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    const closing = store.close();
    await expect(store.recover()).rejects.toThrow('closed');
    await closing;
    await expect(store.recover()).rejects.toThrow('closed');
    const other = await StateStore.open(join(folder, 'store'), report);
    expect((await other.tenants()).map(({ name }) => name)).toEqual(['a']);
    await other.close();
  });

  it('has no pipeline again that a version deleted which knows no copies of checkpoints', async () => {
    const definition = (id: string) => ({ id, createdAt: 1 }) as unknown as PipelineDefinition;
    const checkpoint = { sequence: 7, state: new Uint8Array(1) } as unknown as PipelineCheckpoint;
    for (const id of ['gone', 'stays']) {
      await store.savePipeline(definition(id), checkpoint);
      expect(await store.copyNewest(id)).toBe(true);
    }
    await store.close();
    const database = new Level(join(folder, 'store'));
    const keys = await database.keys({ gte: 'checkpoint/gone/', lt: 'checkpoint/gone0' }).all();
    await database.batch(['pipeline/gone', ...keys.filter((key) => !key.endsWith('/2'))].map((key) => ({ type: 'del', key })));
    await database.close();
    store = await StateStore.open(join(folder, 'store'), report);
    await store.beginSequence(0);
    expect((await store.pipelines()).map((one) => one.definition.id)).toEqual(['stays']);
    await store.close();
    store = await StateStore.open(join(folder, 'store'), report);
    await store.beginSequence(0);
    expect([store.newestCheckpoint('gone'), store.newestCheckpoint('stays')]).toEqual([0, 7]);
  });

  it('keeps all that it took on a disk that was full', async ({ skip }) => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status !== 0)
      return skip('this user may not mount a disk of its own');
    const other = await StateStore.open(join(disk, 'store'), report);
    try {
      const taken: string[] = [];
      const save = async (id: string): Promise<void> => {
        await other.saveTenant(tenant(id, `${id} ${'x'.repeat(3_000)}`));
        taken.push(id);
      };
      await save('before');
      spawnSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k']);
      const ids = Array.from({ length: 20 }, (_, at) => String(at).padStart(3, '0'));
      for (const id of ids) await save(`full-${id}`).catch(() => undefined);
      expect(taken.length).toBeLessThan(20);
      rmSync(join(disk, 'filler'));
      for (const id of ids) await save(`then-${id}`);
      await other.close();
      const again = await StateStore.open(join(disk, 'store'), report);
      const found = (await again.tenants()).map(({ id }) => id);
      await again.close();
      expect(found).toEqual([...taken].sort());
      expect(again.wasRepaired).toBe(false);
      expect(reports.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await other.close();
      spawnSync('umount', ['-l', disk]);
    }
  });
});
