import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropWebSocketClients, WebSocketClient } from '../clients/websocket-client.ts';
import { hot, reading, Service, serverKey, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(async () => {
  dropWebSocketClients();
  await service.close();
});

type Method = 'GET' | 'POST' | 'DELETE';

interface Ask {
  readonly method: Method;
  readonly url: string;
  readonly key: string | null;
  readonly body?: string | undefined;
}

/** Straight into the server, without a socket: thousands of requests in seconds. */
async function ask({ method, url, key, body }: Ask): Promise<{ readonly status: number; readonly text: string }> {
  const headers = { ...(key === null ? {} : { 'x-api-key': key }), ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await service.server.api.inject({ method, url, headers, ...(body === undefined ? {} : { body }) });
  return { status: answer.statusCode, text: answer.body };
}

/** A body that each route of a pipeline would act upon. */
const bodies: Readonly<Record<string, string>> = {
  injectEvent: JSON.stringify(reading(99)),
  injectEvents: JSON.stringify({ events: [reading(99)] }),
  reloadPipeline: JSON.stringify({ source: hot }),
  restorePipeline: '{"version": 1}',
  watchPipeline: '{"enabled": true}',
};
const queries: Readonly<Record<string, string>> = { explainStream: '?stream=Hot' };

describe('who may call a route', () => {
  /** What the caller is let in to; what is then wrong with the request is another matter. */
  const isLetIn = (status: number): boolean => status !== 401 && status !== 403;

  it('is who it says: everybody, who has a key, or who has the key of the server', async () => {
    const tenant = await service.tenant();
    const callers = { nobody: null, stranger: 'cep_not-a-key', tenant: tenant.key, server: serverKey };
    const allowed = {
      open: ['nobody', 'stranger', 'tenant', 'server'],
      key: ['tenant', 'server'],
      admin: ['server'],
      signature: ['tenant', 'server'],
    };
    expect(new Set(service.server.routes.map(({ access }) => access))).toEqual(new Set(Object.keys(allowed)));
    for (const { method, path, access, operation, webSocket } of service.server.routes) {
      for (const [who, key] of Object.entries(callers)) {
        const url = path.replace('{id}', 'no-such-id') + (queries[operation] ?? '');
        const { status } = await ask({
          method: method as Method,
          url,
          key,
          body: method === 'POST' ? (bodies[operation] ?? '{}') : undefined,
        });
        expect([method, path, who, isLetIn(status)]).toEqual([method, path, who, allowed[access as keyof typeof allowed].includes(who)]);
        if (webSocket && isLetIn(status)) expect(status).toBe(426);
      }
    }
  });
});

describe('two tenants', () => {
  interface Side {
    readonly key: string;
    readonly name: string;
    readonly ids: readonly string[];
    readonly tenantId: string;
  }

  /** A tenant with pipelines that hold state, messages and alerts with its mark. */
  async function side(mark: string): Promise<Side> {
    const { id: tenantId, key } = await service.tenant();
    const name = `${mark}-${uniqueName()}`;
    const ids: string[] = [];
    const own = `stream Own = Reading.print("${mark}").emit(mark: "${mark}", v: value)\n`;
    for (const source of [hot, hot + own, `${hot}${own}stream Counted = Reading.window(3).aggregate(n: count()).emit(n: n)\n`]) {
      const path = await service.deploy(source, { key, name: `${name}-${ids.length}` });
      await service.post(`${path}/events-batch`, { events: [reading(40), reading(5)] }, { key });
      ids.push(path.split('/').at(-1) as string);
    }
    return { key, name, ids, tenantId };
  }

  /** Everything that a tenant can see of itself, without what the clock moves. */
  async function seen({ key, ids }: Side): Promise<string> {
    const paths = ids.flatMap((id) =>
      ['', '/metrics', '/topology', '/messages', '/dlq', '/explain?stream=Hot'].map((at) => `/api/v1/pipelines/${id}${at}`),
    );
    const texts: string[] = [];
    for (const url of [...paths, '/api/v1/pipelines', '/api/v1/usage']) texts.push((await ask({ method: 'GET', url, key })).text);
    return texts.join('\n').replace(/"(uptime_secs|time|watermark|left_ms|p\d\d_us|state_bytes|request_id)":[^,}]*/g, '');
  }

  it('never reach each other, whichever id stands in whichever route', async () => {
    const [ann, ben] = [await side('mark-of-ann'), await side('mark-of-ben')];
    const before = [await seen(ann), await seen(ben)];
    const routes = service.server.routes.filter(({ path }) => path.includes('{id}') && path.includes('/pipelines/'));
    expect(routes.length).toBeGreaterThan(14);
    const strip = (text: string, id: string): string => text.replaceAll(id, 'ID').replace(/"request_id":"[^"]*"/, '');
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let n = 0; n < 2_000; n++) {
      const [own, other] = random(2) === 0 ? [ann, ben] : [ben, ann];
      const route = routes[random(routes.length)];
      const foreign = other.ids[random(other.ids.length)];
      if (route === undefined || foreign === undefined) throw new Error('there are routes and ids');
      const { method, path, operation } = route;
      const of = (id: string) => ({
        method: method as Method,
        url: path.replace('{id}', id) + (queries[operation] ?? ''),
        key: own.key,
        body: method === 'POST' ? bodies[operation] : undefined,
      });
      const nobodys = `p_${random(1e9).toString(16).padStart(16, '0')}`;
      const [crossed, absent] = [await ask(of(foreign)), await ask(of(nobodys))];
      expect([method, path, crossed.status, strip(crossed.text, foreign)]).toEqual([
        method,
        path,
        absent.status,
        strip(absent.text, nobodys),
      ]);
      expect(crossed.status).toBe(404);
      expect(crossed.text).not.toMatch(/mark-of/);
    }
    expect([await seen(ann), await seen(ben)]).toEqual(before);
  });

  it('see in lists, and over WebSockets, their own only', async () => {
    const [ann, ben] = [await side('mark-of-ann'), await side('mark-of-ben')];
    for (const [own, other] of [
      [ann, ben],
      [ben, ann],
    ] as const) {
      const text = await seen(own);
      expect(text).toContain(own.name);
      expect([other.name, other.tenantId, ...other.ids].filter((id) => text.includes(id))).toEqual([]);
      expect((await ask({ method: 'GET', url: `/api/v1/tenants/${other.tenantId}`, key: own.key })).status).toBe(403);
      const client = await WebSocketClient.open(`${service.url.replace('http', 'ws')}/ws`, ['cep.v1', `cep-auth.${own.key}`]);
      for (const pipeline_id of other.ids) {
        expect(await client.ask({ type: 'attach', pipeline_id }, 'error')).toMatchObject({ code: 'pipeline_not_found' });
      }
      await client.ask({ type: 'attach', pipeline_id: own.ids[0] }, 'attached');
    }
  });

  it('do not get the answers of each other by an Idempotency-Key', async () => {
    const [ann, ben] = [await side('mark-of-ann'), await side('mark-of-ben')];
    const headers = { 'idempotency-key': uniqueName() };
    const event = reading(70);
    const first = await service.post(`/api/v1/pipelines/${ann.ids[0]}/events`, event, { key: ann.key, headers });
    const second = await service.post(`/api/v1/pipelines/${ben.ids[0]}/events`, reading(80), { key: ben.key, headers });
    expect([first.status, second.status, second.body.output_events[0].fields.value]).toEqual([200, 200, 80]);
  });
});
