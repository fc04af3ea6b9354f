import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { errorCodes } from '../../../shared/errors/codes.ts';
import { CepError } from '../../../shared/errors/error.ts';
import { createHttpApp } from '../../../shared/http/http-app.ts';
import type { HttpAppOptions } from '../../../shared/http/http-app-options.ts';
import { flagParameter, limitParameter, offsetParameter, requiredTextParameter } from '../../../shared/http/query.ts';
import { RequestShares } from '../../../shared/http/request-shares.ts';
import { type Route, routeMaker } from '../../../shared/http/route.ts';
import { limits } from '../../../shared/limits.ts';
import { Telemetry } from '../../../shared/telemetry/internal-events.ts';
import { silentLogger } from '../../../shared/telemetry/logger.ts';
import { MetricRegistry } from '../../../shared/telemetry/metric-registry.ts';

interface Person {
  readonly name: string;
}

const route = routeMaker<Person>();
const facts = { summary: 'For the test', tag: 'test', success: { 200: 'anything' } } as const;
const text = Type.Object({ name: Type.String({ minLength: 1 }), size: Type.Optional(Type.Integer()) }, { additionalProperties: false });

let runs = 0;
let onWait = (_signal: AbortSignal): void => undefined;
let endWait = (): void => undefined;
const routes: Route<Person>[] = [
  route({ ...facts, method: 'GET', path: '/probe', operation: 'probe', access: 'open', isProbe: true, handle: () => ({ up: true }) }),
  route({ ...facts, method: 'GET', path: '/scrape', operation: 'scrape', access: 'admin', isProbe: true, handle: () => ({ up: true }) }),
  route({
    ...{ ...facts, method: 'GET', path: '/of-cluster', operation: 'ofCluster', access: 'admin', isOfCluster: true },
    handle: () => ({ up: true }),
  }),
  route({ ...facts, method: 'GET', path: '/open', operation: 'open', access: 'open', handle: () => ({ open: true }) }),
  route({
    ...facts,
    method: 'GET',
    path: '/mine/{id}',
    operation: 'mine',
    access: 'key',
    handle: ({ caller, params }) => ({ name: caller.name, id: params.id }),
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/things/{id}/parts',
    operation: 'partsOfThing',
    access: 'key',
    sharedBy: 'id',
    handle: ({ params }) => params,
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/query-key',
    operation: 'queryKey',
    access: 'key',
    keyInQuery: true,
    handle: ({ caller }) => caller,
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/socket',
    operation: 'openSocket',
    access: 'key',
    keyInQuery: true,
    webSocket: (socket) => socket.terminate(),
  }),
  route({
    ...facts,
    method: 'POST',
    path: '/hooks/{id}',
    operation: 'hook',
    access: 'signature',
    shareOf: ({ id }) => (id === 'unknown' ? undefined : `hooks of ${id}`),
    handle: () => ({ taken: true }),
  }),
  route({
    ...facts,
    method: 'DELETE',
    path: '/all',
    operation: 'deleteAll',
    access: 'admin',
    isAudited: true,
    handle: () => ({ deleted: true }),
  }),
  route({
    ...facts,
    method: 'POST',
    path: '/things',
    operation: 'makeThing',
    access: 'key',
    success: { 201: 'made' },
    body: text,
    idempotency: 'answer',
    handle: ({ body }) => ({ ...body, runs: ++runs }),
  }),
  route({
    ...facts,
    method: 'POST',
    path: '/bytes',
    operation: 'bytes',
    access: 'key',
    bytes: { contentTypes: ['application/json', 'application/x-ndjson'], bytesMax: 2_000_000, schema: text },
    handle: ({ body }) => ({ length: body.length }),
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/large',
    operation: 'large',
    access: 'key',
    isPaced: true,
    handle: () => ({ text: 'x'.repeat(limits.largeAnswersBytesPerSecondMax * 1.2) }),
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/waits',
    operation: 'waits',
    access: 'open',
    handle: ({ signal }) => {
      onWait(signal);
      return new Promise<object>((resolve) => {
        endWait = () => resolve({});
      });
    },
  }),
  route({
    ...facts,
    method: 'POST',
    path: '/full',
    operation: 'full',
    access: 'key',
    bytes: { contentTypes: ['application/json'], bytesMax: 2_000_000, schema: text },
    admit: async ({ caller, params }) => {
      throw new CepError('queue_full', `nothing is taken of ${caller.name} ${JSON.stringify(params)}`, { retryAfterSeconds: 1 });
    },
    handle: () => ({ runs: ++runs }),
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/list',
    operation: 'list',
    access: 'key',
    query: { limit: limitParameter, offset: offsetParameter, full: flagParameter('full', 'All of it.', false) },
    handle: ({ query }) => query,
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/named',
    operation: 'named',
    access: 'key',
    query: { name: requiredTextParameter('name', 'A name.') },
    handle: ({ query }) => query,
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/fails',
    operation: 'fails',
    access: 'open',
    handle: () => {
      throw new Error('at /secret/place.ts:1');
    },
  }),
  route({
    ...facts,
    method: 'GET',
    path: '/busy',
    operation: 'busy',
    access: 'open',
    handle: () => {
      throw new CepError('queue_full', 'full', { retryAfterSeconds: 0.2 });
    },
  }),
];

const people: Readonly<Record<string, Person>> = { 'key-of-ann': { name: 'ann' }, 'key-of-root': { name: 'root' } };
const answers = new Map<string, { digest: string; answer: Promise<unknown> }>();

const options: HttpAppOptions<Person> = {
  routes,
  callers: {
    isAuthenticationOn: true,
    authenticate(key) {
      if (key === undefined) throw new CepError('missing_api_key', 'no key');
      const owner = people[key];
      if (!owner) throw new CepError('invalid_api_key', 'nobody has this key');
      return owner;
    },
    isAdmin: ({ name }) => name === 'root',
    nameOf: ({ name }) => name,
    async once({ caller, key, digest }, action) {
      const known = answers.get(`${caller.name} ${key}`) ?? { digest, answer: action() };
      answers.set(`${caller.name} ${key}`, known);
      if (known.digest !== digest) throw new CepError('idempotency_conflict', 'another request had this key');
      return known.answer as ReturnType<typeof action>;
    },
  },
  telemetry: new Telemetry(silentLogger, new MetricRegistry()),
  about: { title: 'test', version: '1' },
  rateLimit: 0,
  now: () => 0,
  corsOrigins: [],
  refusal: () => undefined,
  hasDocs: true,
};

const apps: FastifyInstance[] = [];
const make = async (changes: Partial<HttpAppOptions<Person>> = {}): Promise<FastifyInstance> => {
  const app = await createHttpApp({ ...options, ...changes });
  apps.push(app);
  return app;
};
const ann = { 'x-api-key': 'key-of-ann' };

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

describe('a route', () => {
  it('cannot be served when it does not declare who may call it', async () => {
    const app = await make();
    app.get('/forgotten', () => 'open to all');
    await expect(app.ready()).rejects.toThrow('the route GET /forgotten does not declare who may call it');
  });

  it.each([
    ['no key', {}, 401, 'missing_api_key'],
    ['a wrong key', { 'x-api-key': 'nobody' }, 401, 'invalid_api_key'],
    ['a bearer that is wrong', { authorization: 'Bearer nobody' }, 401, 'invalid_api_key'],
    ['another kind of authorization', { authorization: 'Basic a2V5' }, 401, 'missing_api_key'],
  ])('that needs a key answers %s with %o', async (_what, headers, status, code) => {
    const answer = await (await make()).inject({ url: '/mine/1', headers });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({ code, request_id: answer.headers['x-request-id'] });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  it.each([ann, { authorization: 'Bearer key-of-ann' }, { authorization: 'bearer key-of-ann' }])(
    'takes the key from %o',
    async (headers) => {
      expect((await (await make()).inject({ url: '/mine/7', headers })).json()).toEqual({ name: 'ann', id: '7' });
    },
  );

  it('has a share of the thread for its caller, for each value of the parameter that it names, or for whom it says where it needs no key', async () => {
    const sharers: string[] = [];
    class TellingShares extends RequestShares {
      override enter(name: string, weight: number): undefined | Promise<void> {
        sharers.push(name);
        return super.enter(name, weight);
      }
    }
    const app = await make({ shares: new TellingShares({ now: () => performance.now() }) });
    for (const url of ['/mine/1', '/things/a/parts', '/things/b/parts']) {
      expect((await app.inject({ url, headers: ann })).statusCode).toBe(200);
    }
    for (const url of ['/hooks/ann', '/hooks/unknown']) expect((await app.inject({ method: 'POST', url })).statusCode).toBe(200);
    // Monitors and the processes of a cluster make nobody wait.
    expect((await app.inject({ url: '/scrape', headers: { 'x-api-key': 'key-of-root' } })).statusCode).toBe(200);
    expect(sharers).toEqual(['ann', 'ann a', 'ann b', 'hooks of ann']);
  });

  it('takes the key from the query only where it says so', async () => {
    const app = await make();
    expect((await app.inject('/query-key?api_key=key-of-ann')).json()).toEqual({ name: 'ann' });
    expect((await app.inject('/mine/1?api_key=key-of-ann')).statusCode).toBe(401);
  });

  it('of the administrator refuses other keys', async () => {
    const app = await make();
    expect((await app.inject({ method: 'DELETE', url: '/all', headers: ann })).json()).toMatchObject({ code: 'forbidden' });
    expect((await app.inject({ method: 'DELETE', url: '/all', headers: { 'x-api-key': 'key-of-root' } })).statusCode).toBe(200);
  });

  it('with large answers lets a client wait that asks for many, and not the administrator', async () => {
    let now = 0;
    const app = await make({ now: () => now });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const counts = { ann: 0, root: 0 };
    const askThrice = async (name: keyof typeof counts, headers: Record<string, string>): Promise<void> => {
      for (let n = 0; n < 3; n++) {
        expect(((await (await fetch(`${url}/large`, { headers })).json()) as { text: string }).text).not.toBe('');
        counts[name]++;
      }
    };
    const ofAnn = askThrice('ann', ann);
    await askThrice('root', { 'x-api-key': 'key-of-root' });
    await vi.waitUntil(() => counts.ann > 0, { timeout: 30_000 });
    expect(counts).toEqual({ ann: 1, root: 3 });
    // What she got is the bytes of 1.2 s, and she has room for more once they are those of one.
    now = 201;
    await vi.waitUntil(() => counts.ann > 1, { timeout: 30_000 });
    expect(counts.ann).toBe(2);
    now = 2_000;
    await ofAnn;
  }, 120_000);

  it('answers with its first success', async () => {
    const answer = await (await make()).inject({ method: 'POST', url: '/things', headers: ann, payload: { name: 'a' } });
    expect([answer.statusCode, answer.json().name]).toEqual([201, 'a']);
  });
});

describe('a body', () => {
  it.each([
    ['{"name": 5}', 'body.name: found the number 5, expected a text', undefined],
    ['{}', "body: lacks the member 'name'", undefined],
    ['{"nmae": "a"}', "body: lacks the member 'name', and found 'nmae'", "did you mean 'name'?"],
    ['{"size": 1, "other": 2}', "body: lacks the member 'name'", undefined],
    ['{"name": "a", "siez": 1}', "body: unknown member 'siez': expected name, size", "did you mean 'size'?"],
    ['{"name": "a", "size": "12"}', "body.size: found the text '12', expected a whole number", undefined],
    ['[]', 'body: found an array, expected an object', undefined],
    ['null', 'body: found null, expected an object', undefined],
    ['', 'body: found nothing, expected an object', undefined],
    ['{"name": "a", "__proto__": {"polluted": true}}', "body: unknown member '__proto__': expected name, size", undefined],
  ])('%s is refused: %s', async (payload, error, hint) => {
    const answer = await (await make()).inject({
      method: 'POST',
      url: '/things',
      headers: { ...ann, 'content-type': 'application/json' },
      payload,
    });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'validation_error', error });
    expect(answer.json().hint).toBe(hint);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['no JSON', Buffer.from('{"name"'), 'application/json', 400, 'invalid_json'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400, 'invalid_json'],
    ['of another type', Buffer.from('name=a'), 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['lines where none are taken', Buffer.from('{}\n'), 'application/x-ndjson', 415, 'unsupported_media_type'],
    ['over 1 MiB', Buffer.alloc(1_048_577, 0x20), 'application/json', 413, 'payload_too_large'],
  ])('that is %s is refused', async (_what, payload, type, status, code) => {
    const answer = await (await make()).inject({ method: 'POST', url: '/things', headers: { ...ann, 'content-type': type }, payload });
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
  });

  it('of exactly the limit is taken', async () => {
    const payload = `{"name": "a"${' '.repeat(1_048_576 - 13)}}`;
    const answer = await (await make()).inject({
      method: 'POST',
      url: '/things',
      headers: { ...ann, 'content-type': 'application/json' },
      payload,
    });
    expect(answer.statusCode).toBe(201);
  });

  it('that is compressed is refused, so none can unpack to more than the limit', async () => {
    const headers = { ...ann, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await (await make()).inject({ method: 'POST', url: '/things', headers, payload: Buffer.from([0x1f, 0x8b]) });
    expect([answer.statusCode, answer.json().code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(['application/json', 'application/x-ndjson', 'application/x-ndjson; charset=utf-8'])(
    'of type %s goes on as bytes',
    async (type) => {
      const payload = Buffer.from('{"a":1}\n{"b"');
      const answer = await (await make()).inject({ method: 'POST', url: '/bytes', headers: { ...ann, 'content-type': type }, payload });
      expect(answer.json()).toEqual({ length: payload.length });
    },
  );
});

describe('a query', () => {
  it.each([
    ['', { limit: 50, offset: 0, full: false }],
    ['?limit=1000&offset=7&full=true', { limit: 1000, offset: 7, full: true }],
  ])('%s is read as %o', async (query, expected) => {
    expect((await (await make()).inject({ url: `/list${query}`, headers: ann })).json()).toEqual(expected);
  });

  it('that lacks what it must have is refused', async () => {
    const app = await make();
    const answer = await app.inject({ url: '/named', headers: ann });
    expect([answer.statusCode, answer.json().error]).toEqual([400, "lacks the query parameter 'name'"]);
    expect((await app.inject({ url: '/named?name=', headers: ann })).json()).toEqual({ name: '' });
  });

  it.each([
    ['limit=1001', 'invalid_limit', "limit: found '1001', expected a whole number from 1 to 1000"],
    ['limit=0', 'invalid_limit', "limit: found '0', expected a whole number from 1 to 1000"],
    ['limit=ten', 'invalid_limit', "limit: found 'ten', expected a whole number from 1 to 1000"],
    ['limit=-1', 'invalid_limit', "limit: found '-1', expected a whole number from 1 to 1000"],
    ['offset=-1', 'invalid_offset', "offset: found '-1', expected a whole number from 0 to 999999999999999"],
    ['offset=1000000000000000', 'invalid_offset', "offset: found '1000000000000000', expected a whole number from 0 to 999999999999999"],
    ['offset=1.5', 'invalid_offset', "offset: found '1.5', expected a whole number from 0 to 999999999999999"],
    ['full=maybe', 'validation_error', "full: found 'maybe', expected true or false"],
    ['limti=5', 'validation_error', "unknown query parameter 'limti': expected limit, offset, full"],
    ['limit=1&limit=2', 'validation_error', "query parameter 'limit' stands more than once"],
  ])('%s is refused with %s', async (query, code, error) => {
    const answer = await (await make()).inject({ url: `/list?${query}`, headers: ann });
    expect([answer.statusCode, answer.json().code, answer.json().error]).toEqual([400, code, error]);
  });
});

describe('a query', () => {
  it('of a probe may hold anything, since who asks puts what it likes into it', async () => {
    const app = await make();
    expect((await app.inject('/probe?now=1&now=2')).statusCode).toBe(200);
    expect((await app.inject({ url: '/scrape?format=text', headers: ann })).statusCode).not.toBe(400);
    expect((await app.inject('/open?now=1')).json().code).toBe('validation_error');
  });
});

describe('an error', () => {
  it('says nothing of its cause when it is a defect', async () => {
    const answer = await (await make()).inject('/fails');
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toMatchObject({ code: 'internal_error' });
    expect(answer.body).not.toMatch(/secret|\.ts/);
  });

  it('says when to try again in whole seconds', async () => {
    const answer = await (await make()).inject('/busy');
    expect([answer.statusCode, answer.headers['retry-after'], answer.json().retry_after_seconds]).toEqual([429, '1', 1]);
  });

  it('of a path that does not exist is not_found', async () => {
    const answer = await (await make()).inject('/nowhere');
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
  });

  it('of a method that a path does not take names those it takes', async () => {
    const answer = await (await make()).inject({ method: 'PUT', url: '/mine/1', headers: ann });
    expect([answer.statusCode, answer.json().code, answer.headers['allow']]).toEqual([405, 'method_not_allowed', 'GET, HEAD, OPTIONS']);
  });

  it('of a page of the documentation that is not there is not_found', async () => {
    const answer = await (await make()).inject('/docs/nowhere');
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
  });

  it('of a path that is no URL is bad_request', async () => {
    const answer = await (await make()).inject({ url: '/mine/%ff%', headers: ann });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad_request']);
  });

  it('of a parameter of any length is that of its route, which asks for a key first', async () => {
    const app = await make();
    const url = `/mine/${'x'.repeat(14_000)}`;
    expect((await app.inject({ url })).json()).toMatchObject({ code: 'missing_api_key' });
    expect((await app.inject({ url, headers: ann })).statusCode).toBe(200);
  });

  it('has a status between 400 and 599 whatever its code', () => {
    for (const { status } of Object.values(errorCodes)) expect(status >= 400 && status < 600).toBe(true);
  });
});

describe('a request id', () => {
  it('is the one of the request when that can be printed', async () => {
    expect((await (await make()).inject({ url: '/open', headers: { 'x-request-id': 'r-17' } })).headers['x-request-id']).toBe('r-17');
  });

  it.each(['', 'a b', 'x'.repeat(129)])('is made anew instead of %o', async (id) => {
    expect((await (await make()).inject({ url: '/open', headers: { 'x-request-id': id } })).headers['x-request-id']).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });
});

describe('an idempotency key', () => {
  const post = (app: FastifyInstance, key: string, payload: object) =>
    app.inject({ method: 'POST', url: '/things', headers: { ...ann, 'idempotency-key': key }, payload });

  it('makes a repeat get the first answer', async () => {
    const app = await make();
    const first = await post(app, 'k1', { name: 'a' });
    expect((await post(app, 'k1', { name: 'a' })).json()).toEqual(first.json());
    expect((await post(app, 'k2', { name: 'a' })).json()).not.toEqual(first.json());
  });

  it('with another body is a conflict', async () => {
    const app = await make();
    await post(app, 'k3', { name: 'a' });
    const answer = await post(app, 'k3', { name: 'b' });
    expect([answer.statusCode, answer.json().code]).toEqual([422, 'idempotency_conflict']);
  });

  it('that is longer than 255 characters is refused', async () => {
    expect((await post(await make(), 'k'.repeat(256), { name: 'a' })).json()).toMatchObject({ code: 'validation_error' });
  });
});

describe('the rate limit', () => {
  it('lets twice the rate through at once, then refuses with the time to wait', async () => {
    let now = 0;
    const app = await make({ rateLimit: 2, now: () => now });
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await app.inject({ url: '/open' })).statusCode);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const refused = await app.inject('/open');
    expect([refused.json().code, refused.headers['retry-after'], refused.json().retry_after_seconds]).toEqual(['rate_limited', '1', 1]);
    now = 500;
    expect((await app.inject('/open')).statusCode).toBe(200);
    expect((await app.inject('/open')).statusCode).toBe(429);
  });

  it('counts keys apart from each other and from addresses', async () => {
    const app = await make({ rateLimit: 1, now: () => 0 });
    const get = async (headers: Record<string, string>) => (await app.inject({ url: '/open', headers })).statusCode;
    expect([await get(ann), await get(ann), await get(ann)]).toEqual([200, 200, 429]);
    expect([await get({ 'x-api-key': 'key-of-root' }), await get({})]).toEqual([200, 200]);
  });

  it('counts wrong keys by address, whatever the key', async () => {
    const app = await make({ rateLimit: 1, now: () => 0 });
    const get = async (key: string) => (await app.inject({ url: '/mine/1', headers: { 'x-api-key': key } })).statusCode;
    expect([await get('guess 1'), await get('guess 2'), await get('guess 3')]).toEqual([401, 401, 429]);
  });

  const guesses: readonly (readonly [string, object])[] = [
    ['a route', { url: '/mine/1', headers: { 'x-api-key': 'guess' } }],
    ['a probe that needs a key', { url: '/scrape', headers: { 'x-api-key': 'guess' } }],
    ['a probe without any key', { url: '/scrape' }],
    ['what a cluster asks of its own', { url: '/of-cluster', headers: { 'x-api-key': 'guess' } }],
    ['HEAD', { method: 'HEAD', url: '/scrape', headers: { authorization: 'Bearer guess' } }],
    ['OPTIONS', { method: 'OPTIONS', url: '/mine/1', headers: { 'x-api-key': 'guess' } }],
    ['the query', { url: '/query-key?api_key=guess' }],
    ['a path that is not there', { url: '/nowhere', headers: { 'x-api-key': 'guess' } }],
    ['a method that is not there', { method: 'PUT', url: '/mine/1', headers: { 'x-api-key': 'guess' } }],
    [
      'a question of a browser',
      { method: 'OPTIONS', url: '/mine/1', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } },
    ],
  ];

  it.each(guesses)('counts who has no good key by address, on %s', async (_where, request) => {
    const app = await make({ rateLimit: 1, now: () => 0, corsOrigins: ['https://a.example'] });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await app.inject(request)).statusCode);
    expect(statuses.slice(0, 2)).not.toContain(429);
    expect(statuses[2]).toBe(429);
    expect((await app.inject({ url: '/mine/1', headers: { 'x-api-key': 'guess' } })).statusCode).toBe(429);
    expect((await app.inject({ url: '/mine/1', headers: ann })).statusCode).toBe(200);
  });

  it('never limits a probe that has its key', async () => {
    const app = await make({ rateLimit: 1, now: () => 0 });
    const root = { 'x-api-key': 'key-of-root' };
    for (let i = 0; i < 10; i++) expect((await app.inject({ url: '/scrape', headers: root })).statusCode).toBe(200);
  });

  it('never limits what a cluster asks of its own with its key, nor counts it', async () => {
    const app = await make({ rateLimit: 1, now: () => 0 });
    const root = { 'x-api-key': 'key-of-root' };
    for (let i = 0; i < 10; i++) expect((await app.inject({ url: '/of-cluster', headers: root })).statusCode).toBe(200);
    expect((await app.inject({ url: '/open', headers: root })).statusCode).toBe(200);
    // Who has another key gets nothing there, and has paid for it.
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await app.inject({ url: '/of-cluster', headers: ann })).statusCode);
    expect(statuses).toEqual([403, 403, 429]);
  });

  it('believes X-Forwarded-For only of proxies that are trusted', async () => {
    const statusesOf = async (app: FastifyInstance): Promise<number[]> => {
      const statuses = [];
      for (let i = 0; i < 3; i++)
        statuses.push((await app.inject({ url: '/open', headers: { 'x-forwarded-for': `10.0.0.${i}` } })).statusCode);
      return statuses;
    };
    expect(await statusesOf(await make({ rateLimit: 1 }))).toEqual([200, 200, 429]);
    expect(await statusesOf(await make({ rateLimit: 1, trustedProxies: ['127.0.0.1'] }))).toEqual([200, 200, 200]);
  });

  it('never limits probes', async () => {
    const app = await make({ rateLimit: 1 });
    for (let i = 0; i < 10; i++) expect((await app.inject('/probe')).statusCode).toBe(200);
  });
});

describe('other pages', () => {
  const preflight = (app: FastifyInstance) =>
    app.inject({ method: 'OPTIONS', url: '/things', headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' } });

  it('are not let in unless their origin is named', async () => {
    const closed = await preflight(await make());
    expect(closed.headers['access-control-allow-origin']).toBeUndefined();
    const open = await preflight(await make({ corsOrigins: ['https://a.example'] }));
    expect([open.statusCode, open.headers['access-control-allow-origin']]).toEqual([204, 'https://a.example']);
    const other = await preflight(await make({ corsOrigins: ['https://b.example'] }));
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('read the answers, errors too, when their origin is named', async () => {
    const app = await make({ corsOrigins: ['https://a.example/'] });
    const get = async (url: string, origin: string) => (await app.inject({ url, headers: { origin } })).headers;
    expect(await get('/open', 'https://a.example')).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-expose-headers': 'x-request-id, retry-after, x-total-count, etag',
      vary: 'Origin',
    });
    expect((await get('/mine/1', 'https://a.example'))['access-control-allow-origin']).toBe('https://a.example');
    const other = await get('/open', 'https://b.example');
    expect([other['access-control-allow-origin'], other['vary']]).toEqual([undefined, 'Origin']);
  });

  it('are told what they may send', async () => {
    const { headers } = await preflight(await make({ corsOrigins: ['*'] }));
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': expect.stringContaining('x-api-key'),
      'access-control-max-age': '600',
      allow: 'POST, OPTIONS',
    });
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('cannot act on a server without keys through the browser of a user', async () => {
    const callers = { ...options.callers, isAuthenticationOn: false, authenticate: () => ({ name: 'root' }) };
    const act = async (changes: Partial<HttpAppOptions<Person>>, origin: string) =>
      (await (await make({ callers, ...changes })).inject({ method: 'DELETE', url: '/all', headers: { origin, host: 'localhost:9000' } }))
        .statusCode;
    expect(await act({}, 'https://evil.example')).toBe(403);
    expect(await act({}, 'http://localhost:9000')).toBe(200);
    expect(await act({ corsOrigins: ['https://evil.example'] }, 'https://evil.example')).toBe(200);
  });
});

describe('the host of a request', () => {
  const open = { ...options.callers, isAuthenticationOn: false, authenticate: () => ({ name: 'root' }) };
  const statusOf = async (changes: Partial<HttpAppOptions<Person>>, host: string, request: object = { url: '/open' }) =>
    (await (await make(changes)).inject({ ...request, headers: { host, ...ann } })).statusCode;

  it.each([
    ['localhost', 200],
    ['LocalHost:9000', 200],
    ['localhost.:9000', 200],
    ['127.0.0.1:9000', 200],
    ['127.8.8.8', 200],
    ['[::1]:9000', 200],
    ['evil.example:9000', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['evil.example#localhost', 403],
    ['localhost@evil.example', 403],
    ['10.0.0.1:9000', 403],
    ['0.0.0.0:9000', 403],
  ])('%o is answered with %i where no key is needed', async (host, status) => {
    expect(await statusOf({ callers: open }, host)).toBe(status);
  });

  it.each([
    { url: '/probe' },
    { url: '/docs' },
    { url: '/nowhere' },
    { method: 'OPTIONS', url: '/open' },
    { method: 'HEAD', url: '/open' },
  ] as const)('is looked at everywhere: %o', async (request) => {
    expect(await statusOf({ callers: open }, 'evil.example', request)).toBe(403);
  });

  it('is any where a key is needed, unless some are named', async () => {
    expect(await statusOf({}, 'cep.example')).toBe(200);
    expect(await statusOf({ allowedHosts: ['cep.example'] }, 'CEP.example:443')).toBe(200);
    expect(await statusOf({ allowedHosts: ['cep.example'] }, 'evil.example')).toBe(403);
    expect(await statusOf({ allowedHosts: ['cep.example'] }, 'localhost:9000')).toBe(200);
    expect(await statusOf({ allowedHosts: ['[2001:db8::1]'] }, '[2001:db8::1]:9000')).toBe(200);
  });

  it('is one of those that are named where no key is needed', async () => {
    expect(await statusOf({ callers: open, allowedHosts: ['cep.example'] }, 'cep.example:9000')).toBe(200);
    expect(await statusOf({ callers: open, allowedHosts: ['cep.example'] }, 'evil.example')).toBe(403);
    expect(await statusOf({ callers: open, allowedHosts: ['*'] }, 'any.example')).toBe(200);
  });
});

describe('HEAD', () => {
  it.each(['/probe', '/open', '/mine/1', '/list?limit=5', '/docs', '/openapi.json', '/nowhere'])(
    'of %s has the headers of GET, and no body',
    async (url) => {
      const app = await make();
      const at = `${await app.listen({ port: 0, host: '127.0.0.1' })}${url}`;
      const ask = async (method: 'HEAD' | 'GET'): Promise<readonly unknown[]> => {
        const answer = await fetch(at, { method, headers: { ...ann, 'accept-encoding': 'identity' } });
        const isEmpty = (await answer.text()) === '';
        return [answer.status, answer.headers.get('content-type'), answer.headers.get('content-length'), isEmpty];
      };
      const [status, type, length] = await ask('GET');
      expect(await ask('HEAD')).toEqual([status, type, length, true]);
    },
  );

  it('of a path that takes no GET is refused like any other method', async () => {
    expect((await (await make()).inject({ method: 'HEAD', url: '/things', headers: ann })).statusCode).toBe(405);
  });
});

describe('OPTIONS', () => {
  it.each([
    ['/mine/1', 'GET, HEAD, OPTIONS'],
    ['/mine/1/', 'GET, HEAD, OPTIONS'],
    ['/things?x=1', 'POST, OPTIONS'],
    ['/docs', 'GET, HEAD, OPTIONS'],
  ])('says what %s takes: %s', async (url, allow) => {
    const answer = await (await make()).inject({ method: 'OPTIONS', url });
    expect([answer.statusCode, answer.headers['allow'], answer.body]).toEqual([204, allow, '']);
  });

  it.each([{}, { origin: 'https://a.example', 'access-control-request-method': 'GET' }])(
    'of a path that is not there is not_found, with %o',
    async (headers) => {
      const answer = await (await make({ corsOrigins: ['https://a.example'] })).inject({ method: 'OPTIONS', url: '/nowhere', headers });
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
    },
  );
});

describe('a server that is not ready', () => {
  it('refuses all but probes and what is open', async () => {
    const app = await make({ refusal: () => new CepError('not_ready', 'the server is draining') });
    expect((await app.inject({ url: '/mine/1', headers: ann })).statusCode).toBe(503);
    expect((await app.inject('/probe')).statusCode).toBe(200);
  });
});

describe('the documentation', () => {
  it('describes every route at /openapi.json without a key', async () => {
    const document = (await (await make()).inject('/openapi.json')).json();
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
    expect(document.paths['/mine/{id}'].get).toMatchObject({ operationId: 'mine', security: [{ apiKey: [] }, { bearer: [] }] });
    expect(Object.keys(document.paths['/all'].delete.responses)).toEqual(expect.arrayContaining(['200', '401', '403', '429']));
  });

  it('asks for no key where none is needed', async () => {
    const callers = { ...options.callers, isAuthenticationOn: false };
    const { paths } = (await (await make({ callers })).inject('/openapi.json')).json();
    expect(Object.values(paths).flatMap((methods) => Object.values(methods as object).map(({ security }) => security))).toEqual(
      routes.map(() => []),
    );
  });

  it('says of a parameter whether a query must have it, and how large it may be', async () => {
    const { paths } = (await (await make()).inject('/openapi.json')).json();
    expect(paths['/list'].get.parameters).toMatchObject([
      { name: 'limit', required: false },
      { name: 'offset', schema: { maximum: 999_999_999_999_999 } },
      { name: 'full', required: false },
    ]);
    expect(paths['/named'].get.parameters).toMatchObject([{ name: 'name', required: true }]);
  });

  it('is a page at /docs', async () => {
    const app = await make();
    const page = await app.inject('/docs');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
    expect((await app.inject('/docs/json')).json().info).toEqual({ title: 'test', version: '1' });
  });

  it('is a page that asks no other server, and works without TLS', async () => {
    const page = await (await make()).inject('/docs');
    expect(page.headers['content-security-policy']).not.toMatch(/https?:|upgrade-insecure-requests|validator/);
    expect((await (await make()).inject('/docs/static/swagger-initializer.js')).body).toContain('"validatorUrl":null');
  });
});

describe('bytes on a connection', () => {
  /** What comes back until the server ends the connection. */
  const talk = async (
    bytes: string,
    app: FastifyInstance,
  ): Promise<{ status: number; text: string; body: () => Record<string, unknown> }> => {
    if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });
    return { status: Number(text.split(' ')[1]), text, body: () => JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n'))) };
  };
  const last = 'host: localhost\r\nconnection: close\r\n';
  const key = 'x-api-key: key-of-ann\r\n';
  const h2c =
    'host: localhost\r\nconnection: Upgrade, HTTP2-Settings, close\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n';
  const handshake = 'host: localhost\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

  it.each([
    ['tells who works on a request that its client has hung up', '', true],
    ['lets one with an idempotency key go on, because it may be repeated', 'idempotency-key: once\r\n', false],
  ])('%s', async (_what, header, isTold) => {
    const app = await make();
    const closed = new Promise((resolve) => app.addHook('onRequest', async ({ raw }) => void raw.socket.once('close', resolve)));
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET /waits HTTP/1.1\r\nhost: localhost\r\n${header}\r\n`));
    const signal = await new Promise<AbortSignal>((resolve) => {
      onWait = resolve;
    });
    expect(signal.aborted).toBe(false);
    socket.destroy();
    await closed;
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal.aborted).toBe(isTold);
    endWait();
  });

  it('refuses what a route does not admit before any of the body has come', async () => {
    const before = runs;
    const answer = await talk(
      `POST /full HTTP/1.1\r\n${last}${key}content-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
      await make(),
    );
    expect(answer).toMatchObject({ status: 429 });
    expect(answer.body()).toMatchObject({ code: 'queue_full', error: 'nothing is taken of ann {}' });
    expect(runs).toBe(before);
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'bad_request'],
    ['a method that nobody knows', `BREW /open HTTP/1.1\r\n${last}\r\n`, 400, 'bad_request'],
    ['a method without a route', `QUERY /open HTTP/1.1\r\n${last}content-length: 2\r\n\r\n{}`, 405, 'method_not_allowed'],
    ['a method without a route on no path', `PROPFIND /nowhere HTTP/1.1\r\n${last}\r\n`, 404, 'not_found'],
    ['CONNECT', `CONNECT a.example:443 HTTP/1.1\r\nhost: a.example\r\n\r\n`, 405, 'method_not_allowed'],
    ['no Host', 'GET /open HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    ['an empty Host', `GET /open HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n`, 400, 'bad_request'],
    ['no Host on no path', 'GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n', 400, 'bad_request'],
    ['two hosts', `GET /open HTTP/1.1\r\nHost: a\r\n${last}\r\n`, 400, 'bad_request'],
    ['an expectation', `POST /things HTTP/1.1\r\n${last}expect: a-miracle\r\ncontent-length: 2\r\n\r\n{}`, 417, 'expectation_failed'],
    ['headers over 16 KiB', `GET /open HTTP/1.1\r\n${last}x: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large'],
    [
      'both a length and chunks',
      `POST /things HTTP/1.1\r\n${last}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'bad_request',
    ],
    ['a path that is no URL', `GET /mine/%ff% HTTP/1.1\r\n${last}\r\n`, 400, 'bad_request'],
    ['an upgrade without a key', `GET /mine/1 HTTP/1.1\r\n${h2c}\r\n`, 401, 'missing_api_key'],
    ['a WebSocket where there is no path', `GET /nowhere HTTP/1.1\r\nconnection: upgrade, close\r\n${handshake}\r\n`, 404, 'not_found'],
  ])('are refused in our words: %s', async (_what, bytes, status, code) => {
    const answer = await talk(bytes, await make());
    expect([answer.status, answer.body()]).toMatchObject([status, { code, error: expect.any(String), request_id: expect.any(String) }]);
    expect(answer.text).toMatch(/^x-request-id: /im);
  });

  it.each([
    ['no key of its own', 'upgrade: websocket\r\nsec-websocket-version: 13\r\n'],
    ['another version', handshake.replace('version: 13', 'version: 7')],
  ])('are refused in our words where a handshake has %s', async (_what, headers) => {
    const answer = await talk(
      `GET /socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n${key}${headers.replace('host: localhost\r\n', '')}\r\n`,
      await make(),
    );
    expect([answer.status, answer.body()]).toMatchObject([400, { code: 'bad_request', error: expect.stringContaining('Sec-WebSocket-') }]);
    expect(answer.text).toMatch(/^sec-websocket-version: 13/m);
  });

  it.each([
    ['a header', '/socket', 'x-api-key: guess\r\n'],
    ['the query', '/socket?api_key=guess', ''],
    ['a subprotocol', '/socket', 'sec-websocket-protocol: cep.v1, cep-auth.guess\r\n'],
    ['nowhere', '/socket', ''],
  ])('count as guesses where a handshake has a wrong key in %s', async (_where, path, headers) => {
    const app = await make({ rateLimit: 1, now: () => 0 });
    const shake = async () => (await talk(`GET ${path} HTTP/1.1\r\nconnection: upgrade\r\n${handshake}${headers}\r\n`, app)).status;
    expect([await shake(), await shake(), await shake()]).toEqual([401, 401, 429]);
  });

  it('of a handshake are held to the host where no key is needed', async () => {
    const callers = { ...options.callers, isAuthenticationOn: false, authenticate: () => ({ name: 'root' }) };
    const bytes = `GET /socket HTTP/1.1\r\nconnection: upgrade\r\n${handshake.replace('localhost', 'evil.example')}origin: http://evil.example\r\n\r\n`;
    expect((await talk(bytes, await make({ callers }))).status).toBe(403);
    expect((await talk(bytes.replaceAll('evil.example', 'localhost'), await make({ callers }))).status).toBe(101);
  });

  it('without Host are a request of HTTP/1.0', async () => {
    expect((await talk('GET /open HTTP/1.0\r\n\r\n', await make())).status).toBe(200);
  });

  it.each([
    ['GET', `GET /mine/7 HTTP/1.1\r\n${h2c}${key}\r\n`, 200, { name: 'ann', id: '7' }],
    [
      'POST with its length',
      `POST /things HTTP/1.1\r\n${h2c}${key}content-type: application/json\r\ncontent-length: 14\r\n\r\n{"name": "ü"}`,
      201,
      { name: 'ü' },
    ],
    [
      'POST in chunks',
      `POST /things HTTP/1.1\r\n${h2c}${key}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nd\r\n{"name": "ab"}\r\n0\r\n\r\n`.replace(
        '\r\nd\r\n',
        '\r\ne\r\n',
      ),
      201,
      { name: 'ab' },
    ],
    ['a WebSocket to a path without', `GET /mine/7 HTTP/1.1\r\nconnection: upgrade, close\r\n${handshake}${key}\r\n`, 200, { id: '7' }],
    [
      'a WebSocket by POST',
      `POST /things HTTP/1.1\r\nconnection: upgrade, close\r\n${handshake}${key}content-type: application/json\r\ncontent-length: 13\r\n\r\n{"name":"ab"}`,
      201,
      { name: 'ab' },
    ],
    [
      'TLS inside HTTP',
      `GET /open HTTP/1.1\r\nconnection: upgrade, close\r\nhost: localhost\r\nupgrade: TLS/1.3, foo\r\n\r\n`,
      200,
      { open: true },
    ],
  ])('that ask for another protocol are answered over HTTP/1.1: %s', async (_what, bytes, status, body) => {
    const answer = await talk(bytes, await make());
    expect([answer.status, answer.body()]).toMatchObject([status, body]);
  });

  it('that ask for another protocol leave the connection as it was for the next request', async () => {
    const again = h2c.replace(', close', '');
    const { text } = await talk(
      `GET /open HTTP/1.1\r\n${again}\r\nGET /mine/8 HTTP/1.1\r\n${again}${key}\r\nGET /open HTTP/1.1\r\n${last}\r\n`,
      await make(),
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200']);
    expect(text).toContain('"id":"8"');
  });
});
