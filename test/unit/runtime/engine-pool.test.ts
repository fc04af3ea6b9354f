import { afterEach, expect, it } from 'vitest';
import { CLUSTER_TENANT, SERVER_TENANT } from '../../../worker/runtime/tenants/tenant-registry.ts';
import { EnginePool } from '../../../worker/runtime/threads/engine-pool.ts';

const owner = { result: () => undefined, counters: () => undefined, question: () => undefined, lost: () => undefined };

const pools: EnginePool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

function poolOf(threads: number): { readonly pool: EnginePool; readonly place: (tenantId: string) => string } {
  const pool = new EnginePool({ threads, eventBudgetMs: 10_000, heapMb: 256, report: () => undefined });
  pools.push(pool);
  const place = (tenantId: string): string => {
    const thread = pool.place({ tenantId, isSuspect: false });
    thread.attach(owner);
    return thread.name;
  };
  return { pool, place };
}

it('starts a thread when a pipeline finds none without others, and shares them when there are as many as may be', () => {
  const { pool, place } = poolOf(2);
  expect(pool.threads.map(({ name }) => name)).toEqual(['engine-0']);
  expect([SERVER_TENANT, CLUSTER_TENANT, SERVER_TENANT, CLUSTER_TENANT].map(place)).toEqual([
    'engine-0',
    'engine-1',
    'engine-0',
    'engine-1',
  ]);
});

it('takes a thread that its pipelines have left before it starts another', () => {
  const { pool, place } = poolOf(2);
  const thread = pool.place({ tenantId: SERVER_TENANT, isSuspect: false });
  thread.detach(thread.attach(owner));
  expect(place(SERVER_TENANT)).toBe('engine-0');
  expect(pool.threads).toHaveLength(1);
});

it('names the threads of other tenants behind all that the server may have', () => {
  const { place } = poolOf(2);
  expect(['acme', SERVER_TENANT, 'umbrella', SERVER_TENANT, 'acme'].map(place)).toEqual([
    'engine-2',
    'engine-0',
    'engine-3',
    'engine-1',
    'engine-2',
  ]);
});
