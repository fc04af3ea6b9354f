import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hot, reading, Service, uniqueName } from './service.ts';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});

afterAll(() => service.close());

const deploy = (body: object, options = {}) => service.post('/api/v1/pipelines', body, options);

describe('POST /api/v1/pipelines', () => {
  it('answers 201 with id, name, status and warnings', async () => {
    const name = uniqueName();
    const { status, body } = await deploy({ name, source: hot });
    expect([status, body]).toEqual([201, { id: expect.any(String), name, status: 'running', warnings: [] }]);
  });

  it('answers with the warnings of the program', async () => {
    const source = 'event A:\n    x: int\n\nstream S = A.where(x > 1).where(true)\nstream T = A.having(x > 1).emit(x: x)\n';
    const { status, body } = await deploy({ name: uniqueName(), source });
    expect(status).toBe(201);
    expect(body.warnings).toContainEqual(expect.objectContaining({ severity: 'warning', code: 'W043', line: 5 }));
  });

  it('keeps labels', async () => {
    const labels = { team: 'a' };
    const { body } = await deploy({ name: uniqueName(), source: hot, labels });
    expect((await service.get(`/api/v1/pipelines/${body.id}`)).body.labels).toEqual(labels);
  });

  it.each([
    ['that cannot be read', 'stream X = ', 'parse_error', { line: 1 }],
    ['that cannot work', 'event A:\n    x: int\n\nstream S = A.where(y > 1).emit(x: x)\n', 'validation_error', { line: 4 }],
  ])('answers a program %s with 400 and its diagnostics', async (_what, source, code, place) => {
    const { status, body } = await deploy({ name: uniqueName(), source });
    expect([status, body.code]).toEqual([400, code]);
    const full = {
      severity: 'error',
      code: expect.stringMatching(/^E\d{3}$/),
      column: expect.any(Number),
      end_line: expect.any(Number),
      end_column: expect.any(Number),
      message: expect.any(String),
    };
    expect(body.details).toContainEqual(expect.objectContaining({ ...full, ...place }));
  });

  it('answers an empty program with 400 validation_error', async () => {
    for (const source of ['', '  \n', '# nothing\n'])
      expect(await deploy({ name: uniqueName(), source })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
  });

  it('answers a name that is taken with 409, and keeps nothing', async () => {
    const name = uniqueName();
    await deploy({ name, source: hot });
    expect(await deploy({ name, source: hot })).toMatchObject({ status: 409, body: { code: 'name_taken' } });
  });

  it('answers one pipeline too many with 429 quota_exceeded', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    await service.deploy(hot, { key });
    await service.deploy(hot, { key });
    expect(await deploy({ name: uniqueName(), source: hot }, { key })).toMatchObject({ status: 429, body: { code: 'quota_exceeded' } });
  });

  it('answers one stream too many with 429 quota_exceeded, also at reload', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const streams = (count: number) =>
      `${hot}${Array.from({ length: count - 1 }, (_, i) => `stream S${i} = Reading.emit(v: value)\n`).join('')}`;
    expect(await deploy({ name: uniqueName(), source: streams(6) }, { key })).toMatchObject({
      status: 429,
      body: { code: 'quota_exceeded' },
    });
    const path = await service.deploy(streams(5), { key });
    expect(await service.post(`${path}/reload`, { source: streams(6) }, { key })).toMatchObject({
      status: 429,
      body: { code: 'quota_exceeded' },
    });
  });

  it.each([
    [{ source: hot }, 'name'],
    [{ name: 'x' }, 'source'],
    [{ name: '', source: hot }, 'name'],
    [{ name: 5, source: hot }, 'name'],
    [{ name: 'x', source: hot, lables: {} }, 'lables'],
  ])('answers %o with 400 and names the member', async (body, member) => {
    const answer = await deploy(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error']);
    expect(answer.body.error).toContain(member);
  });
});

describe('GET /api/v1/pipelines', () => {
  it('answers {pipelines, total, pagination} of full entries', async () => {
    const { key } = await service.tenant();
    const path = await service.deploy(hot, { key, name: 'one' });
    await service.post(`${path}/events-batch`, { events: [reading(10), reading(50)] }, { key });
    const { body } = await service.get('/api/v1/pipelines', { key });
    expect(Object.keys(body)).toEqual(['pipelines', 'total', 'pagination']);
    expect(body.pipelines).toEqual([
      {
        id: path.split('/').at(-1),
        name: 'one',
        status: 'running',
        source: hot,
        version: 1,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
        uptime_secs: expect.any(Number),
        events_processed: 2,
        output_events_emitted: 1,
        alerts_generated: 1,
      },
    ]);
  });

  it('is {pipelines: []} of a tenant that has none', async () => {
    const { key } = await service.tenant();
    expect((await service.get('/api/v1/pipelines', { key })).body).toMatchObject({ pipelines: [], total: 0 });
  });
});

describe('GET and DELETE /api/v1/pipelines/{id}', () => {
  it('answer the entry, then {deleted: true}, then 404', async () => {
    const path = await service.deploy(hot);
    expect((await service.get(path)).body).toMatchObject({ id: path.split('/').at(-1), source: hot });
    expect(await service.delete(path)).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await service.get(path)).toMatchObject({ status: 404, body: { code: 'pipeline_not_found' } });
    expect(await service.delete(path)).toMatchObject({ status: 404, body: { code: 'pipeline_not_found' } });
  });

  it('free the name', async () => {
    const name = uniqueName();
    await service.delete(await service.deploy(hot, { name }));
    expect((await deploy({ name, source: hot })).status).toBe(201);
  });
});

describe('every path of a pipeline', () => {
  const paths = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/stop'],
    ['POST', '/start'],
    ['POST', '/events', reading(1)],
    ['POST', '/events-batch', { events: [] }],
    ['GET', '/metrics'],
    ['POST', '/reload', { source: hot }],
    ['POST', '/checkpoint'],
    ['POST', '/restore', { version: 1 }],
    ['GET', '/logs'],
    ['GET', '/dlq'],
    ['POST', '/dlq/replay'],
    ['DELETE', '/dlq'],
    ['GET', '/topology'],
    ['GET', '/explain?stream=Hot'],
    ['GET', '/messages'],
    ['GET', '/reloads'],
  ] as const;

  it.each(paths)('%s %s answers 404 for an id that nobody has, and for that of another tenant', async (method, path, body?: unknown) => {
    const foreign = await service.deploy(hot);
    const { key } = await service.tenant();
    for (const at of ['/api/v1/pipelines/none', foreign]) {
      expect(await service.request(method, `${at}${path}`, { key, body })).toMatchObject({
        status: 404,
        body: { code: 'pipeline_not_found' },
      });
    }
    expect((await service.get(foreign)).body.status).toBe('running');
  });

  it.each(paths.filter(([, path]) => path !== '/logs'))(
    '%s %s answers what it declares while the pipeline is stopped',
    async (method, path, body?: unknown) => {
      const stopped = await service.deploy(hot);
      await service.post(`${stopped}/stop`);
      const { status, body: answer } = await service.request(method, `${stopped}${path}`, { body });
      expect(status).toBeLessThan(500);
      if (status === 409) expect(answer.code).toMatch(/^(pipeline_not_running|checkpoint_\w+)$/);
    },
  );
});

describe('POST /stop and /start', () => {
  it('answer the entry; a stopped pipeline takes no events, and goes on where it was', async () => {
    const path = await service.deploy('event A:\n    x: int\n\nstream N = A.window(3).aggregate(n: count()).emit(n: n)\n');
    const event = { event_type: 'A', fields: { x: 1 } };
    await service.post(`${path}/events`, event);
    expect(await service.post(`${path}/stop`)).toMatchObject({ status: 200, body: { status: 'stopped', uptime_secs: 0 } });
    expect((await service.post(`${path}/stop`)).body.status).toBe('stopped');
    expect(await service.post(`${path}/events`, event)).toMatchObject({ status: 409, body: { code: 'pipeline_not_running' } });
    expect(await service.post(`${path}/events-batch`, { events: [event] })).toMatchObject({
      status: 409,
      body: { code: 'pipeline_not_running' },
    });
    expect(await service.post(`${path}/start`)).toMatchObject({ status: 200, body: { status: 'running', events_processed: 1 } });
    await service.post(`${path}/events`, event);
    expect((await service.post(`${path}/events`, event)).body.output_events).toMatchObject([{ fields: { n: 3 } }]);
  });
});

describe('GET /metrics of a pipeline', () => {
  it('counts what happened', async () => {
    const path = await service.deploy(hot);
    await service.post(`${path}/events-batch`, {
      events: [
        reading(10),
        reading(50),
        reading('x'),
        { event_type: 'Reading', fields: { value: 60 } },
        { event_type: 'Other', fields: {} },
      ],
    });
    const { body } = await service.get(`${path}/metrics`);
    expect(body).toMatchObject({
      pipeline_id: path.split('/').at(-1),
      events_processed: 4,
      output_events_emitted: 2,
      alerts_generated: 2,
      events_invalid: 1,
      events_incomplete: 1,
      events_late: 0,
      dlq_events: 0,
      active_runs: 0,
      latency: { p50_us: expect.any(Number), p95_us: expect.any(Number), p99_us: expect.any(Number) },
      streams: [{ name: 'Hot', events_in: 3, events_out: 2 }],
    });
  });

  it('answers while a program is busy', async () => {
    const path = await service.deploy(
      'event A:\n    n: int\n\nfn spin(n: int):\n    var i = 0\n    while i < n:\n        i := i + 1\n    return i\n\nstream S = A.emit(i: spin(n))\n',
    );
    const busy = service.post(`${path}/events`, { event_type: 'A', fields: { n: 900_000 } });
    expect((await service.get(`${path}/metrics`)).status).toBe(200);
    await busy;
  });
});

describe('GET /topology', () => {
  it('answers {nodes, edges}', async () => {
    const { body } = await service.get(`${await service.deploy(hot)}/topology`);
    expect(body.nodes).toContainEqual(
      expect.objectContaining({ id: expect.any(String), label: 'Hot', node_type: 'stream', config: expect.any(Object) }),
    );
    const ids = new Set(body.nodes.map(({ id }: { id: string }) => id));
    for (const { source, target } of body.edges) expect([ids.has(source), ids.has(target)]).toEqual([true, true]);
    expect(body.edges.length).toBeGreaterThan(0);
  });
});

describe('a connector in GET /topology', () => {
  it('shows its parameters as data, and none that are secret', async () => {
    const connector =
      'connector C = http (url: "http://me:pass@localhost:1/x?tok=hidden", reset_timeout: 4s, headers: {"a": "hidden"}, topic: "http://a?k=hidden")\n';
    const alert = '.alert(url: "https://me:pass@localhost:1/y?tok=hidden#hidden", message: "see http://localhost/z?tok=hidden")';
    const path = await service.deploy(`${connector}stream S = A.emit(x: 1)${alert}.to(C)\n`);
    const { body, text } = await service.get(`${path}/topology`);
    expect(body.nodes).toContainEqual({
      id: 'sink:C',
      label: 'C',
      node_type: 'sink',
      config: { type: 'http', url: 'http://[REDACTED]@localhost:1/x?[REDACTED]', reset_timeout: '4s', topic: 'http://a?[REDACTED]' },
    });
    expect(text).toContain('https://[REDACTED]@localhost:1/y?[REDACTED]');
    expect(text).not.toMatch(/hidden|pass/);
  });
});

describe('the hosts of a connector in GET /topology', () => {
  it.each([
    ['"cep:hunter2@127.0.0.1:1"', '[REDACTED]@127.0.0.1:1'],
    ['"nats://cep:hunter2@127.0.0.1:1,nats://cep:hunter2@[::1]:1"', 'nats://[REDACTED]@127.0.0.1:1,nats://[REDACTED]@[::1]:1'],
    ['["127.0.0.1:1", "hunter2@127.0.0.1:2"]', ['127.0.0.1:1', '[REDACTED]@127.0.0.1:2']],
  ])('%s show no login', async (servers, shown) => {
    const path = await service.deploy(`connector C = nats (servers: ${servers})\nstream S = A.emit(x: 1).to(C, topic: "a")\n`);
    const { body, text } = await service.get(`${path}/topology`);
    expect(body.nodes).toContainEqual(expect.objectContaining({ id: 'sink:C', config: { type: 'nats', servers: shown } }));
    expect(text).not.toContain('hunter2');
  });
});

describe('GET /reloads', () => {
  it('shows each change of the program with what became of its streams, the newest first, and no dry run', async () => {
    const source = 'event A:\n    x: int\n\nstream S = A.where(x > 5).emit(x: x)\n';
    const path = await service.deploy(source);
    expect((await service.get(`${path}/reloads`)).body).toEqual({ reloads: [] });
    await service.post(`${path}/reload`, { source, dry_run: true });
    await service.post(`${path}/reload`, { source: `${source}stream T = A.emit(y: x)\n` });
    await service.post(`${path}/reload`, { source });
    const { body } = await service.get(`${path}/reloads`);
    expect(body.reloads).toMatchObject([
      { version: 3, added: [], removed: ['T'], preserved: ['S'] },
      { version: 2, added: ['T'], removed: [], preserved: ['S'], reset: [], changed: [], lost_state: [] },
    ]);
  });
});

describe('GET /messages and /explain', () => {
  it('show what the program printed, and why a stream gave nothing', async () => {
    const path = await service.deploy('event A:\n    x: int\n\nstream S = A.print("seen").where(x > 5).emit(x: x)\n');
    await service.post(`${path}/events`, { event_type: 'A', fields: { x: 1 } });
    const { body } = await service.get(`${path}/messages`);
    expect(body.messages).toMatchObject([{ stream: 'S', kind: 'print', message: 'seen' }]);
    expect((await service.get(`${path}/explain?stream=S`)).body).toMatchObject({ stream: 'S', events_in: 1, events_out: 0 });
    expect((await service.get(`${path}/explain`)).body).toMatchObject({ code: 'validation_error' });
    expect((await service.get(`${path}/explain?stream=None`)).body).toMatchObject({ code: 'validation_error' });
  });
});

describe('the members of an answer', () => {
  /** Names of fields, streams and event types are the user's, and stand as they were written. */
  const users = /^(fields|data|labels|so_far|runs_dropped|taps)$/;
  const namesOf = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(namesOf);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => [name, ...(users.test(name) ? [] : namesOf(inner))]);
  };

  it('are named in snake_case, whatever is asked', async () => {
    const source =
      'event A:\n    k: str\n    x: int\n\nstream P = A as a -> A as b .within(1h).partition_by(k).emit(x: b.x)\n' +
      'stream W = A.partition_by(k).window(5).aggregate(n: count()).emit(n: n)\n';
    const path = await service.deploy(source);
    await service.post(`${path}/events`, { event_type: 'A', fields: { k: 'one', x: 1 } });
    const asked = ['', '/metrics', '/topology', '/messages', '/dlq', '/explain?stream=P', '/explain?stream=W&key=one'];
    const answers = await Promise.all([...asked.map((at) => service.get(`${path}${at}`)), service.post(`${path}/checkpoint`)]);
    for (const { status } of answers) expect(status).toBe(200);
    expect(answers[6]?.body.windows).toMatchObject([{ key: 'one', count: 1, missing: 4, so_far: { n: 1 } }]);
    const names = answers.slice(0, -1).flatMap(({ body }) => namesOf(body));
    expect(names).toEqual(expect.arrayContaining(['events_in', 'open_runs', 'waits_for']));
    expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  });
});

describe('POST /api/v1/validate', () => {
  it('answers 200 with the diagnostics, for good programs and bad ones', async () => {
    expect((await service.post('/api/v1/validate', { source: hot })).body).toEqual({ valid: true, statements: 2, diagnostics: [] });
    const { status, body } = await service.post('/api/v1/validate', { source: 'stream X = ' });
    expect([status, body.valid, body.diagnostics[0].severity]).toEqual([200, false, 'error']);
  });

  it.each([
    ['a file outside of the work directory', 'file (path: "../x.jsonl")', 'R.to(C)', 'work directory'],
    ['a topic that is no file of the work directory', 'file ()', 'R.to(C, topic: "../x.jsonl")', 'work directory'],
    ['a file to read from outside of it', 'file (path: "/etc/passwd")', 'R.from(C).emit()', 'work directory'],
    ['a profile that there is not', 'kafka (brokers: ["k:9092"], profile: "none")', 'R.to(C, topic: "t")', 'profile'],
    [
      'a profile of a connector that is asked',
      'http (url: "http://a.example", profile: "none")',
      'R.enrich(C, key: v, fields: [w]).emit()',
      'profile',
    ],
    ['an address that is none', 'postgres (url: "nowhere", table: "t")', 'R.to(C)', 'no address of a database'],
  ])('refuses %s, as a deployment does', async (_what, connector, operators, problem) => {
    const source = `event R:\n    v: int\n\nconnector C = ${connector}\nstream S = ${operators}\n`;
    const refusal = await deploy({ name: uniqueName(), source });
    expect(refusal.status).toBeGreaterThanOrEqual(400);
    expect(refusal.body.error).toContain(problem);
    const { status, body } = await service.post('/api/v1/validate', { source });
    const { error: message, hint } = refusal.body;
    expect([status, body.valid, body.statements]).toEqual([200, false, 3]);
    const found = { severity: 'error', code: 'E081', line: 4, column: expect.any(Number), message, ...(hint && { hint }) };
    expect(body.diagnostics).toContainEqual(expect.objectContaining(found));
  });

  it('names every connector that is refused, once, where it is declared', async () => {
    const source =
      'import "parts/bus.vpl"\nconnector Out = file (path: "../x")\nstream S = R.to(Out).to(Bus)\nstream T = R.from(Bus).emit()\n';
    const files = { 'parts/bus.vpl': '# shared\nconnector Bus = file (path: "/bus")\n' };
    const { body } = await service.post('/api/v1/validate', { source, files });
    const errors = body.diagnostics.filter(({ severity }: { severity: string }) => severity === 'error');
    expect(errors).toMatchObject([
      { file: 'parts/bus.vpl', line: 2 },
      { line: 2, message: expect.stringContaining("'../x'") },
    ]);
    expect(errors).toHaveLength(2);
  });

  it('refuses one stream more than the quota has', async () => {
    const { key } = await service.tenant({ plan: 'free' });
    const source = Array.from({ length: 6 }, (_, i) => `stream S${i} = Reading.emit()\n`).join('');
    const { body } = await service.post('/api/v1/validate', { source }, { key });
    expect(body.valid).toBe(false);
    expect(body.diagnostics[0]).toMatchObject({ code: 'E095', message: expect.stringContaining('6 streams') });
  });
});

describe('POST /reload', () => {
  const longer = `${hot}stream Cold = Reading.where(value < 0).emit(value: value)\n`;
  const counting = (field: string) => `event A:\n    x: int\n\nstream N = A.window(3).aggregate(n: ${field}).emit(n: n)\n`;
  const event = { event_type: 'A', fields: { x: 5 } };

  it('answers {reloaded, added, removed, preserved, reset, changed, lost_state, warnings} and counts the version', async () => {
    const path = await service.deploy(hot);
    expect(await service.post(`${path}/reload`, { source: longer })).toMatchObject({
      status: 200,
      body: { reloaded: true, added: ['Cold'], removed: [], preserved: ['Hot'], reset: [], lost_state: [], warnings: [] },
    });
    expect((await service.get(path)).body).toMatchObject({ version: 2, source: longer });
    expect((await service.post(`${path}/reload`, { source: hot })).body).toMatchObject({ removed: ['Cold'] });
    expect((await service.get(path)).body.version).toBe(3);
  });

  it('changes nothing for a dry run', async () => {
    const path = await service.deploy(hot);
    expect((await service.post(`${path}/reload`, { source: longer, dry_run: true })).body).toMatchObject({
      reloaded: false,
      added: ['Cold'],
    });
    expect((await service.get(path)).body).toMatchObject({ version: 1, source: hot });
  });

  it('keeps the state of unchanged operators', async () => {
    const path = await service.deploy(counting('count()'));
    await service.post(`${path}/events-batch`, { events: [event, event] });
    expect((await service.post(`${path}/reload`, { source: `${counting('count()')}stream M = A.emit(x: x)\n` })).body).toMatchObject({
      preserved: ['N'],
    });
    expect((await service.post(`${path}/events`, event)).body.output_events).toContainEqual(expect.objectContaining({ fields: { n: 3 } }));
  });

  it('refuses to reset state only when accept_reset is false', async () => {
    const path = await service.deploy(counting('count()'));
    await service.post(`${path}/events-batch`, { events: [event, event] });
    const refused = await service.post(`${path}/reload`, { source: counting('sum(x)'), accept_reset: false });
    expect(refused).toMatchObject({ status: 409, body: { code: 'state_would_reset' } });
    expect((await service.get(path)).body.version).toBe(1);
    expect((await service.post(`${path}/reload`, { source: counting('sum(x)') })).body.reloaded).toBe(true);
  });

  it.each(['stream X = ', 'event A:\n    x: int\n\nstream S = A.where(y > 1).emit(x: x)\n', ''])(
    'answers %o with 400 and leaves the old program running',
    async (source) => {
      const path = await service.deploy(hot);
      expect((await service.post(`${path}/reload`, { source })).status).toBe(400);
      expect((await service.post(`${path}/events`, reading(40))).body.output_events).toHaveLength(1);
      expect((await service.get(path)).body).toMatchObject({ version: 1, source: hot });
    },
  );
});
