import { describe, expect, it } from 'vitest';
import { BudgetDrops } from '../../../worker/runtime/pipelines/budget-drops.ts';
import { IdempotencyWindow } from '../../../worker/runtime/pipelines/idempotency-window.ts';
import { Latency, LatencyHistogram } from '../../../worker/runtime/pipelines/latency.ts';
import { Strikes } from '../../../worker/runtime/pipelines/strikes.ts';
import { pipelineTransitions, requireTransition } from '../../../worker/runtime/pipelines/transitions.ts';
import { EventMeter } from '../../../worker/runtime/tenants/event-meter.ts';
import { type StoredTenant, TenantRegistry } from '../../../worker/runtime/tenants/tenant-registry.ts';

describe('tenants', () => {
  it('are all the one of the server while no key is configured', () => {
    const registry = new TenantRegistry(null, undefined);
    expect(registry.isAuthenticationOn).toBe(false);
    for (const key of [undefined, 'anything']) expect(registry.authenticate(key)).toEqual({ tenantId: 'default', role: 'admin' });
    expect(registry.list()).toMatchObject([{ id: 'default', plan: 'enterprise', keyPrefix: null }]);
  });

  it('are told apart by their keys, of which only a digest is kept', async () => {
    const stored: StoredTenant[] = [];
    const registry = new TenantRegistry(
      { saveTenant: async (tenant) => void stored.push(tenant), deleteTenant: async () => undefined },
      'server key',
    );
    const { id, apiKey, keyPrefix } = await registry.create({ name: 'acme' });
    expect(registry.authenticate(apiKey)).toEqual({ tenantId: id, role: 'tenant' });
    expect(registry.authenticate('server key')).toEqual({ tenantId: 'default', role: 'admin' });
    expect(keyPrefix).toMatch(/^[0-9a-f]{8}$/);
    expect(JSON.stringify([stored, registry.list()])).not.toContain(apiKey);
    expect(() => registry.authenticate(undefined)).toThrow(expect.objectContaining({ code: 'missing_api_key' }));
    expect(() => registry.authenticate('')).toThrow(expect.objectContaining({ code: 'missing_api_key' }));
    for (const wrong of ['server', `${apiKey}x`, apiKey.slice(0, -1)]) {
      expect(() => registry.authenticate(wrong)).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
    }
    await registry.delete(id);
    expect(() => registry.authenticate(apiKey)).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
    expect(() => registry.get(id)).toThrow(expect.objectContaining({ code: 'tenant_not_found' }));
  });

  it('are loaded as earlier versions kept them, and keep what they did', async () => {
    const kept: StoredTenant[] = [];
    const storage = { saveTenant: async (tenant: StoredTenant) => void kept.push(tenant), deleteTenant: async () => undefined };
    const first = new TenantRegistry(storage, 'k');
    const { apiKey: _, keyPrefix: __, ...old } = await first.create({ name: 'acme' });
    const registry = new TenantRegistry(storage, 'k');
    registry.load({ ...old, keyDigest: 'ab' });
    await registry.noteGone(old.id, { eventsProcessed: 7, outputEventsEmitted: 2 });
    await registry.noteGone(old.id, { eventsProcessed: 1, outputEventsEmitted: 1 });
    const again = new TenantRegistry(storage, 'k');
    again.load(kept.at(-1) as StoredTenant);
    expect(again.account(old.id).doneBefore).toEqual({ eventsProcessed: 8, outputEventsEmitted: 3 });
    expect(again.get(old.id)).not.toHaveProperty('doneBefore');
  });

  it('have the quota of their plan, or one of their own', async () => {
    const registry = new TenantRegistry(null, 'k');
    expect((await registry.create({ name: 'a' })).quota).toMatchObject({
      maxPipelines: 10,
      maxEventsPerSecond: 10_000,
      maxStreamsPerPipeline: 50,
    });
    expect((await registry.create({ name: 'b', plan: 'free', quota: { maxPipelines: 7 } })).quota).toMatchObject({
      maxPipelines: 7,
      maxEventsPerSecond: 100,
    });
    await expect(registry.create({ name: 'a' })).rejects.toMatchObject({ code: 'name_taken' });
    await expect(registry.create({ name: ' ' })).rejects.toMatchObject({ code: 'validation_error' });
    await expect(registry.create({ name: 'c', plan: 'gold' as never })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('gold'),
    });
    await expect(registry.create({ name: 'c', quota: { maxPipelines: -1 } })).rejects.toMatchObject({ code: 'validation_error' });
    await expect(registry.create({ name: 'c', quota: { pipelines: 1 } as never })).rejects.toMatchObject({ code: 'validation_error' });
    await expect(registry.delete('default')).rejects.toMatchObject({ code: 'forbidden' });
    expect(registry.list().map(({ name }) => name)).toEqual(['default', 'a', 'b']);
  });

  it('are not there when they could not be kept', async () => {
    const storage = { saveTenant: () => Promise.reject(new Error('full')), deleteTenant: async () => undefined };
    const registry = new TenantRegistry(storage, 'k');
    await expect(registry.create({ name: 'a' })).rejects.toThrow('full');
    expect(registry.list()).toHaveLength(1);
  });
});

describe('the meter of events', () => {
  it('takes all of a request or none, second by second', () => {
    const meter = new EventMeter(10);
    expect([meter.take(6, 0), meter.take(5, 999), meter.take(4, 999), meter.take(1, 999)]).toEqual([true, false, true, false]);
    expect([meter.take(10, 1_000), meter.take(11, 2_000)]).toEqual([true, false]);
    meter.correct(4, 2_000);
    expect([meter.take(7, 2_500), meter.take(6, 2_500)]).toEqual([false, true]);
  });

  it('lends of the seconds to come what turns out to be more than the second has', () => {
    const meter = new EventMeter(10);
    meter.take(1, 0);
    meter.correct(19, 0);
    expect([meter.take(1, 999), meter.take(1, 1_999), meter.take(10, 2_000)]).toEqual([false, false, true]);
  });
});

describe('the window of idempotency keys', () => {
  it('gives the first answer for ten minutes, and keeps no refusal', async () => {
    const window = new IdempotencyWindow<string>((answer) => answer.length);
    window.begin('k', { digest: 'd', now: 0 }, Promise.resolve('first'));
    await expect(window.find('k', 'd', 599_999)).resolves.toBe('first');
    expect(() => window.find('k', 'other', 1)).toThrow(expect.objectContaining({ code: 'idempotency_conflict' }));
    expect(window.find('k', 'd', 600_000)).toBeUndefined();
    const refused = Promise.reject(new Error('no'));
    window.begin('r', { digest: 'd', now: 0 }, refused);
    await refused.catch(() => undefined);
    await Promise.resolve();
    expect(window.find('r', 'd', 1)).toBeUndefined();
  });

  it('saves only answers that are there, and knows them again', async () => {
    const window = new IdempotencyWindow<string>((answer) => answer.length);
    window.begin('there', { digest: 'd', now: 0 }, Promise.resolve('yes'));
    window.begin('under way', { digest: 'd', now: 0 }, new Promise(() => undefined));
    window.complete('there', 'yes');
    const saved = JSON.parse(JSON.stringify(window.save(599_999)));
    expect(saved).toEqual([['there', 'd', 0, 'yes']]);
    const again = new IdempotencyWindow<string>((answer) => answer.length);
    again.load(saved, 5_000_000);
    await expect(again.find('there', 'd', 5_000_001)).resolves.toBe('yes');
    expect(again.find('there', 'd', 5_600_000)).toBeUndefined();
  });

  it('saves no answer any more after ten minutes, though no further key has come', () => {
    const window = new IdempotencyWindow<string>((answer) => answer.length);
    window.begin('k', { digest: 'd', now: 0 }, Promise.resolve('yes'));
    window.complete('k', 'yes');
    window.forget(599_999);
    expect(window.save(599_999)).toHaveLength(1);
    expect(window.save(600_000)).toEqual([]);
  });

  it('forgets the oldest when the answers take too much room', () => {
    const window = new IdempotencyWindow<string>(() => 30_000_000);
    for (const key of ['a', 'b', 'c']) {
      window.begin(key, { digest: 'd', now: 0 }, Promise.resolve(key));
      window.complete(key, key);
    }
    expect([window.find('a', 'd', 1), window.find('b', 'd', 1) === undefined]).toEqual([undefined, false]);
  });
});

describe('latencies', () => {
  it('have quantiles within a tenth of what they are', () => {
    const latency = new Latency();
    for (let us = 1; us <= 10_000; us++) latency.add(us, 1);
    const { p50Us, p95Us, p99Us } = latency.metrics();
    for (const [found, right] of [
      [p50Us, 5_000],
      [p95Us, 9_500],
      [p99Us, 9_900],
    ] as const) {
      expect(Math.abs(found - right) / right).toBeLessThan(0.12);
    }
    expect(new Latency().metrics()).toEqual({ p50Us: 0, p95Us: 0, p99Us: 0 });
  });

  it('stand in the bucket whose bound they do not exceed', () => {
    const histogram = new LatencyHistogram();
    for (const seconds of [0.0001, 0.00011, 1, 2]) histogram.add(seconds, 1);
    expect([...histogram.counts]).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 1, 1]);
    expect(histogram.sum).toBeCloseTo(3.00021);
  });
});

describe('strikes', () => {
  it('count within ten minutes, are shown for one, and leave a suspect', () => {
    const strikes = new Strikes();
    strikes.add(0, 'a loop');
    strikes.add(1, 'a loop');
    expect([strikes.verdict(2), strikes.shown(2), strikes.shown(70_000)]).toEqual([undefined, 'an event was given up: a loop', undefined]);
    strikes.add(2, 'a loop');
    expect(strikes.verdict(3)).toContain('3 events were given up');
    expect(strikes.verdict(700_000)).toBeUndefined();
    strikes.forgive();
    expect([strikes.verdict(3), strikes.isSuspect]).toEqual([undefined, true]);
  });
});

describe('drops over a budget', () => {
  it('are shown for a minute after the last one, by stream and limit', () => {
    const drops = new BudgetDrops();
    const drop = (stream: string, reason: string, count: number) => ({ stream, reason, count });
    expect(drops.shown(0)).toBeUndefined();
    drops.add(0, [drop('S', 'max_runs', 1)]);
    expect(drops.shown(1)).toBe('a state budget was hit: S dropped 1 run over .max_runs');
    drops.add(50_000, [drop('S', 'max_runs', 2), drop('T', 'subsets_limit', 1)]);
    expect(drops.shown(100_000)).toBe(
      'a state budget was hit: S dropped 3 runs over .max_runs; T dropped 1 match over the limit of .subsets',
    );
    expect(drops.shown(110_000)).toBeUndefined();
    drops.add(120_000, [drop('S', 'max_closure', 1)]);
    expect(drops.shown(120_001)).toBe('a state budget was hit: S dropped 1 run over .max_closure');
    drops.forgive();
    expect(drops.shown(120_001)).toBeUndefined();
  });

  it('make few texts, of which each names few streams', () => {
    const drops = new BudgetDrops();
    const texts = new Set<string | undefined>();
    for (let n = 0; n < 5_000; n++) {
      drops.add(n, [{ stream: 'S', reason: 'max_runs', count: 1 }]);
      texts.add(drops.shown(n));
    }
    expect(texts.size).toBeLessThan(40);
    expect(drops.shown(5_000)).toBe('a state budget was hit: S dropped 5,000 or more runs over .max_runs');
    for (let n = 0; n < 9; n++) drops.add(5_000, [{ stream: `S${n}`, reason: 'max_runs', count: 1 }]);
    expect(drops.shown(5_000)).toMatch(/S1 dropped 1 run over .max_runs; 7 more like these$/);
  });
});

describe('the life of a pipeline', () => {
  it('follows its table, in which every state can be left and reached', () => {
    expect(() => requireTransition('running', 'draining')).not.toThrow();
    expect(() => requireTransition('stopped', 'running')).toThrow('a pipeline that is stopped does not become running');
    const reachable = new Set<string>(Object.values(pipelineTransitions).flat());
    expect([...reachable].sort()).toEqual(Object.keys(pipelineTransitions).sort());
  });
});
