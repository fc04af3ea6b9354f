import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hot, reading, Service, serverKey, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

describe('an error', () => {
  it('is {error, code, hint?, details?, request_id}, JSON in UTF-8', async () => {
    const { headers, body } = await service.get('/api/v1/pipelines/none', { headers: { 'x-request-id': 'id-1' } });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      error: expect.stringContaining('none'),
      code: 'pipeline_not_found',
      hint: expect.any(String),
      request_id: 'id-1',
    });
  });

  it('has no stack trace', async () => {
    for (const [method, path, body] of [
      ['POST', '/api/v1/pipelines', '{'],
      ['POST', '/api/v1/pipelines', {}],
      ['GET', '/nowhere', undefined],
      ['GET', '/api/v1/pipelines/%00', undefined],
    ] as const) {
      const { text } = await service.request(method, path, { body });
      expect(text).not.toMatch(/\.ts|\.js\b|node_modules|\n\s*at /);
    }
  });
});

describe('the id of a request', () => {
  it('is accepted or made, returned, and in every log line', async () => {
    const given = await service.post('/api/v1/pipelines', { name: uniqueName(), source: hot }, { headers: { 'x-request-id': 'mine-7' } });
    expect(given.headers.get('x-request-id')).toBe('mine-7');
    const lines = service.log.map((line) => JSON.parse(line)).filter(({ request_id }) => request_id === 'mine-7');
    expect(lines.map(({ message }) => message)).toEqual(expect.arrayContaining(['Audit', 'Request answered']));
    expect((await service.get('/health')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is joined by the trace of a traceparent', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await service.get('/api/v1/usage', { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'traced-1' } });
    const line = service.log.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === 'traced-1');
    expect(line).toMatchObject({ trace_id: traceId, span_id: expect.stringMatching(/^[0-9a-f]{16}$/) });
    await service.get('/api/v1/usage', {
      headers: { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'x-request-id': 'traced-2' },
    });
    expect(service.log.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === 'traced-2').trace_id).toBeUndefined();
  });
});

describe('a key', () => {
  it.each([
    ['x-api-key', { 'x-api-key': serverKey }],
    ['Authorization: Bearer', { authorization: `Bearer ${serverKey}` }],
  ])('is taken from %s', async (_name, headers) => {
    expect((await service.get('/api/v1/usage', { key: null, headers })).status).toBe(200);
  });

  it.each([
    [null, 401, 'missing_api_key'],
    ['wrong', 401, 'invalid_api_key'],
    [`${serverKey} `.trimEnd().slice(0, -1), 401, 'invalid_api_key'],
  ])('%s is answered %s %s', async (key, status, code) => {
    const answer = await service.get('/api/v1/usage', { key });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('that may not do something is answered 403 forbidden', async () => {
    const { key } = await service.tenant();
    expect(await service.get('/api/v1/tenants', { key })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it("does not reach another tenant's resource, as if it did not exist", async () => {
    const path = await service.deploy(hot);
    const { key } = await service.tenant();
    const foreign = await service.get(path, { key });
    const absent = await service.get('/api/v1/pipelines/p_0000000000000000', { key });
    expect([foreign.status, foreign.body.code]).toEqual([404, 'pipeline_not_found']);
    const strip = (text: string) => text.replace(/p_[0-9a-f]+/g, 'ID').replace(/"request_id":"[^"]*"/, '');
    expect(strip(foreign.text)).toBe(strip(absent.text));
  });

  it('is not needed by /health, /ready, /docs and /openapi.json', async () => {
    for (const path of ['/health', '/health?t=1', '/ready', '/ready?t=1', '/docs', '/openapi.json'])
      expect((await service.get(path, { key: null })).status).toBe(200);
  });
});

describe('a list', () => {
  it('has total and pagination, a stable order, and takes limit and offset', async () => {
    const { key } = await service.tenant();
    for (const name of ['a', 'b', 'c']) await service.deploy(hot, { key, name });
    const names = async (query: string) => {
      const { body } = await service.get(`/api/v1/pipelines${query}`, { key });
      return [body.pipelines.map(({ name }: { name: string }) => name).join(''), body.total, body.pagination];
    };
    expect(await names('')).toEqual(['abc', 3, { total: 3, limit: 50, offset: 0, has_more: false }]);
    expect(await names('?limit=2')).toEqual(['ab', 3, { total: 3, limit: 2, offset: 0, has_more: true }]);
    expect(await names('?limit=2&offset=2')).toEqual(['c', 3, { total: 3, limit: 2, offset: 2, has_more: false }]);
    expect(await names('?offset=9')).toEqual(['', 3, { total: 3, limit: 50, offset: 9, has_more: false }]);
  });

  it.each([
    ['limit=1001', 'invalid_limit'],
    ['limit=0', 'invalid_limit'],
    ['limit=x', 'invalid_limit'],
    ['offset=-1', 'invalid_offset'],
    ['offset=x', 'invalid_offset'],
  ])('with %s is answered 400 %s', async (query, code) => {
    expect(await service.get(`/api/v1/pipelines?${query}`)).toMatchObject({ status: 400, body: { code } });
  });
});

describe('a body', () => {
  it.each([
    ['/api/v1/pipelines', 1_048_576],
    ['PIPELINE/events', 1_048_576],
    ['PIPELINE/reload', 1_048_576],
    ['PIPELINE/events-batch', 16_777_216],
    ['PIPELINE/restore', 16_777_216],
  ])('of %s is limited to %i bytes', async (path, bytesMax) => {
    const at = path.replace('PIPELINE', await service.deploy(hot));
    const body = (size: number) => `{"x":"${'y'.repeat(size - 8)}"}`;
    expect((await service.post(at, body(bytesMax))).status).not.toBe(413);
    expect(await service.post(at, body(bytesMax + 1))).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large', error: `found a body of ${bytesMax + 1} bytes, expected at most ${bytesMax} bytes` },
    });
  });

  it.each(['/api/v1/pipelines', 'PIPELINE/events', 'PIPELINE/events-batch', 'PIPELINE/restore'])(
    'of %s that is not UTF-8 is answered 400',
    async (path) => {
      const at = path.replace('PIPELINE', await service.deploy(hot));
      const bytes = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
      expect((await service.post(at, bytes)).status).toBe(400);
    },
  );
});

describe('an Idempotency-Key', () => {
  const headers = (): Record<string, string> => ({ 'idempotency-key': uniqueName() });

  it('gives the first answer again, and does nothing twice', async () => {
    const request = { name: uniqueName(), source: hot };
    const same = headers();
    const first = await service.post('/api/v1/pipelines', request, { headers: same });
    const second = await service.post('/api/v1/pipelines', request, { headers: same });
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  });

  it.each([
    ['events', (value: number) => reading(value)],
    ['events-batch', (value: number) => ({ events: [reading(value)] })],
  ])('of %s counts once', async (action, body) => {
    const path = await service.deploy(hot);
    const same = headers();
    const first = await service.post(`${path}/${action}`, body(40), { headers: same });
    const second = await service.post(`${path}/${action}`, body(40), { headers: same });
    expect([first.status, second.body]).toEqual([200, first.body]);
    expect((await service.get(path)).body.events_processed).toBe(1);
    const conflict = await service.post(`${path}/${action}`, body(41), { headers: same });
    expect([conflict.status, conflict.body.code]).toEqual([422, 'idempotency_conflict']);
  });

  it('of a deployment with another body is answered 422', async () => {
    const same = headers();
    await service.post('/api/v1/pipelines', { name: uniqueName(), source: hot }, { headers: same });
    const conflict = await service.post('/api/v1/pipelines', { name: uniqueName(), source: hot }, { headers: same });
    expect([conflict.status, conflict.body.code]).toEqual([422, 'idempotency_conflict']);
  });

  it('belongs to its tenant', async () => {
    const same = headers();
    const { key } = await service.tenant();
    const request = { name: uniqueName(), source: hot };
    const first = await service.post('/api/v1/pipelines', request, { headers: same });
    const second = await service.post('/api/v1/pipelines', request, { headers: same, key });
    expect([second.status, second.body.id === first.body.id]).toEqual([201, false]);
  });

  it('makes a repeat wait for the first, which is under way', async () => {
    const request = { name: uniqueName(), source: hot };
    const same = headers();
    const answers = await Promise.all([1, 2, 3].map(() => service.post('/api/v1/pipelines', request, { headers: same })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
  });

  it('keeps no failure: the request can be made good', async () => {
    const same = headers();
    const name = uniqueName();
    expect((await service.post('/api/v1/pipelines', { name, source: 'stream X = ' }, { headers: same })).status).toBe(400);
    expect((await service.post('/api/v1/pipelines', { name, source: hot }, { headers: same })).status).toBe(201);
  });
});

describe('the documentation', () => {
  it('describes every route of the server and no other', async () => {
    const { body } = await service.get('/openapi.json', { key: null });
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(service.server.routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('names each operation once, and refers to nothing that is not there', async () => {
    const { body, text } = await service.get('/openapi.json', { key: null });
    expect(body.openapi).toBe('3.1.0');
    const operations = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods as object).map(({ operationId }) => operationId),
    );
    expect(new Set(operations).size).toBe(operations.length);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g))
      expect(body.components.schemas).toHaveProperty(name as string);
  });
});

describe('If-Match', () => {
  const stale = { 'if-match': '"999"' };

  it.each(['DELETE ', 'POST /stop', 'POST /start', 'POST /reload', 'POST /watch', 'POST /restore'])(
    'of what there is no longer is answered 412 to %s, and nothing is changed',
    async (asked) => {
      const path = await service.deploy(hot);
      const [method = '', rest = ''] = asked.split(' ');
      const bodies: Record<string, unknown> = {
        '/reload': { source: hot.replace('30', '50') },
        '/watch': { enabled: true },
        '/restore': (await service.post(`${path}/checkpoint`)).body,
      };
      if (rest === '/start') await service.post(`${path}/stop`);
      const { uptime_secs: _, ...before } = (await service.get(path)).body;
      const body = bodies[rest];
      const refused = await service.request(method, `${path}${rest}`, { headers: stale, body });
      expect(refused).toMatchObject({ status: 412, body: { code: 'version_conflict', details: { version: 1 } } });
      expect((await service.get(path)).body).toMatchObject(before);
      expect((await service.request(method, `${path}${rest}`, { headers: { 'if-match': '"7", "1"' }, body })).status).toBe(200);
    },
  );

  it('is refused by every other route that changes something, before it changes anything', async () => {
    const others = service.server.routes.filter(({ method, isConditional }) => method !== 'GET' && !isConditional);
    expect(others.length).toBeGreaterThan(10);
    for (const { method, path } of others) {
      const answer = await service.request(method, path.replace(/\{\w+\}/g, 'x'), { headers: stale, body: {} });
      const { status, body } = answer;
      expect([method, path, status, body.code, body.error]).toEqual([
        method,
        path,
        400,
        'validation_error',
        expect.stringContaining('If-Match'),
      ]);
    }
  });
});

describe('a path or a method that is not there', () => {
  it('is answered 404 not_found and 405 method_not_allowed with Allow', async () => {
    expect(await service.get('/api/v2/pipelines')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const wrong = await service.request('PUT', '/api/v1/pipelines');
    expect([wrong.status, wrong.body.code, wrong.headers.get('allow')]).toEqual([405, 'method_not_allowed', 'POST, GET, HEAD, OPTIONS']);
  });
});

describe('without a configured key', () => {
  it('everything works, as the tenant default with the plan enterprise', async () => {
    const open = await Service.start({ apiKey: null });
    try {
      const path = await open.deploy(hot);
      expect((await open.post(`${path}/events`, reading(40))).body.output_events).toHaveLength(1);
      const { body } = await open.get('/api/v1/usage');
      expect([body.tenant_id, body.quota.max_pipelines]).toEqual(['default', 1000]);
      expect((await open.get('/api/v1/usage', { key: 'whatever' })).status).toBe(200);
      expect((await open.get('/api/v1/tenants')).status).toBe(200);
    } finally {
      await open.close();
    }
  });
});

describe('with a rate limit', () => {
  it('a client that goes over it is answered 429 with the time to wait, probes never', async () => {
    const limited = await Service.start({ rateLimit: 2 });
    try {
      const answers = [];
      for (let i = 0; i < 6; i++) answers.push(await limited.get('/api/v1/usage'));
      const refused = answers.find(({ status }) => status === 429);
      expect(answers.slice(0, 4).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(refused?.body).toMatchObject({ code: 'rate_limited', retry_after_seconds: 1 });
      expect(refused?.headers.get('retry-after')).toBe('1');
      for (let i = 0; i < 10; i++) expect((await limited.get('/health')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });
});
