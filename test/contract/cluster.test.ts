import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GroupMember } from '../../coordinator/cluster/group-member.ts';
import { MemoryMember } from '../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../coordinator/cluster/replica.ts';
import type { RaftPeerStatus, RaftStatus } from '../../coordinator/raft/group.ts';
import { Coordinator, coordinatorKey } from './coordinator.ts';
import { uniqueName } from './service.ts';

let coordinator: Coordinator;

beforeAll(async () => {
  coordinator = await Coordinator.start();
});

afterAll(() => coordinator.close());

const path = '/api/v1/cluster/connectors';
const name = (): string => uniqueName().replace('-', '_');
const kafka = (more: object = {}): { name: string; connector_type: string; params: object } => ({
  ...{ name: name(), connector_type: 'kafka', params: { brokers: 'k:9092' } },
  ...more,
});

describe('a connector of the cluster', () => {
  it('is made, shown, changed and removed', async () => {
    const connector = kafka({ description: 'orders' });
    const at = `${path}/${connector.name}`;
    const made = await coordinator.post(path, connector);
    expect([made.status, made.body]).toEqual([
      201,
      { ...connector, version: 1, created_at: expect.any(Number), updated_at: expect.any(Number) },
    ]);
    expect((await coordinator.get(at)).body).toEqual(made.body);
    const { name: _name, ...definition } = kafka({ params: { brokers: 'other:9092', topic: 'a' } });
    const changed = await coordinator.request('PUT', at, { body: definition });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { name: connector.name, version: 2, params: { topic: 'a' }, created_at: made.body.created_at },
    ]);
    expect((await coordinator.request('DELETE', at)).body).toEqual({ deleted: true });
    for (const method of ['GET', 'DELETE']) {
      expect(await coordinator.request(method, at)).toMatchObject({ status: 404, body: { code: 'connector_not_found' } });
    }
    expect(await coordinator.request('PUT', at, { body: definition })).toMatchObject({
      status: 404,
      body: { code: 'connector_not_found' },
    });
  });

  it('has a name that no other has', async () => {
    const connector = kafka();
    await coordinator.post(path, connector);
    expect(await coordinator.post(path, connector)).toMatchObject({ status: 409, body: { code: 'name_taken' } });
  });

  it.each([
    ['no body', undefined],
    ['a name that is none', kafka({ name: 'a-b' })],
    ['an unknown type', kafka({ connector_type: 'kafak' })],
    ['an unknown parameter', kafka({ params: { brokers: 'a', color: 'red' } })],
    ['a member too many', { ...kafka(), owner: 'me' }],
    ['parameters that are no object', kafka({ params: [] })],
    ['too much of it', kafka({ params: { brokers: 'a', topic: 'x'.repeat(20_000) } })],
  ])('is refused with %s', async (_what, body) => {
    expect(await coordinator.post(path, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('is refused with a secret in clear, which is said nowhere', async () => {
    const secret = 'hunter2hunter2';
    const { status, text } = await coordinator.post(path, kafka({ params: { brokers: 'a', sasl_password: secret } }));
    expect([status, text.includes(secret), text.includes('profile')]).toEqual([400, false, true]);
    const sealed = `ENC[AES256-GCM,key:01234567,nonce:${'n'.repeat(16)},data:abc,tag:${'t'.repeat(22)}]`;
    const kept = kafka({ params: { brokers: 'a', sasl_password: sealed } });
    expect((await coordinator.post(path, kept)).status).toBe(201);
    // Whoever copies connectors has what is needed to make them again.
    expect((await coordinator.get(`${path}/${kept.name}`)).body).toMatchObject(kept);
  });

  it('keeps parameters whose names mean something to programs', async () => {
    const connector = { name: name(), connector_type: 'http', params: { url: 'http://a', headers: {} } };
    const text = JSON.stringify(connector).replace('"headers":{}', '"__proto__":{"a":1}');
    expect(await coordinator.post(path, text)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});

describe('the list of connectors', () => {
  it('is an array in the order of creation, in pages, with the number of all', async () => {
    const own = await Coordinator.start({ apiKey: null });
    try {
      for (const one of ['b', 'a', 'c']) await own.post(path, kafka({ name: one }));
      const list = async (query: string): Promise<unknown> => {
        const { body, headers } = await own.get(`${path}${query}`);
        return [body.map((entry: { name: string }) => entry.name).join(''), headers.get('x-total-count')];
      };
      expect([await list(''), await list('?limit=2'), await list('?limit=2&offset=2')]).toEqual([
        ['bac', '3'],
        ['ba', '3'],
        ['c', '3'],
      ]);
      expect(await own.get(`${path}?limit=0`)).toMatchObject({ status: 400, body: { code: 'invalid_limit' } });
    } finally {
      await own.close();
    }
  });
});

describe('an Idempotency-Key', () => {
  it('gives the first answer again, whatever has happened since, and does nothing twice', async () => {
    const headers = { 'idempotency-key': uniqueName() };
    const connector = kafka();
    const first = await coordinator.post(path, connector, { headers });
    await coordinator.request('DELETE', `${path}/${connector.name}`);
    const again = await coordinator.post(path, connector, { headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await coordinator.get(`${path}/${connector.name}`)).status).toBe(404);
  });

  it('is refused with another request', async () => {
    const headers = { 'idempotency-key': uniqueName() };
    await coordinator.post(path, kafka(), { headers });
    expect(await coordinator.post(path, kafka(), { headers })).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
  });

  it('keeps no refusal: the request can be made good', async () => {
    const headers = { 'idempotency-key': uniqueName() };
    const connector = kafka();
    await coordinator.post(path, connector);
    expect((await coordinator.post(path, connector, { headers })).status).toBe(409);
    await coordinator.request('DELETE', `${path}/${connector.name}`);
    expect((await coordinator.post(path, connector, { headers })).status).toBe(201);
  });

  it('belongs to one request of two that come at once', async () => {
    const headers = { 'idempotency-key': uniqueName() };
    const connector = kafka();
    const answers = await Promise.all([1, 2, 3].map(() => coordinator.post(path, connector, { headers })));
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(Array(3).fill(`201 ${answers[0]?.text}`));
  });

  it.each(['', 'x'.repeat(300)])('is refused when it is %j', async (key) => {
    const { status } = await coordinator.post(path, kafka(), { headers: { 'idempotency-key': key } });
    expect(status).toBe(400);
  });
});

describe('a read', () => {
  it('says how fresh it is', async () => {
    const seen = async (query: string): Promise<(string | null)[]> => {
      const { headers } = await coordinator.get(`${path}${query}`);
      return [headers.get('x-cep-consistency'), /^\d+$/.test(headers.get('x-cep-read-index') ?? '') ? 'index' : null];
    };
    expect([await seen(''), await seen('?consistency=strong'), await seen('?consistency=stale')]).toEqual([
      ['local', 'index'],
      ['strong', 'index'],
      ['stale', 'index'],
    ]);
    expect(await coordinator.get(`${path}?consistency=maybe`)).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });
});

describe('a key', () => {
  it.each([
    [null, 'missing_api_key'],
    ['wrong', 'invalid_api_key'],
    [`${coordinatorKey}x`, 'invalid_api_key'],
  ])('%j is answered 401 %s', async (key, code) => {
    for (const at of [path, '/api/v1/cluster/raft/status', '/metrics']) {
      expect(await coordinator.get(at, { key })).toMatchObject({ status: 401, body: { code } });
    }
    expect(await coordinator.post(path, kafka(), { key })).toMatchObject({ status: 401, body: { code } });
  });

  it('is not needed by probes and the documentation', async () => {
    for (const at of ['/', '/health', '/ready', '/docs', '/openapi.json'])
      expect((await coordinator.get(at, { key: null })).status).toBe(200);
  });

  it('is not needed where none is configured', async () => {
    const open = await Coordinator.start({ apiKey: null });
    try {
      expect((await open.post(path, kafka())).status).toBe(201);
      expect((await open.get('/metrics')).text).toContain('cep_http_requests_total');
    } finally {
      await open.close();
    }
  });
});

describe('the probes', () => {
  it('say that there are no workers, and that the coordinator is ready', async () => {
    expect((await coordinator.get('/health')).body).toMatchObject({
      ...{ status: 'no_workers', role: 'coordinator', version: '1.2.3', pipeline_groups: 0, active_migrations: 0 },
      workers: { total: 0, ready: 0, unhealthy: 0, draining: 0 },
    });
    expect((await coordinator.get('/ready')).body).toMatchObject({ status: 'ready' });
  });

  it('say that a coordinator is draining, which takes no more requests', async () => {
    const own = await Coordinator.start();
    try {
      own.server.drain();
      expect((await own.get('/health')).status).toBe(200);
      expect(await own.get('/ready')).toMatchObject({ status: 503, body: { code: 'not_ready', status: 'not_ready', reason: 'draining' } });
      expect(await own.post(path, kafka())).toMatchObject({ status: 503, body: { code: 'not_ready' } });
    } finally {
      await own.close();
    }
  });
});

describe('the metrics', () => {
  it('show the state of the cluster, every status of it', async () => {
    const own = await Coordinator.start();
    try {
      await own.post(path, kafka());
      const { text } = await own.get('/metrics');
      expect(text).toMatch(/^cep_cluster_connectors 1$/m);
      expect(text).toMatch(/^cep_cluster_pipeline_groups 0$/m);
      expect(text).toMatch(/^cep_cluster_workers\{status="draining"\} 0$/m);
      expect(text).toMatch(/^cep_cluster_deployments\{status="pending"\} 0$/m);
    } finally {
      await own.close();
    }
  });
});

describe('the Raft group of a coordinator on its own', () => {
  it('is itself', async () => {
    const { body } = await coordinator.get('/api/v1/cluster/raft/status');
    expect(body).toMatchObject({
      enabled: false,
      node_id: 1,
      role: 'leader',
      leader_id: 1,
      recovering: false,
      nodes: [{ id: 1, role: 'leader' }],
    });
    expect((await coordinator.get('/api/v1/cluster/raft')).body).toMatchObject({ enabled: false, role: 'leader' });
    expect((await coordinator.get('/api/v1/cluster/raft/members')).body).toMatchObject([{ id: 1, role: 'leader', reachable: true }]);
  });

  it('does not change', async () => {
    const refusal = { status: 409, body: { code: 'member_conflict' } };
    expect(await coordinator.post('/api/v1/cluster/raft/members', { id: 2, url: 'http://a:9100' })).toMatchObject(refusal);
    expect(await coordinator.post('/api/v1/cluster/raft/members/2/promote')).toMatchObject(refusal);
    expect(await coordinator.request('DELETE', '/api/v1/cluster/raft/members/1')).toMatchObject(refusal);
    expect(await coordinator.post('/api/v1/cluster/raft/transfer')).toMatchObject(refusal);
  });
});

describe('a member that has not caught up', () => {
  it('does not vote yet, which says what shows how far it is', async () => {
    const replica = new Replica();
    const learner: RaftPeerStatus = {
      ...{ id: 4, url: 'http://a:9100', role: 'learner', isReachable: true },
      ...{ formatMax: undefined, matchIndex: 0, lag: 5_000 },
    };
    const member = new (class extends MemoryMember {
      override status(): RaftStatus {
        const status = super.status();
        return { ...status, peers: [...status.peers, learner] };
      }
    })({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    const leader = await Coordinator.start({ group: new GroupMember({ member, replica, clock: () => 0 }), isGroup: true });
    const { status, body } = await leader.post('/api/v1/cluster/raft/members/4/promote');
    await leader.close();
    expect([status, body.code, body.error]).toEqual([409, 'member_conflict', 'member 4 has not caught up: it is 5000 entries behind']);
    expect(body.hint).toBe('it may vote once it is at most 1000 entries behind: cep raft status shows how far it is');
  });
});

describe('a program', () => {
  it('is checked, with what it imports', async () => {
    const good = await coordinator.post('/api/v1/cluster/validate', { source: 'stream A = B.emit(x: x)' });
    expect([good.status, good.body.valid, good.body.statements]).toEqual([200, true, 1]);
    const bad = await coordinator.post('/api/v1/cluster/validate', { source: 'stream A = B.where(' });
    expect(bad.body).toMatchObject({ valid: false, diagnostics: [{ severity: 'error', line: 1 }] });
    expect(await coordinator.post('/api/v1/cluster/validate', {})).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('is checked with the connectors of the cluster, as a group would be', async () => {
    const path = '/api/v1/cluster/connectors';
    await coordinator.post(path, { name: 'Checked', connector_type: 'console', params: {} });
    const validate = (body: object) => coordinator.post('/api/v1/cluster/validate', body).then((answer) => answer.body);
    expect(await validate({ source: 'stream A = B.to(Checked)' })).toMatchObject({ valid: true });
    const main = 'import "own.vpl"\nstream A = B.to(Checked)\n';
    const own = { 'own.vpl': 'connector Checked = console ()\n' };
    expect(await validate({ source: main, files: own })).toMatchObject({ valid: true });
    const unknown = await validate({ source: 'stream A = B.to(Other)' });
    expect([unknown.valid, unknown.diagnostics]).toEqual([false, expect.arrayContaining([expect.objectContaining({ code: 'E030' })])]);
    await coordinator.request('DELETE', `${path}/Checked`);
  });
});

describe('the documentation', () => {
  it('describes every route and no other, each once', async () => {
    const { body } = await coordinator.get('/openapi.json', { key: null });
    const described = Object.entries(body.paths).flatMap(([at, methods]) =>
      Object.entries(methods as Record<string, { operationId: string }>).map(([method, { operationId }]) => [
        `${method.toUpperCase()} ${at}`,
        operationId,
      ]),
    );
    expect(described.map(([route]) => route).sort()).toEqual(
      coordinator.server.routes.map((route) => `${route.method} ${route.path}`).sort(),
    );
    expect(new Set(described.map(([, operation]) => operation)).size).toBe(described.length);
  });
});

describe('If-Match', () => {
  it('is refused by every route that changes something, before it changes anything', async () => {
    const connector = kafka();
    await coordinator.post(path, connector);
    const headers = { 'if-match': '"999"' };
    const changing = coordinator.server.routes.filter(({ method }) => method !== 'GET');
    expect(changing.length).toBeGreaterThan(10);
    for (const { method, path: declared } of changing) {
      const answer = await coordinator.request(method, declared.replace(/\{\w+\}/g, connector.name), { headers, body: {} });
      const { status, body } = answer;
      expect([method, declared, status, body.code, body.error]).toEqual([
        ...[method, declared, 400, 'validation_error'],
        expect.stringContaining('If-Match'),
      ]);
    }
    expect((await coordinator.get(`${path}/${connector.name}`)).status).toBe(200);
  });
});
