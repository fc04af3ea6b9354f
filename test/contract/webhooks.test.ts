import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookRoutes } from '../../worker/server/routes/webhooks.ts';
import type { Answer } from './declared-answer.ts';
import { Service, serverKey } from './service.ts';

const SECRET = 'a secret of both sides';
const program = (parameters = '', from = 'Hook') =>
  `connector Hook = http (${parameters})\n\nevent Order:\n    n: int\n    note: str?\n\n` +
  `stream Seen = Order.from(${from})\n    .aggregate(members: count(), total: sum(n))\n    .emit(members, total)\n`;
const signatureOf = (body: string, secret = SECRET): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

let service: Service;
let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cep-webhooks-'));
  service = await Service.start({ stateDir: folder });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

const last = async (path: string): Promise<unknown> => {
  await service.post(`${path}/checkpoint`);
  const id = path.split('/').at(-1) as string;
  const cursor = service.runtime.pipelines.follow('default', id, { after: 0, onReadable: () => undefined, onEnd: () => undefined });
  const output = cursor.read(1_000).outputs.at(-1);
  cursor.close();
  return output === undefined ? undefined : JSON.parse(output.fieldsJson);
};

describe('a webhook', () => {
  it('is refused more events than its tenant has left of the second, and takes none of them', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const path = await service.deploy(program(), { key });
    const tooMany = Array.from({ length: 101 }, (_, n) => ({ n }));
    expect(await service.post(`${path}/webhooks/Hook`, tooMany, { key })).toMatchObject({
      status: 429,
      body: { code: 'quota_exceeded', error: 'found 101 events in one request, and the quota is 100 a second' },
    });
    expect(await service.post(`${path}/webhooks/Hook`, tooMany.slice(1), { key })).toMatchObject({ status: 202, body: { accepted: 100 } });
  });

  it('answers what is repeated with its Idempotency-Key, also when its tenant has nothing left of the second', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const path = await service.deploy(program(), { key });
    const all = Array.from({ length: 100 }, (_, n) => ({ n }));
    const send = () => service.post(`${path}/webhooks/Hook`, all, { key, headers: { 'idempotency-key': 'all' } });
    const answers = [await send(), await send(), await send()];
    expect(answers).toMatchObject(answers.map(() => ({ status: 202, body: { accepted: 100 } })));
  });

  it('takes one event, an array of them, or lines, of the type that the program reads, and answers 202', async () => {
    const path = await service.deploy(program());
    const hook = `${path}/webhooks/Hook`;
    expect(await service.post(hook, { n: 1 })).toMatchObject({ status: 202, body: { accepted: 1 } });
    expect(await service.post(hook, [{ n: 2 }, { event_type: 'Order', data: { n: 3, note: 'a ],[ "b"' } }])).toMatchObject({
      body: { accepted: 2 },
    });
    const lines = { headers: { 'content-type': 'application/x-ndjson' } };
    expect(await service.post(hook, '{"n": 4}\n\n{"type": "Order", "n": 5}\n', lines)).toMatchObject({
      status: 202,
      body: { accepted: 2 },
    });
    expect(await last(path)).toEqual({ members: 5, total: 15 });
  });

  it('takes the time that an event states by its size, wherever it stands', async () => {
    const timed = 'connector Hook = http ()\nstream Seen = Order.from(Hook)\n    .emit(n, at: timestamp)\n';
    const path = await service.deploy(timed);
    const [s, ms] = [1_769_853_600, 1_769_853_600_000];
    const forms = [
      { timestamp: s },
      { data: { '@timestamp': s } },
      { fields: {}, timestamp: s },
      { timestamp: ms * 1_000 },
      { timestamp: ms },
    ];
    for (const form of forms) {
      await service.post(`${path}/webhooks/Hook`, form);
      expect(await last(path), JSON.stringify(form)).toMatchObject({ at: ms });
    }
  });

  it('has a turn among those of its tenant, apart from requests with a key', async () => {
    const path = await service.deploy(program(`secret: "${SECRET}"`));
    const id = path.split('/').at(-1) as string;
    const [{ shareOf } = { shareOf: undefined }] = webhookRoutes(service.runtime);
    expect(shareOf?.({ id, connector: 'Hook' })).toBe('webhooks of default');
    expect([shareOf?.({ id, connector: 'None' }), shareOf?.({ id: 'none', connector: 'Hook' })]).toEqual([undefined, undefined]);
  });

  it.each([
    ['nonsense', 'invalid_json', /the body is no JSON .*expected a JSON object with one event/],
    ['[]', 'invalid_event', /found no event, expected/],
    ['7', 'invalid_event', /expected a JSON object, found another value/],
    ['[{"n": 1}, 7]', 'invalid_event', /event 1: expected a JSON object/],
  ])('refuses %s as a whole, and says what it expected', async (body, code, message) => {
    const path = await service.deploy(program());
    const answer = await service.post(`${path}/webhooks/Hook`, body, { headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.body.code, answer.body.error]).toEqual([400, code, expect.stringMatching(message)]);
    expect(await last(path)).toBeUndefined();
  });

  it('refuses bytes that are no text, a body that is too large, one that is packed, and another content type', async () => {
    const path = await service.deploy(program());
    const hook = `${path}/webhooks/Hook`;
    const json = { 'content-type': 'application/json' };
    const outcome = ({ status, body }: Answer): unknown => [status, body.code];
    expect(outcome(await service.post(hook, Buffer.of(0x7b, 0xff, 0x7d), { headers: json }))).toEqual([400, 'invalid_json']);
    expect(outcome(await service.post(hook, `"${'x'.repeat(1_048_576)}"`, { headers: json }))).toEqual([413, 'payload_too_large']);
    expect(outcome(await service.post(hook, 'x', { headers: { ...json, 'content-encoding': 'gzip' } }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(outcome(await service.post(hook, 'n=1', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
  });

  it('keeps an event that does not fit its type as a dead letter, and takes the others', async () => {
    const path = await service.deploy(program());
    expect((await service.post(`${path}/webhooks/Hook`, [{ n: 'text' }, { n: 5 }])).status).toBe(202);
    expect(await last(path)).toEqual({ members: 1, total: 5 });
    const { body } = await service.get(`${path}/dlq`);
    expect(body).toMatchObject({ total: 1, entries: [{ connector: 'Hook', code: 'invalid_event' }] });
  });

  it('takes what comes again with the same Idempotency-Key once, also after a restart', async () => {
    const path = await service.deploy(program());
    const hook = `${path}/webhooks/Hook`;
    const options = { headers: { 'idempotency-key': 'order-1' } };
    const send = (body: unknown) => service.post(hook, body, options);
    expect(await Promise.all([send({ n: 1 }), send({ n: 1 })])).toMatchObject([{ status: 202 }, { status: 202 }]);
    expect(await send({ n: 2 })).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    await service.close();
    service = await Service.start({ stateDir: folder });
    expect(await send({ n: 1 })).toMatchObject({ status: 202, body: { accepted: 1 } });
    expect((await service.post(hook, { n: 10 })).status).toBe(202);
    expect(await last(path)).toEqual({ members: 2, total: 11 });
  });

  it('with a topic has it behind its path, and is another place than that without', async () => {
    const path = await service.deploy(program('', 'Hook, topic: "shop/orders"'));
    expect((await service.post(`${path}/webhooks/Hook/shop%2Forders`, { n: 1 })).status).toBe(202);
    for (const other of ['Hook', 'Hook/orders', 'Else', 'Else/shop%2Forders']) {
      expect(await service.post(`${path}/webhooks/${other}`, { n: 1 })).toMatchObject({
        status: 404,
        body: { code: 'connector_not_found' },
      });
    }
    expect(await last(path)).toEqual({ members: 1, total: 1 });
  });

  it('of a pipeline that is stopped takes nothing', async () => {
    const path = await service.deploy(program(`secret: "${SECRET}"`));
    await service.post(`${path}/stop`);
    const body = '{"n": 1}';
    const options = { key: null, headers: { 'x-cep-signature': signatureOf(body), 'content-type': 'application/json' } };
    expect(await service.post(`${path}/webhooks/Hook`, body, options)).toMatchObject({
      status: 409,
      body: { code: 'pipeline_not_running' },
    });
    await service.post(`${path}/start`);
    expect((await service.post(`${path}/webhooks/Hook`, body, options)).status).toBe(202);
  });
});

describe('who may send to a webhook', () => {
  it('is who has the key of its tenant, where there is no secret', async () => {
    const path = await service.deploy(program());
    const tenant = await service.tenant();
    const send = async (key: string | null): Promise<unknown> => {
      const { status, body } = await service.post(`${path}/webhooks/Hook`, { n: 1 }, { key });
      return [status, body.code];
    };
    expect(await send(null)).toEqual([401, 'missing_api_key']);
    expect(await send('nobodys')).toEqual([401, 'invalid_api_key']);
    expect(await send(tenant.key)).toEqual([404, 'pipeline_not_found']);
    expect(await send(serverKey)).toEqual([202, undefined]);
  });

  it('is who signs with the secret, and nobody else whatever key he has', async () => {
    const path = await service.deploy(program(`secret: "${SECRET}"`));
    const text = '{"n": 1, "note": "für"}';
    const send = async (signature: string | undefined, body = text, key: string | null = null): Promise<unknown> => {
      const headers = { 'content-type': 'application/json', ...(signature === undefined ? {} : { 'x-cep-signature': signature }) };
      const answer = await service.post(`${path}/webhooks/Hook`, body, { key, headers });
      return [answer.status, answer.body.code];
    };
    const good = signatureOf(text);
    const refused = [401, 'invalid_signature'];
    expect(await send(good)).toEqual([202, undefined]);
    expect(await send(good.toUpperCase())).toEqual([202, undefined]);
    for (const bad of [
      '',
      'sha256=',
      good.slice(7),
      good.slice(0, -1),
      `${good}0`,
      signatureOf(text, 'another'),
      'sha1=00',
      'x'.repeat(9_000),
    ])
      expect([bad, await send(bad)]).toEqual([bad, refused]);
    expect(await send(undefined)).toEqual(refused);
    expect(await send(undefined, text, serverKey)).toEqual(refused);
    expect(await send(good, `${text} `)).toEqual(refused);
    expect(await last(path)).toEqual({ members: 2, total: 2 });
  });

  it('cannot learn the secret from answers, and an empty one is refused', async () => {
    const path = await service.deploy(program(`secret: "${SECRET}"`));
    for (const at of ['/topology', '/metrics']) expect((await service.get(`${path}${at}`)).text).not.toContain(SECRET);
    expect(service.log.join('\n')).not.toContain(SECRET);
    const { status, body } = await service.post('/api/v1/pipelines', { name: 'empty-secret', source: program('secret: ""') });
    expect([status, body.code]).toEqual([502, 'connector_error']);
  });
});
