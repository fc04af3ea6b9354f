import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePortPairs } from '../../contract/coordinator.ts';
import { type Answer, ask } from '../../contract/declared-answer.ts';
import { CepProcess } from '../cli/cep-process.ts';

const key = 'the-key-of-the-cluster';
const env = { CEP_API_KEY: key };
const wait = { timeout: 120_000, interval: 50 };
const source = 'stream Bought = Login as a -> Buy where user == a.user as b .within(1h) .emit(user: a.user)';
const running = new Map<string, CepProcess>();
let coordinatorUrl: string;
let ports: number[];

beforeAll(async () => {
  ports = await freePortPairs(6);
  coordinatorUrl = `http://127.0.0.1:${ports[0]}`;
  running.set('coordinator', new CepProcess(['coordinator', '--port', String(ports[0])], { env }));
  for (const at of [1, 2]) startWorker(at);
  await vi.waitFor(
    async () => expect((await cluster('GET', '/workers')).body).toMatchObject([{ status: 'ready' }, { status: 'ready' }]),
    wait,
  );
}, 150_000);

afterAll(() => {
  for (const process of running.values()) process.kill('SIGKILL');
});

function startWorker(at: number): void {
  const own = ['--port', String(ports[at]), '--metrics-port', String(ports[at + 2]), '--worker-id', `w${at}`, '--rate-limit', '1'];
  running.set(`w${at}`, new CepProcess(['server', '--coordinator', coordinatorUrl, ...own], { env }));
}

function cluster(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  return ask({ method, url: `${coordinatorUrl}/api/v1/cluster${path}`, key, headers, ...(body === undefined ? {} : { body }) });
}

function event(type: string, user: string, timestamp: number): object {
  return { event_type: type, fields: { user }, timestamp };
}

it('completes a pattern on another worker when the one that had begun it is killed, and hands over what it has when it is drained', async () => {
  const made = await cluster('POST', '/pipeline-groups', { name: 'shop', pipelines: [{ name: 'p', source }] });
  expect([made.status, made.body.status]).toEqual([201, 'running']);
  const first = made.body.deployments[0].worker_id as string;
  const second = first === 'w1' ? 'w2' : 'w1';
  for (const user of ['ada', 'bob']) {
    expect(await cluster('POST', '/pipeline-groups/shop/inject', event('Login', user, 1_700_000_000_000))).toMatchObject({ status: 200 });
  }
  running.get(first)?.kill('SIGKILL');
  const buy = (user: string, at: number) =>
    vi.waitFor(async () => {
      const key = { 'idempotency-key': `${user} buys` };
      const answer = await cluster('POST', '/pipeline-groups/shop/inject', event('Buy', user, at), key);
      // While the pipeline moves the same request may be sent again: it counts once.
      if (answer.status === 503 || answer.status === 502) throw new Error(JSON.stringify(answer.body));
      return answer;
    }, wait);
  const bought = await buy('ada', 1_700_000_001_000);
  expect([bought.status, bought.body]).toMatchObject([
    200,
    { worker_id: second, output_events: [{ event_type: 'Bought', fields: { user: 'ada' } }] },
  ]);

  startWorker(Number(first.slice(1)));
  await vi.waitFor(async () => expect((await cluster('GET', `/workers/${first}`)).body).toMatchObject({ status: 'ready' }), wait);
  const drained = await cluster('POST', `/workers/${second}/drain`, { timeout_secs: 60 });
  expect([drained.status, drained.body]).toEqual([200, { worker_id: second, pipelines_migrated: 1, status: 'drained' }]);
  const again = await buy('bob', 1_700_000_002_000);
  expect([again.status, again.body]).toMatchObject([200, { worker_id: first, output_events: [{ fields: { user: 'bob' } }] }]);
  expect(await cluster('DELETE', '/pipeline-groups/shop')).toMatchObject({ status: 200, body: { torn_down: true } });
}, 300_000);

it('takes numbers as they are written, alone and with others, for one replica and for several', async () => {
  const program = 'event T:\n    k: str\n    v: float\nstream S = T.emit(v: v)';
  const pipelines = [
    { name: 'one', source: program },
    { name: 'many', source: program, replicas: 3, partition_key: 'k' },
  ];
  expect((await cluster('POST', '/pipeline-groups', { name: 'numbers', pipelines })).status).toBe(201);
  const inject = (path: string, body: string) =>
    fetch(`${coordinatorUrl}/api/v1/cluster/pipeline-groups/numbers/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body,
    }).then(async (answer) => [answer.status, await answer.json()] as const);
  const event = (v: string) => `{"event_type":"T","fields":{"k":"a","v":${v}}}`;
  for (const pipeline of ['one', 'many']) {
    const named = (v: string) => `{"pipeline":"${pipeline}",${event(v).slice(1)}`;
    expect(await inject('inject', named('1e999'))).toMatchObject([400, { code: 'invalid_event' }]);
    expect(await inject('inject', named('9007199254740993'))).toMatchObject([400, { code: 'invalid_event' }]);
    const large = { output_events: [{ fields: { v: Number('12345678901234567890') } }] };
    expect(await inject('inject', named('12345678901234567890.0'))).toMatchObject([200, large]);
    const batch = `{"pipeline": "${pipeline}", "events": [${event('1e999')} , ${event('12345678901234567890.0')}]}`;
    expect(await inject('inject-batch', batch)).toMatchObject([
      200,
      { accepted: 1, errors: [{ index: 0, code: 'invalid_event' }], ...large },
    ]);
    const lines = JSON.stringify({ pipeline, events_text: 'T { k: "a", v: 12345678901234567890.0 }' });
    expect(await inject('inject-batch', lines)).toMatchObject([200, { accepted: 1, ...large }]);
  }
  expect(await inject('inject-batch', `{"events":[${event('1')}],"events_text":"T { v: 2 }"}`)).toMatchObject([
    400,
    { code: 'validation_error' },
  ]);
  expect((await cluster('DELETE', '/pipeline-groups/numbers')).status).toBe(200);

  const next = { name: 'next', source: 'event S:\n    v: float\nstream Sum = S.window(3).aggregate(sum: sum(v)).emit(sum: sum)' };
  const routes = [{ from_pipeline: 'one', to_pipeline: 'next', event_types: ['S'] }];
  const routed = await cluster('POST', '/pipeline-groups', { name: 'numbers', pipelines: [pipelines[0], next], routes });
  expect(routed.status).toBe(201);
  expect(await inject('inject-batch', `{"events":[${[event('1e16'), event('12345678901234567890.0'), event('2')]}]}`)).toMatchObject([
    200,
    { accepted: 3 },
  ]);
  await vi.waitFor(async () => {
    const { pipelines: all } = (await cluster('GET', '/metrics')).body;
    expect(all).toContainEqual(expect.objectContaining({ pipeline: 'next', events_in: 3, events_out: 1 }));
  }, wait);
  expect((await cluster('DELETE', '/pipeline-groups/numbers')).status).toBe(200);
}, 300_000);

it('asks its workers for as much as it likes, whatever the rate limit of their clients', async () => {
  const worker = `http://127.0.0.1:${ports[1]}/api/v1`;
  const statuses = async (path: string): Promise<Set<number>> => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask({ method: 'GET', url: `${worker}/${path}`, key })));
    return new Set(answers.map(({ status }) => status));
  };
  expect(await statuses('pipelines')).toContain(429);
  expect(await statuses('worker/placements')).toEqual(new Set([200]));
  expect((await cluster('POST', '/pipeline-groups', { name: 'many', pipelines: [{ name: 'p', source }] })).status).toBe(201);
  for (let i = 0; i < 10; i++) expect((await cluster('POST', '/pipeline-groups/many/inject', event('Login', 'ada', i))).status).toBe(200);
  expect((await cluster('DELETE', '/pipeline-groups/many')).status).toBe(200);
}, 300_000);
