import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { dropWebSocketClients, WebSocketClient } from '../clients/websocket-client.ts';
import { hot, reading, Service, serverKey, sha256, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

describe('POST /api/v1/tenants', () => {
  it('answers 201 with the key, which lists never show', async () => {
    const name = uniqueName();
    const { status, body } = await service.post('/api/v1/tenants', { name });
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: expect.any(String), name, api_key: expect.any(String), plan: 'default' });
    const list = await service.get('/api/v1/tenants?limit=1000');
    expect(list.text).not.toContain(body.api_key);
    expect(list.body.tenants.find(({ id }: { id: string }) => id === body.id).key_digest).toBe(sha256(body.api_key).slice(0, 8));
    expect((await service.get(`/api/v1/tenants/${body.id}`)).text).not.toContain(body.api_key);
  });

  it.each([
    ['free', 2, 100, 5],
    ['default', 10, 10_000, 50],
    ['pro', 20, 50_000, 100],
    ['enterprise', 1_000, 500_000, 500],
  ])('gives the plan %s its quotas', async (plan, pipelines, events, streams) => {
    const { body } = await service.post('/api/v1/tenants', { name: uniqueName(), plan });
    expect(body.quota).toMatchObject({ max_pipelines: pipelines, max_events_per_second: events, max_streams_per_pipeline: streams });
  });

  it('takes a quota over the plan', async () => {
    const { body } = await service.post('/api/v1/tenants', { name: uniqueName(), plan: 'free', quota: { max_pipelines: 7 } });
    expect(body.quota).toMatchObject({ max_pipelines: 7, max_events_per_second: 100 });
  });

  it.each([
    [{}],
    [{ name: '' }],
    [{ name: 'x', plan: 'gold' }],
    [{ name: 'x', quota: { max_pipelines: -1 } }],
    [{ name: 'x', key: 'mine' }],
  ])('answers %o with 400', async (body) => {
    expect(await service.post('/api/v1/tenants', body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('answers a name that is taken with 409', async () => {
    const name = uniqueName();
    await service.post('/api/v1/tenants', { name });
    expect(await service.post('/api/v1/tenants', { name })).toMatchObject({ status: 409, body: { code: 'name_taken' } });
  });
});

describe('a name', () => {
  it('has as many characters as its schema says, whatever they take in memory', async () => {
    const [longest, longer] = ['🌍'.repeat(128), '🌍'.repeat(129)];
    for (const [path, more] of [
      ['/api/v1/tenants', {}],
      ['/api/v1/pipelines', { source: hot }],
    ] as const) {
      expect(await service.post(path, { name: longest, ...more })).toMatchObject({ status: 201, body: { name: longest } });
      expect(await service.post(path, { name: longer, ...more })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    }
  });
});

describe('a tenant that is deleted', () => {
  it('has no WebSocket any more, and others keep theirs', async () => {
    const [gone, other] = [await service.tenant(), await service.tenant()];
    const open = (key: string) => WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, [], { 'x-api-key': key });
    const clients = [await open(gone.key), await open(gone.key)];
    const others = [await open(other.key), await open(serverKey)];
    expect((await service.request('DELETE', `/api/v1/tenants/${gone.id}`)).status).toBe(200);
    for (const client of clients) await client.until(({ closeCode }) => closeCode !== undefined);
    expect(clients.map(({ closeCode }) => closeCode)).toEqual([1008, 1008]);
    for (const client of others) expect(await client.ask({ type: 'ping' }, 'pong')).toEqual({ type: 'pong' });
    dropWebSocketClients();
  });
});

describe('a sink of a tenant', () => {
  const hook = (url: string) => `connector Hook = http (url: "${url}")\n${hot.trimEnd()}.to(Hook)\n`;

  it('reaches public addresses only: another is refused at deployment', async () => {
    const { key } = await service.tenant();
    const body = { name: uniqueName(), source: hook('http://169.254.169.254/latest/meta-data') };
    const refused = await service.post('/api/v1/pipelines', body, { key });
    expect(refused).toMatchObject({ status: 502, body: { code: 'connector_error', hint: expect.stringContaining('--tenant-networks') } });
    expect((await service.get('/api/v1/pipelines', { key })).body.total).toBe(0);
  });

  it('makes a dead letter of what goes to a name that means such an address', async () => {
    const { key } = await service.tenant();
    const path = await service.deploy(hook('http://localhost:9/x'), { key });
    await service.post(`${path}/events`, reading(40), { key });
    await vi.waitFor(async () => {
      const { body } = await service.get(`${path}/dlq`, { key });
      expect(body.entries).toMatchObject([{ connector: 'Hook', code: 'forbidden_address', attempts: 1 }]);
    });
  });

  it("may reach every machine when it is the server's own", async () => {
    const { status } = await service.post('/api/v1/pipelines', { name: uniqueName(), source: hook('http://127.0.0.1:9/x') });
    expect(status).toBe(201);
  });
});

describe('DELETE /api/v1/tenants/{id}', () => {
  it('takes its pipelines and its key with it', async () => {
    const { id, key } = await service.tenant();
    await service.deploy(hot, { key });
    expect((await service.delete(`/api/v1/tenants/${id}`)).body).toEqual({ deleted: true });
    expect(await service.get('/api/v1/pipelines', { key })).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    expect(await service.get(`/api/v1/tenants/${id}`)).toMatchObject({ status: 404, body: { code: 'tenant_not_found' } });
    expect(await service.delete(`/api/v1/tenants/${id}`)).toMatchObject({ status: 404, body: { code: 'tenant_not_found' } });
  });

  it('is forbidden for the tenant of the server itself', async () => {
    expect(await service.delete('/api/v1/tenants/default')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await service.get('/api/v1/usage')).status).toBe(200);
  });
});

describe('GET /api/v1/usage', () => {
  it('answers what the tenant has used, and its quota', async () => {
    const { id, key } = await service.tenant({ plan: 'pro' });
    const path = await service.deploy(hot, { key });
    await service.post(`${path}/events-batch`, { events: [reading(10), reading(40)] }, { key });
    expect((await service.get('/api/v1/usage', { key })).body).toEqual({
      tenant_id: id,
      tenant_name: expect.any(String),
      events_processed: 2,
      output_events_emitted: 1,
      active_pipelines: 1,
      events_rejected: 0,
      requests_rejected: 0,
      quota: { max_pipelines: 20, max_events_per_second: 50_000, max_streams_per_pipeline: 100, max_state_bytes: expect.any(Number) },
    });
  });

  it('of the key of the server is that of the tenant default, which has the plan enterprise', async () => {
    expect((await service.get('/api/v1/usage')).body).toMatchObject({ tenant_id: 'default', quota: { max_pipelines: 1_000 } });
  });
});

describe('two tenants', () => {
  it('never see anything of each other', async () => {
    const [ann, ben] = [await service.tenant(), await service.tenant()];
    const secret = uniqueName();
    const path = await service.deploy(hot, { key: ann.key, name: secret });
    await service.post(`${path}/events`, reading(40), { key: ann.key });
    for (const at of ['/api/v1/pipelines', '/api/v1/usage']) expect((await service.get(at, { key: ben.key })).text).not.toContain(secret);
    expect((await service.get('/api/v1/pipelines', { key: ben.key })).body.total).toBe(0);
    expect((await service.get('/api/v1/usage', { key: ben.key })).body.events_processed).toBe(0);
    await service.deploy(hot, { key: ben.key, name: secret });
  });

  it('have no key in any answer or log line', async () => {
    const { key } = await service.tenant();
    await service.deploy(hot, { key });
    const withoutCreation = service.log.join('');
    expect(withoutCreation).not.toContain(key);
    expect(withoutCreation).not.toContain(serverKey);
  });
});

describe('every route', () => {
  it('answers 401 without a key and with a wrong one, unless it is open', async () => {
    const open = ['/', '/health', '/ready'];
    for (const { method, path, access } of service.server.routes) {
      const at = path.replace('{id}', 'none');
      for (const [key, code] of [
        [null, 'missing_api_key'],
        ['wrong', 'invalid_api_key'],
      ] as const) {
        const { status, body } = await service.request(method, at, { key, ...(method === 'POST' ? { body: {} } : {}) });
        if (access === 'open') expect(open).toContain(path);
        else expect([method, path, status, body.code]).toEqual([method, path, 401, code]);
      }
    }
  });

  it('of the administrator answers 403 to the key of a tenant', async () => {
    const { key } = await service.tenant();
    const admin = service.server.routes.filter(({ access }) => access === 'admin');
    expect(admin.length).toBeGreaterThan(0);
    for (const { method, path } of admin) {
      const { status, body } = await service.request(method, path.replace('{id}', 'default'), {
        key,
        ...(method === 'POST' ? { body: { name: 'x' } } : {}),
      });
      expect([method, path, status, body.code]).toEqual([method, path, 403, 'forbidden']);
    }
  });
});

describe('what a tenant has used', () => {
  it('never goes down: not when a pipeline is deleted or restored, nor at a restart; and since when it is there stays', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'cep-usage-'));
    const first = await Service.start({ stateDir });
    const { key } = await first.tenant();
    const program = 'event A:\n    x: int\n\nstream S = A.emit(x: x)\n';
    const [a, b] = [await first.deploy(program, { name: 'a', key }), await first.deploy(program, { name: 'b', key })];
    const send = async (path: string, count: number): Promise<void> => {
      const events = Array.from({ length: count }, () => ({ event_type: 'A', fields: { x: 1 } }));
      expect((await first.post(`${path}/events-batch?outputs=false`, { events }, { key })).body).toMatchObject({ accepted: count });
    };
    const used = async (service: Service) => {
      const { events_processed, output_events_emitted } = (await service.get('/api/v1/usage', { key })).body;
      return [events_processed, output_events_emitted];
    };
    await send(a, 100);
    await send(b, 5);
    await first.request('DELETE', a, { key });
    expect(await used(first)).toEqual([105, 105]);
    const { body: checkpoint } = await first.post(`${b}/checkpoint`, {}, { key });
    await send(b, 50);
    await first.post(`${b}/restore`, checkpoint, { key });
    expect((await first.get(b, { key })).body.events_processed).toBe(5);
    expect(await used(first)).toEqual([155, 155]);
    const { body: before } = await first.get('/api/v1/tenants');
    await first.close();

    const second = await Service.start({ stateDir });
    try {
      expect(await used(second)).toEqual([155, 155]);
      expect((await second.get('/api/v1/tenants')).body).toEqual(before);
      await second.request('DELETE', b, { key });
      expect(await used(second)).toEqual([155, 155]);
    } finally {
      await second.close();
      rmSync(stateDir, { recursive: true });
    }
  });
});
