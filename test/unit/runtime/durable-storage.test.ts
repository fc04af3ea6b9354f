import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { DurableStorage } from '../../../worker/runtime/storage/durable-storage.ts';
import { Inventory } from '../../../worker/runtime/storage/inventory.ts';
import type { StoredTenant } from '../../../worker/runtime/tenants/tenant-registry.ts';

const tenant = (id: string, name = id): StoredTenant => ({ id, name, createdAt: 1 }) as unknown as StoredTenant;

describe('DurableStorage', () => {
  let stateDir: string;
  let storage: DurableStorage;
  const open = (): Promise<DurableStorage> => DurableStorage.open({ stateDir, report: () => undefined });
  const failOnce = (): void =>
    void vi.spyOn(Inventory.prototype, 'change').mockRejectedValueOnce(new CepError('storage_unavailable', 'no file can be opened'));

  beforeEach(async () => {
    stateDir = mkdtempSync(join(tmpdir(), 'cep-storage-'));
    storage = await open();
    await storage.saveTenant(tenant('a'));
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    await storage.close();
    rmSync(stateDir, { recursive: true });
  });

  const kept = async (): Promise<readonly string[]> => {
    vi.restoreAllMocks();
    await storage.close();
    storage = await open();
    return storage.tenants.map(({ name }) => name);
  };

  it('keeps a tenant of which something changes while the inventory cannot be written', async () => {
    failOnce();
    await storage.saveTenant({ ...tenant('a'), doneBefore: { eventsProcessed: 1, outputEventsEmitted: 1 } }).catch(() => undefined);
    expect(await kept()).toEqual(['a']);
    failOnce();
    await expect(storage.saveTenant(tenant('a', 'another'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await kept()).toHaveLength(1);
  });

  it('leaves nothing of a new tenant that could not be listed', async () => {
    failOnce();
    await expect(storage.saveTenant(tenant('b'))).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(await kept()).toEqual(['a']);
  });
});
