import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hot, reading, Service } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

const lines = { 'content-type': 'application/x-ndjson' };
const typed = 'event A:\n    n: int\n    f: float\n    s: str\n    b: bool\n\nstream S = A.emit(n: n, f: f, s: s, b: b)\n';
const good = { n: 1, f: 2.5, s: 'x', b: true };

describe('POST /events', () => {
  it('answers {accepted, output_events} with the outputs that this event caused', async () => {
    const path = await service.deploy(hot);
    const { status, body } = await service.post(`${path}/events`, reading(31.5, { timestamp: 1_700_000_000_000 }));
    expect([status, body]).toEqual([
      200,
      { accepted: true, output_events: [{ event_type: 'Hot', timestamp: 1_700_000_000_000, fields: { sensor: 'a', value: 31.5 } }] },
    ]);
    expect((await service.post(`${path}/events`, reading(1))).body).toEqual({ accepted: true, output_events: [] });
  });

  it.each([
    [1_700_000_000_000, 1_700_000_000_000],
    ['2023-11-14T22:13:20Z', 1_700_000_000_000],
    ['2023-11-14T23:13:20.5+01:00', 1_700_000_000_500],
  ])('takes the timestamp %o and answers epoch ms', async (timestamp, expected) => {
    const { body } = await service.post(`${await service.deploy(hot)}/events`, reading(40, { timestamp }));
    expect(body.output_events[0].timestamp).toBe(expected);
  });

  it('answers a timestamp of null with 400 invalid_event, alone and in a batch, as the schema says', async () => {
    const path = await service.deploy(typed);
    const event = { event_type: 'A', fields: good, timestamp: null };
    expect(await service.post(`${path}/events`, event)).toMatchObject({ status: 400, body: { details: { field: 'timestamp' } } });
    const batch = await service.post(`${path}/events-batch`, { events: [event, { ...event, timestamp: 5 }] });
    expect(batch.body).toMatchObject({ accepted: 1, rejected: 1, errors: [{ index: 0, code: 'invalid_event' }] });
  });

  it.each([
    ['n', '1'],
    ['n', 1.5],
    ['n', 2 ** 53],
    ['f', 'x'],
    ['s', 5],
    ['b', 1],
    ['b', 'true'],
  ])('answers a wrong %s, %o, with 400 invalid_event that names the field', async (field, value) => {
    const path = await service.deploy(typed);
    const answer = await service.post(`${path}/events`, { event_type: 'A', fields: { ...good, [field]: value } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_event', details: { field } } });
    expect(answer.body.error).toContain(`\`${field}\``);
    expect((await service.get(path)).body.events_processed).toBe(0);
  });

  it.each([
    ['{"event_type": "A"}'],
    ['{"fields": {}}'],
    ['{"event_type": 5, "fields": {}}'],
    ['{"event_type": "A", "fields": []}'],
    ['{"event_type": "A", "fields": {}, "timestamp": "yesterday"}'],
    ['[]'],
    ['null'],
    ['{"event_type": "A", "fields": {"n": 1e400}}'],
  ])('answers %s with 400 invalid_event', async (body) => {
    expect(await service.post(`${await service.deploy(typed)}/events`, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_event' },
    });
  });

  it.each(['', '{', 'event_type=A', '{"event_type": "A", "fields": {}} x'])('answers %o with 400', async (body) => {
    expect((await service.post(`${await service.deploy(typed)}/events`, body)).status).toBe(400);
  });

  it('takes a field named __proto__ as data', async () => {
    const path = await service.deploy('stream S = Odd.emit(all: to_string(__proto__))\n');
    const { status } = await service.post(
      `${path}/events`,
      '{"event_type": "Odd", "fields": {"__proto__": {"polluted": 1}, "constructor": 2}}',
    );
    expect(status).toBe(200);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('counts an event of a type that no stream names as processed', async () => {
    const path = await service.deploy(hot);
    expect((await service.post(`${path}/events`, { event_type: 'Unheard', fields: {} })).body).toEqual({
      accepted: true,
      output_events: [],
      events_unread: 1,
      unread_types: [{ event_type: 'Unheard', events: 1 }],
    });
    expect((await service.get(path)).body.events_processed).toBe(1);
  });

  it('counts refused events as invalid', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/events`, reading('x'));
    expect((await service.get(`${path}/metrics`)).body).toMatchObject({ events_invalid: 1, events_processed: 0 });
  });
});

describe('an answer about events that could have no effect', () => {
  const rules =
    'event LoginFailed:\n    user: str\n    ip: str\n\nstream S = LoginFailed as a -> LoginFailed where user == a.user within 5m\n    .emit()\n';
  const event = (event_type: string, timestamp: number, fields: object = { user: 'ann', ip: '1' }) => ({ event_type, fields, timestamp });
  const ahead = 12_959_000;
  const unread = { events_unread: 1, unread_types: [{ event_type: 'LoginFail', events: 1, did_you_mean: 'LoginFailed' }] };
  const incomplete = { events_incomplete: 1, incomplete_fields: [{ event_type: 'LoginFailed', field: 'ip', events: 1 }] };
  const late = { events_late: 1, watermark: ahead };

  it('names members that mean nothing, with what was meant', async () => {
    const path = await service.deploy(rules);
    const fields = { user: 'ann', ip: '1' };
    const unknown = { unknown_members: [{ member: 'timestmap', events: 1, did_you_mean: 'timestamp' }] };
    const one = { event_type: 'LoginFailed', fields, timestmap: 5, id: 'a' };
    expect((await service.post(`${path}/events`, one)).body).toEqual({ accepted: true, output_events: [], ...unknown });
    const twice = { events: [one, { event_type: 'LoginFailed', fields, ts: 5, timestmap: 6, whence: 'here' }] };
    expect((await service.post(`${path}/events-batch`, twice)).body.unknown_members).toEqual([
      { member: 'timestmap', events: 2, did_you_mean: 'timestamp' },
      { member: 'ts', events: 1, did_you_mean: 'timestamp' },
      { member: 'whence', events: 1 },
    ]);
    const line = (members: object): string => `${JSON.stringify({ event_type: 'LoginFailed', ...members })}\n`;
    const lines = async (...all: object[]) => {
      const type = 'application/x-ndjson';
      return (await service.post(`${path}/events-batch`, all.map(line).join(''), { headers: { 'content-type': type } })).body
        .unknown_members;
    };
    expect(await lines({ data: fields, timestmap: 5 })).toEqual(unknown.unknown_members);
    expect(await lines({ fields, data: fields })).toEqual([{ member: 'data', events: 1 }]);
    expect(await lines({ ...fields, timestmap: 5 }, { fields, timestamp: 5 }, { data: fields, '@timestamp': 5 })).toBeUndefined();
  });

  it('has members for what there is to tell, and no others', async () => {
    const path = await service.deploy(rules);
    const answer = async (...args: Parameters<typeof event>) => (await service.post(`${path}/events`, event(...args))).body;
    expect(await answer('LoginFailed', ahead)).toEqual({ accepted: true, output_events: [] });
    expect(await answer('LoginFail', 0)).toEqual({ accepted: true, output_events: [], ...unread });
    expect(await answer('LoginFailed', ahead, { user: 'bob' })).toEqual({ accepted: true, output_events: [], ...incomplete });
    expect(await answer('LoginFailed', 5)).toEqual({ accepted: true, output_events: [], ...late });
  });

  it('says the same of a batch, in JSON and in lines, and the metrics and the explanation of the pipeline keep it', async () => {
    const events = [
      event('LoginFailed', ahead),
      event('LoginFail', 0),
      event('LoginFailed', ahead, { user: 'bob' }),
      event('LoginFailed', 5),
    ];
    for (const isLines of [false, true]) {
      const path = await service.deploy(rules);
      const body = isLines ? events.map((one) => JSON.stringify(one)).join('\n') : { events };
      const answer = await service.post(`${path}/events-batch`, body, isLines ? { headers: lines } : {});
      expect(answer.body).toMatchObject({ accepted: 4, rejected: 0, ...unread, ...incomplete, ...late });
      expect((await service.get(`${path}/metrics`)).body).toMatchObject({ ...unread, ...incomplete, ...late });
      const explained = (await service.get(`${path}/explain?stream=S`)).body;
      expect(explained).toMatchObject({ input: { ...unread, ...incomplete, ...late }, pattern: { furthest: { steps_taken: 1 } } });
    }
  });

  it('is without them for a batch of plain events', async () => {
    const path = await service.deploy(rules);
    const { body } = await service.post(`${path}/events-batch`, { events: [event('LoginFailed', 1), event('LoginFailed', 2)] });
    expect(Object.keys(body)).toEqual(['accepted', 'rejected', 'errors', 'output_events', 'processing_time_us']);
  });
});

describe('nanoseconds in a field that is declared as a timestamp', () => {
  it('are its time, in one event, a batch, and lines', async () => {
    const path = await service.deploy('event A: n: int, at: timestamp\n\nstream S = A.emit(n)\n');
    const event = (n: number) => `{"event_type":"A","fields":{"n":${n},"at":1700000000500000000}}`;
    const answers = [
      await service.post(`${path}/events`, event(1)),
      await service.post(`${path}/events-batch`, `{"events":[${event(2)}]}`),
      await service.post(`${path}/events-batch`, `${event(3)}\n`, { headers: lines }),
    ];
    const outputs = answers.flatMap(({ body }) => body.output_events);
    expect(outputs).toEqual([1, 2, 3].map((n) => ({ event_type: 'S', timestamp: 1_700_000_000_500, fields: { n } })));
  });
});

describe('?time_field', () => {
  const timed = 'stream S = Reading.emit(value)\n';
  const fields = { value: 40, ts: '2023-11-14T23:13:20.5+0100' };

  it('names the field that says the time, in one event, a batch and lines', async () => {
    const path = await service.deploy(timed);
    const at = 1_700_000_000_500;
    const one = await service.post(`${path}/events?time_field=ts`, { event_type: 'Reading', fields, timestamp: 5 });
    expect(one.body.output_events[0].timestamp).toBe(at);
    const events = [{ event_type: 'Reading', fields: { value: 41, ts: at / 1000 } }];
    const many = await service.post(`${path}/events-batch?time_field=ts`, { events });
    expect(many.body.output_events[0].timestamp).toBe(at);
    const line = JSON.stringify({ event_type: 'Reading', data: { value: 42 }, ts: at * 1000 });
    const inLines = await service.post(`${path}/events-batch?time_field=ts`, `${line}\n`, { headers: lines });
    expect(inLines.body.output_events[0].timestamp).toBe(at);
  });

  it('leaves an event without that field to what else says its time', async () => {
    const path = await service.deploy(timed);
    const event = { event_type: 'Reading', fields: { value: 40, '@timestamp': '2023-11-14T22:13:20Z' } };
    expect((await service.post(`${path}/events?time_field=ts`, event)).body.output_events[0].timestamp).toBe(1_700_000_000_000);
  });
});

describe('POST /events-batch', () => {
  it.each([
    ['{"events":[EVENT],"outputs":false,"durable":true}', "unknown member 'outputs'"],
    ['{"durable":true,"events":[EVENT]}', "unknown member 'durable'"],
    ['{"events":[EVENT],"event":[]}', "did you mean 'events'?"],
  ])('answers more beside the events, as %s, with 400, and takes none of them', async (text, error) => {
    const path = await service.deploy(hot);
    const body = text.replace('EVENT', JSON.stringify(reading(40)));
    expect(await service.post(`${path}/events-batch`, body, { headers: { 'content-type': 'application/json' } })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', error: expect.stringContaining(error) },
    });
    expect((await service.get(path)).body.events_processed).toBe(0);
  });

  it('takes the good events and reports the others by index', async () => {
    const path = await service.deploy(hot);
    const { status, body } = await service.post(`${path}/events-batch`, {
      events: [reading(40), reading('x'), 7, reading(50), { event_type: 'Reading' }, null],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ accepted: 2, rejected: 4 });
    expect(body.errors.map(({ index, code }: { index: number; code: string }) => [index, code])).toEqual(
      [1, 2, 4, 5].map((index) => [index, 'invalid_event']),
    );
    expect(body.output_events.map(({ fields }: { fields: { value: number } }) => fields.value)).toEqual([40, 50]);
    expect(body.processing_time_us).toBeGreaterThan(0);
  });

  it('leaves the outputs out with ?outputs=false', async () => {
    const path = await service.deploy(hot);
    const { body } = await service.post(`${path}/events-batch?outputs=false`, { events: [reading(40)] });
    expect(Object.keys(body)).toEqual(['accepted', 'rejected', 'errors', 'processing_time_us']);
    expect((await service.get(path)).body.output_events_emitted).toBe(1);
  });

  it.each([
    ['fields under fields', JSON.stringify(reading(40))],
    ['fields under data', '{"event_type":"Reading","data":{"sensor":"a","value":40}}'],
    ['fields at the top', '{"event_type":"Reading","sensor":"a","value":40}'],
  ])('takes lines of JSON with %s', async (_what, line) => {
    const path = await service.deploy(hot);
    const { body } = await service.post(`${path}/events-batch`, `${line}\n${line}\n`, { headers: lines });
    expect(body).toMatchObject({ accepted: 2, rejected: 0 });
    expect(body.output_events).toHaveLength(2);
  });

  it('reports a line that cannot be read by its index', async () => {
    const path = await service.deploy(hot);
    const { body } = await service.post(
      `${path}/events-batch`,
      `${JSON.stringify(reading(40))}\n{"event_type"\n${JSON.stringify(reading(50))}`,
      { headers: lines },
    );
    expect(body).toMatchObject({ accepted: 2, rejected: 1, errors: [{ index: 1, code: 'invalid_event' }] });
  });

  it.each([
    ['JSON', { 'content-type': 'application/json' }, (entries: readonly string[]) => `{"events":[${entries.join(',')}]}`],
    ['lines', lines, (entries: readonly string[]) => entries.join('\n')],
  ])('tells of the first 100,000 events of a body of %s that are none, and counts all', async (_what, headers, bodyOf) => {
    const path = await service.deploy(hot);
    const entries = [...Array<string>(150_000).fill('1'), JSON.stringify(reading(40)), '1'];
    const { status, body } = await service.post(`${path}/events-batch`, bodyOf(entries), { headers });
    expect([status, body.accepted, body.rejected, body.errors_omitted]).toEqual([200, 1, 150_001, 50_001]);
    expect([body.errors.length, body.errors.at(-1).index, body.output_events.length]).toEqual([100_000, 99_999, 1]);
    expect((await service.get(`${path}/metrics`)).body.events_invalid).toBe(150_001);
  });

  it.each(['{"events": {}}', '{}', '[]', '{"events": [}', ''])('answers %o with 400', async (body) => {
    expect((await service.post(`${await service.deploy(hot)}/events-batch`, body)).status).toBe(400);
  });

  it.each(['events', 'events-batch', 'restore'])('answers %s without a body with 400', async (path) => {
    const { status, body } = await service.post(`${await service.deploy(hot)}/${path}`);
    expect([status, body.code]).toEqual([400, 'validation_error']);
    expect(body.error).toBe('body: found nothing, expected JSON');
  });

  it('takes no events at all', async () => {
    const { body } = await service.post(`${await service.deploy(hot)}/events-batch`, { events: [] });
    expect(body).toMatchObject({ accepted: 0, rejected: 0, errors: [], output_events: [] });
  });

  it('keeps the order of events over requests that come one after the other', async () => {
    const path = await service.deploy('event A:\n    n: int\n\nstream S = A.emit(n: n)\n');
    const batches = Array.from({ length: 20 }, (_, batch) =>
      Array.from({ length: 50 }, (_, i) => ({ event_type: 'A', fields: { n: batch * 50 + i } })),
    );
    const seen: number[] = [];
    for (const events of batches) {
      const { body } = await service.post(`${path}/events-batch`, { events });
      seen.push(...body.output_events.map(({ fields }: { fields: { n: number } }) => fields.n));
    }
    expect(seen).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });
});

describe('the limits of an event', () => {
  it.each([
    ['1,024 fields', (n: number) => ({ ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, i])) }), 1_024],
    ['a string of 256 KiB', (n: number) => ({ s: 'x'.repeat(n) }), 262_144],
    ['a depth of 32', (n: number) => ({ a: JSON.parse(`${'['.repeat(n - 1)}1${']'.repeat(n - 1)}`) }), 32],
  ])('are %s', async (_what, fields, max) => {
    const path = await service.deploy('stream S = Wide.emit(done: true)\n');
    expect((await service.post(`${path}/events`, { event_type: 'Wide', fields: fields(max) })).status).toBe(200);
    expect(await service.post(`${path}/events`, { event_type: 'Wide', fields: fields(max + 1) })).toMatchObject({
      status: 400,
      body: { code: 'invalid_event' },
    });
  });
});

describe('whole numbers beyond 2^53-1', () => {
  it.each([
    ['a field of type float', 'A', 'f'],
    ['an event of no type', 'Open', 'f'],
  ])('of %s are floats when they have a point or an exponent, and refused when they do not', async (_what, type, field) => {
    const path = await service.deploy(`event A:\n    f: float\n\nstream S = ${type}.emit(f: f)\n`);
    const send = (text: string) => service.post(`${path}/events`, `{"event_type": "${type}", "fields": {"${field}": ${text}}}`);
    for (const [text, value] of [
      ['9007199254740993.0', 9007199254740992],
      ['1e21', 1e21],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ] as const) {
      expect((await send(text)).body.output_events[0].fields).toEqual({ f: value });
    }
    for (const text of ['9007199254740993', '-9007199254740993', '100000000000000000000']) {
      expect(await send(text)).toMatchObject({ status: 400, body: { code: 'invalid_event', details: { field } } });
    }
  });
});

describe('the quota of state', () => {
  it('refuses events with 429 once the state of the pipelines is larger', async () => {
    const { key } = await service.tenant({ quota: { max_state_bytes: 100 } });
    const path = await service.deploy('stream N = A.window(1000).aggregate(n: count()).emit(n: n)\n', { key });
    const event = { event_type: 'A', fields: { x: 1 } };
    expect((await service.post(`${path}/events`, event, { key })).status).toBe(200);
    await service.post(`${path}/stop`, undefined, { key });
    await service.post(`${path}/start`, undefined, { key });
    const refused = await service.post(`${path}/events`, event, { key });
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota_exceeded', error: expect.stringContaining('its quota is 100') } });
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  });
});

describe('?durable=true', () => {
  it('without a state directory is 409 not_durable, and nothing is accepted', async () => {
    const path = await service.deploy(hot);
    for (const [action, body] of [
      ['events', reading(40)],
      ['events-batch', { events: [reading(40)] }],
    ] as const) {
      expect(await service.post(`${path}/${action}?durable=true`, body)).toMatchObject({ status: 409, body: { code: 'not_durable' } });
    }
    expect((await service.get(path)).body.events_processed).toBe(0);
  });

  it('with one answers once the events are on disk', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'cep-contract-'));
    const durable = await Service.start({ stateDir });
    try {
      const path = await durable.deploy(hot);
      expect((await durable.post(`${path}/events-batch?durable=true`, { events: [reading(40)] })).body).toMatchObject({ accepted: 1 });
      expect((await durable.post(`${path}/events?durable=true`, reading(41))).body).toMatchObject({ accepted: true });
    } finally {
      await durable.close();
      await rm(stateDir, { recursive: true });
    }
  });
});

describe('strict events', () => {
  it('make an incomplete event invalid', async () => {
    const strict = await Service.start({ strictEvents: true });
    try {
      const path = await strict.deploy(hot);
      expect(await strict.post(`${path}/events`, { event_type: 'Reading', fields: { value: 40 } })).toMatchObject({
        status: 400,
        body: { code: 'invalid_event' },
      });
    } finally {
      await strict.close();
    }
  });
});

describe('the quota of events per second', () => {
  it('refuses the whole request with 429 and Retry-After: 1, and counts nothing', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const path = await service.deploy(hot, { key });
    const batch = (length: number) => ({ events: Array.from({ length }, () => reading(40)) });
    const answers = await Promise.all(
      [batch(80), batch(80), batch(80)].map((events) => service.post(`${path}/events-batch`, events, { key })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, body, headers } of refused)
      expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'quota_exceeded', '1']);
    const processed = (3 - refused.length) * 80;
    expect((await service.get(path, { key })).body.events_processed).toBe(processed);
    const { body: usage } = await service.get('/api/v1/usage', { key });
    expect(usage.events_processed).toBe(processed);
    expect(usage.events_rejected / 80 + usage.requests_rejected).toBe(refused.length);
  });

  it('tells a batch that can never pass that it is too large', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const path = await service.deploy(hot, { key });
    const { status, body, headers } = await service.post(
      `${path}/events-batch`,
      { events: Array.from({ length: 101 }, () => reading(40)) },
      { key },
    );
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    expect(body).toMatchObject({
      code: 'quota_exceeded',
      error: 'found 101 events in one request, and the quota is 100 a second',
      hint: expect.stringContaining('send smaller batches'),
    });
    expect((await service.get('/api/v1/usage', { key })).body).toMatchObject({ events_processed: 0, events_rejected: 101 });
  });

  it('is asked before the body comes, and counts a body that nobody has read as a request', async () => {
    const { key } = await service.tenant({ quota: { max_events_per_second: 0 } });
    const path = await service.deploy(hot, { key });
    const { host, port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST ${path}/events-batch HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 429 [\s\S]*retry-after: 1\r\n/);
    expect((await service.get('/api/v1/usage', { key })).body).toMatchObject({ events_rejected: 0, requests_rejected: 1 });
  });

  it('lets a repeat of an accepted request have its answer', async () => {
    const { key } = await service.tenant({ quota: { max_events_per_second: 1 } });
    const path = await service.deploy(hot, { key });
    const headers = { 'idempotency-key': 'once' };
    const send = () => service.post(`${path}/events`, reading(40), { key, headers });
    const first = await send();
    expect([await send(), await send()].map(({ text }) => text)).toEqual([first.text, first.text]);
  });
});
