import { afterEach, describe, expect, it, vi } from 'vitest';
import { GroupMember } from '../../coordinator/cluster/group-member.ts';
import { keysMax } from '../../coordinator/cluster/key-room.ts';
import { MemoryMember } from '../../coordinator/cluster/memory-member.ts';
import { Replica } from '../../coordinator/cluster/replica.ts';
import type { CoordinatorServerOptions } from '../../coordinator/server/server.ts';
import { type ClusterState, emptyState } from '../../coordinator/state/cluster-state.ts';
import type { Place } from '../../coordinator/state/commands/outcome.ts';
import { withResult } from '../../coordinator/state/sessions.ts';
import { encodeSnapshot } from '../../coordinator/state/snapshot.ts';
import { ProgramValidation } from '../../worker/server/program-validation.ts';
import { Coordinator, coordinatorKey } from './coordinator.ts';
import { ModelWorker } from './model-worker.ts';

const groupsPath = '/api/v1/cluster/pipeline-groups';
const source = 'stream S = Login .emit(user: user)';
let coordinator: Coordinator;
let workers: ModelWorker[] = [];

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  workers = [];
  await coordinator.close();
});

async function start(
  count: number,
  heartbeatTimeoutMs = 3_000,
  more: Pick<Partial<CoordinatorServerOptions>, 'group' | 'validate'> = {},
): Promise<void> {
  const settings = { heartbeatIntervalMs: heartbeatTimeoutMs / 4, heartbeatTimeoutMs, strategy: 'least-loaded' } as const;
  coordinator = await Coordinator.start({ workers: settings, ...more });
  for (let at = 1; at <= count; at++) await startWorker(`w${at}`, heartbeatTimeoutMs / 4);
  await until('/api/v1/cluster/workers', (body) => body.filter(({ status }: { status: string }) => status === 'ready').length === count);
}

async function startWorker(id: string, intervalMs = 750): Promise<ModelWorker> {
  const worker = await ModelWorker.start(id, coordinator.url, { key: coordinatorKey, intervalMs });
  workers.push(worker);
  return worker;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
const until = (path: string, isReached: (body: any) => boolean): Promise<any> =>
  vi.waitFor(
    async () => {
      const { body } = await coordinator.get(path);
      if (!isReached(body)) throw new Error(JSON.stringify(body));
      return body;
    },
    { timeout: 10_000, interval: 20 },
  );

const deploy = (more: object = {}, query = '') =>
  coordinator.post(`${groupsPath}${query}`, { name: 'fraud', pipelines: [{ name: 'p', source }], ...more });
const inject = (n: number, headers: Record<string, string> = {}) =>
  coordinator.post(`${groupsPath}/fraud/inject`, { event_type: 'Login', fields: { user: `u${n}` } }, { headers });
const workerNamed = (id: string): ModelWorker => workers.find((worker) => worker.id === id) as ModelWorker;
const counts = (answer: { body: { output_events?: { fields: { count: number } }[] } }) =>
  answer.body.output_events?.map(({ fields }) => fields.count);

const scrape = async (): Promise<string> =>
  (await fetch(`${coordinator.url}/metrics`, { headers: { 'x-api-key': coordinatorKey } })).text();

describe('a pipeline group', () => {
  it('is deployed to a worker, shown, changed under a new epoch with its state, and taken down', async () => {
    await start(1);
    const made = await deploy();
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        name: 'fraud',
        status: 'running',
        version: 1,
        deployments: [{ worker_id: 'w1', pipeline_name: 'p', replica: 0, status: 'running' }],
      },
    ]);
    expect((await coordinator.get(groupsPath)).body).toMatchObject([{ id: made.body.id }]);
    expect(counts(await inject(1))).toEqual([1]);
    const changed = await coordinator.request('PUT', `${groupsPath}/${made.body.id}`, {
      body: { pipelines: [{ name: 'p', source: `${source}\n` }] },
    });
    expect([changed.status, changed.body]).toMatchObject([200, { version: 2, status: 'running' }]);
    expect(changed.body.deployments[0].epoch).toBeGreaterThan(made.body.deployments[0].epoch);
    expect(counts(await inject(2))).toEqual([2]);
    expect(await coordinator.request('DELETE', `${groupsPath}/fraud`)).toMatchObject({ status: 200, body: { torn_down: true } });
    expect([workerNamed('w1').running, (await coordinator.get(groupsPath)).body]).toEqual([[], []]);
    expect(await coordinator.get(`${groupsPath}/fraud`)).toMatchObject({ status: 404, body: { code: 'group_not_found' } });
  });

  it('says what becomes of keys and sources when its events are divided otherwise', async () => {
    await start(1);
    const { id } = (await deploy({ pipelines: [{ name: 'p', source, replicas: 3, partition_key: 'user' }] })).body;
    const change = async (pipeline: object, query = ''): Promise<unknown> => {
      const body = { pipelines: [{ name: 'p', source, ...pipeline }] };
      return (await coordinator.request('PUT', `${groupsPath}/${id}${query}`, { body })).body.warnings;
    };
    const warning = (text: string): unknown => [expect.stringContaining(`${text}: keys that change hands begin without state.`)];
    const fewer = { replicas: 2, partition_key: 'user' };
    expect(await change(fewer)).toEqual(warning("pipeline 'p' was 3 replicas by 'user', and is 2 replicas by 'user'"));
    expect(await change({ ...fewer, source: `${source}\n` })).toBeUndefined();
    expect(await change({ ...fewer, partition_key: 'ip' }, '?wait=false')).toEqual(
      warning("pipeline 'p' was 2 replicas by 'user', and is 2 replicas by 'ip'"),
    );
    expect(await change({})).toEqual(warning("pipeline 'p' was 2 replicas by 'ip', and is one replica"));
    expect(await change({ partition_key: 'user' })).toBeUndefined();
  });

  it('is refused with the diagnostics of its programs, and with routes to nowhere', async () => {
    await start(1);
    const wrong = await deploy({ pipelines: [{ name: 'p', source: 'stream S = ' }] });
    expect(wrong).toMatchObject({
      status: 400,
      body: { code: 'validation_error', details: { pipelines: [{ name: 'p', diagnostics: [{ severity: 'error' }] }] } },
    });
    const routes = [{ from_pipeline: 'p', to_pipeline: 'q', event_types: ['*'] }];
    expect(await deploy({ routes })).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(await deploy({ pipelines: [{ name: 'p', source, replicas: 2 }] })).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
    expect((await deploy()).status).toBe(201);
    expect(await deploy()).toMatchObject({ status: 409, body: { code: 'name_taken' } });
  });

  it('is refused with a program that imports another one, which says that a group has none', async () => {
    await start(1);
    const pipelines = [{ name: 'p', source: `import "limits.vpl"\n${source}` }];
    const refused = await deploy({ pipelines });
    expect(refused).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(refused.body.error).toBe("the program of pipeline 'p' cannot be deployed: the file `limits.vpl` cannot be read");
    const hint = 'a group takes the text of each program and no files: put what it imports into it';
    expect(refused.body.hint).toBe(hint);
    expect(refused.body.details.pipelines[0].diagnostics[0]).toMatchObject({ code: 'E097', line: 1, hint });
    expect((await deploy({ pipelines: [{ name: 'p', source: 'stream S = ' }] })).body).not.toHaveProperty('hint');
  });

  it('is refused with more streams than a worker takes, before anything of it is kept', async () => {
    await start(1);
    const streams = (count: number) => Array.from({ length: count }, (_, at) => `stream S${at} = Login .emit(user: user)\n`).join('');
    const problem = 'the program has 501 streams, and the quota of the tenant is 500';
    expect(await deploy({ pipelines: [{ name: 'p', source: streams(501) }] })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', error: `the program of pipeline 'p' cannot be deployed: ${problem}` },
    });
    const { body } = await coordinator.post('/api/v1/cluster/validate', { source: streams(501) });
    expect([body.valid, body.diagnostics[0]]).toMatchObject([false, { severity: 'error', code: 'E095', message: problem }]);
    expect((await deploy({ pipelines: [{ name: 'p', source: streams(500) }] })).status).toBe(201);
    const changed = await coordinator.request('PUT', `${groupsPath}/fraud`, { body: { pipelines: [{ name: 'p', source: streams(501) }] } });
    expect([changed.status, (await coordinator.get(`${groupsPath}/fraud`)).body]).toMatchObject([400, { version: 1, status: 'running' }]);
  });

  it('is refused with a program that is empty, as by a server', async () => {
    await start(1);
    await coordinator.post('/api/v1/cluster/connectors', { name: 'Hook', connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } });
    const empty = (at: string) => ({
      status: 400,
      body: { code: 'validation_error', error: `the program of pipeline '${at}' cannot be deployed: it is empty` },
    });
    for (const source of ['', ' \n', '# nothing\n', '# Hook\n']) {
      const pipelines = [
        { name: 'p', source: 'stream S = A' },
        { name: 'q', source },
      ];
      expect(await deploy({ pipelines })).toMatchObject(empty('q'));
      expect((await coordinator.post('/api/v1/cluster/validate', { source })).body).toMatchObject({ valid: true, statements: 0 });
    }
    const { body } = await deploy();
    const change = { pipelines: [{ name: 'p', source: '' }] };
    expect(await coordinator.request('PUT', `${groupsPath}/${body.id}`, { body: change })).toMatchObject(empty('p'));
  });

  it('gives the first answer to a repeat, whatever has become of its worker and of what its programs use', async () => {
    await start(1);
    const headers = { 'idempotency-key': 'k' };
    const connector = '/api/v1/cluster/connectors';
    await coordinator.post(connector, { name: 'Hook', connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } });
    const body = { name: 'fraud', pipelines: [{ name: 'p', source: `${source}.to(Hook)` }] };
    const first = await coordinator.post(groupsPath, body, { headers });
    const changed = { body: { pipelines: [{ name: 'p', source }] }, headers };
    await coordinator.request('PUT', `${groupsPath}/fraud`, changed);
    await coordinator.request('DELETE', `${connector}/Hook`);
    await coordinator.request('DELETE', '/api/v1/cluster/workers/w1');
    const again = await coordinator.post(groupsPath, body, { headers });
    expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
    expect(await coordinator.post(groupsPath, { ...body, name: 'g' }, { headers })).toMatchObject({ status: 422 });
    expect(await deploy({ name: 'g' })).toMatchObject({ status: 503, body: { code: 'no_workers_available' } });
    const gone = await coordinator.request('DELETE', `${groupsPath}/fraud`, { headers: { 'idempotency-key': 'd' } });
    expect(await coordinator.request('DELETE', `${groupsPath}/fraud`, { headers: { 'idempotency-key': 'd' } })).toMatchObject({
      status: gone.status,
      body: gone.body,
    });
  });

  it('is deployed without a key, by a worker that comes anew, where clients have keys of so many requests that no other is taken', async () => {
    const replica = new Replica();
    const nowMs = Date.now();
    let state: ClusterState = emptyState;
    for (let index = 1; index <= keysMax; index++) {
      const id = { session: `k${index}`, sequence: 1, lowestUnacknowledged: 1, digest: '' };
      state = withResult(state, id, { value: null, place: { index, term: 1, nowMs } as Place });
    }
    const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    replica.restore(Buffer.concat([...encodeSnapshot(state)]));
    await start(1, 3_000, { group: new GroupMember({ member, replica, clock: () => nowMs }) });
    const body = { name: 'fraud', pipelines: [{ name: 'p', source }] };
    expect(await coordinator.post(groupsPath, body, { headers: { 'idempotency-key': 'new' } })).toMatchObject({
      status: 503,
      body: { code: 'overloaded', error: expect.stringContaining(`${keysMax} requests`) },
    });
    expect((await deploy()).status).toBe(201);
  });

  it('keeps the connectors that it uses', async () => {
    await start(1);
    const connectors = '/api/v1/cluster/connectors';
    for (const name of ['Hook', 'Other']) {
      await coordinator.post(connectors, { name, connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } });
    }
    await deploy({ pipelines: [{ name: 'p', source: `# Other\n${source}.to(Hook)` }] });
    expect(await coordinator.request('DELETE', `${connectors}/Hook`)).toMatchObject({
      status: 409,
      body: { code: 'transition_refused', error: "connector 'Hook' is used by pipeline 'p' of group 'fraud'" },
    });
    expect(await coordinator.request('DELETE', `${connectors}/Other`)).toMatchObject({ status: 200, body: { deleted: true } });
    await coordinator.request('DELETE', `${groupsPath}/fraud`);
    expect(await coordinator.request('DELETE', `${connectors}/Hook`)).toMatchObject({ status: 200 });
  });

  it('can begin anew after a change of a connector that it uses, or the change is refused', async () => {
    await start(1);
    const connectors = '/api/v1/cluster/connectors';
    const http = { connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } };
    await coordinator.post(connectors, { name: 'Hook', ...http });
    const output = { connector_type: 'console', params: {} };
    expect((await deploy({ pipelines: [{ name: 'p', source: 'stream S = Login.from(Hook) .emit(user: user)' }] })).status).toBe(201);
    const change = (body: object) => coordinator.request('PUT', `${connectors}/Hook`, { body });
    const refused = await change(output);
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: 'transition_refused',
        details: { pipelines: [{ name: 'p', diagnostics: expect.arrayContaining([expect.objectContaining({ severity: 'error' })]) }] },
      },
    });
    expect(refused.body.error).toContain("pipeline 'p' of group 'fraud' could not begin anew");
    expect((await coordinator.get(`${connectors}/Hook`)).body).toMatchObject({ connector_type: 'http', version: 1 });
    expect(await change({ ...http, params: { url: 'http://127.0.0.1:10/' } })).toMatchObject({ status: 200, body: { version: 2 } });
    await coordinator.request('DELETE', `${groupsPath}/fraud`);
    expect(await change(output)).toMatchObject({ status: 200 });
  });

  it('of many pipelines is checked without a warning of Node in the log', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    await start(0);
    const pipelines = Array.from({ length: 30 }, (_, at) => ({ name: `p${at}`, source: `stream S${at} = Login .emit(user: user)` }));
    expect((await deploy({ pipelines }, '?wait=false')).status).toBe(202);
    // Node warns in a later turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('is judged once for each program that names a connector which is changed', async () => {
    const validation = new ProgramValidation();
    let checks = 0;
    const validate: CoordinatorServerOptions['validate'] = (...asked) => {
      checks++;
      return validation.validate(...asked);
    };
    await start(1, 3_000, { validate });
    const connectors = '/api/v1/cluster/connectors';
    const http = { connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } };
    await coordinator.post(connectors, { name: 'Hook', ...http });
    const programs = [`${source}.to(Hook)`, `${source}.to(Hook)`, `# Hook\n${source}`, source];
    await deploy({ pipelines: programs.map((text, at) => ({ name: `p${at}`, source: text })) });
    checks = 0;
    const params = { url: 'http://127.0.0.1:10/' };
    expect(await coordinator.request('PUT', `${connectors}/Hook`, { body: { ...http, params } })).toMatchObject({ status: 200 });
    expect(checks).toBe(2);
    validation.close();
  });

  it('that comes while others are judged is judged too before a connector goes', async () => {
    const validation = new ProgramValidation();
    let isHeld = false;
    let release: (() => void) | undefined;
    const validate: CoordinatorServerOptions['validate'] = async (program, waiting) => {
      if (isHeld && program.source.includes('# Hook')) {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return validation.validate(program, waiting);
    };
    await start(1, 3_000, { validate });
    const connectors = '/api/v1/cluster/connectors';
    await coordinator.post(connectors, { name: 'Hook', connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } });
    await deploy({ pipelines: [{ name: 'p', source: `# Hook\n${source}` }] });
    isHeld = true;
    const deleted = coordinator.request('DELETE', `${connectors}/Hook`);
    await vi.waitFor(() => expect(release).toBeDefined());
    expect((await deploy({ name: 'late', pipelines: [{ name: 'q', source: `${source}.to(Hook)` }] }, '?wait=false')).status).toBe(202);
    isHeld = false;
    release?.();
    expect(await deleted).toMatchObject({ status: 409, body: { error: "connector 'Hook' is used by pipeline 'q' of group 'late'" } });
    validation.close();
  });

  it('is not what a repeated change of a connector is judged by', async () => {
    await start(1);
    const connectors = '/api/v1/cluster/connectors';
    const http = { connector_type: 'http', params: { url: 'http://127.0.0.1:9/' } };
    await coordinator.post(connectors, { name: 'Hook', ...http });
    const change = (body: object, key: string) =>
      coordinator.request('PUT', `${connectors}/Hook`, { body, headers: { 'idempotency-key': key } });
    const output = { connector_type: 'console', params: {} };
    const first = await change(output, 'k1');
    await change(http, 'k2');
    expect((await deploy({ pipelines: [{ name: 'p', source: 'stream S = Login.from(Hook) .emit(user: user)' }] })).status).toBe(201);
    expect(await change(output, 'k1')).toMatchObject({ status: 200, body: first.body });
    expect((await coordinator.get(`${connectors}/Hook`)).body).toMatchObject({ connector_type: 'http', version: 3 });
  });

  it('without workers is refused, or waits for one', async () => {
    await start(0);
    expect(await deploy()).toMatchObject({ status: 503, body: { code: 'no_workers_available' } });
    const routes = [{ from_pipeline: 'p', to_pipeline: 'q', event_types: ['*'] }];
    const wrong = { status: 400, body: { code: 'validation_error' } };
    expect([await deploy({ routes }), await deploy({ pipelines: [{ name: 'p', source, replicas: 2 }] })]).toMatchObject([wrong, wrong]);
    expect(await deploy({}, '?wait=false')).toMatchObject({
      status: 202,
      body: { status: 'deploying', deployments: [{ status: 'pending', worker_id: null }] },
    });
    expect(await deploy()).toMatchObject({ status: 409, body: { code: 'name_taken' } });
    await startWorker('w1');
    await until(`${groupsPath}/fraud`, ({ status }) => status === 'running');
  });
});

describe('events from outside', () => {
  it('are told of as a server does: what was late, lacked a field, or is of a type that no pipeline reads which has it', async () => {
    await start(2);
    const pipelines = [
      { name: 'a', source },
      { name: 'b', source, replicas: 2, partition_key: 'user' },
    ];
    const routes = ['a', 'b'].map((to) => ({ from_pipeline: '_external', to_pipeline: to, event_types: ['*'] }));
    await deploy({ pipelines, routes });
    // Pipelines of one worker say the same: `a` has all three types, of which `b` reads Login.
    const reads: Record<string, readonly string[]> = { a: ['Order'], b: ['Login'] };
    for (const worker of workers) {
      worker.notesOf = (events, id) => {
        const count = (type: string): number => events.filter(({ event_type }) => event_type === type).length;
        const names = ['Login', 'Order', 'Odrer'].filter((type) => count(type) > 0 && !reads[id.split(':')[1] as string]?.includes(type));
        const unread = names.map((type) => ({ event_type: type, events: count(type), ...(type === 'Odrer' && { did_you_mean: 'Order' }) }));
        const late = count('Login');
        return {
          ...(unread.length > 0 && { events_unread: unread.reduce((sum, { events }) => sum + events, 0), unread_types: unread }),
          ...(late > 0 && { events_late: late, watermark: id.endsWith('1') ? 7 : 5 }),
          ...(late > 0 && { events_incomplete: late, incomplete_fields: [{ event_type: 'Login', field: 'ip', events: late }] }),
        };
      };
    }
    const of = (type: string, count: number) => Array.from({ length: count }, (_, n) => ({ event_type: type, fields: { user: `u${n}` } }));
    const events = [...of('Login', 20), ...of('Order', 3), ...of('Odrer', 2)];
    const path = `${groupsPath}/fraud/inject`;
    const { body } = await coordinator.post(`${path}-batch`, { events });
    expect(body).toMatchObject({
      ...{ accepted: 25, rejected: 0, events_late: 40, watermark: 7, events_unread: 2 },
      unread_types: [{ event_type: 'Odrer', events: 2, did_you_mean: 'Order' }],
      ...{ events_incomplete: 40, incomplete_fields: [{ event_type: 'Login', field: 'ip', events: 40 }] },
    });
    const one = await coordinator.post(path, { ...events[20], pipeline: 'b' });
    expect(one.body).toMatchObject({ accepted: true, events_unread: 1, unread_types: [{ event_type: 'Order', events: 1 }] });
    const read = await coordinator.post(path, { ...events[20], pipeline: 'a' });
    expect(Object.keys(read.body)).toEqual(['routed_to', 'worker_id', 'accepted', 'output_events']);
  });

  it('go to the pipelines of entry routes, and to replicas by their key', async () => {
    await start(2);
    const pipelines = [
      { name: 'a', source },
      { name: 'b', source, replicas: 2, partition_key: 'user' },
    ];
    await deploy({ pipelines, routes: [{ from_pipeline: '_external', to_pipeline: 'b', event_types: ['Log*'] }] });
    const users = Array.from({ length: 20 }, (_, n) => ({ event_type: 'Login', fields: { user: `u${n}` } }));
    const batch = await coordinator.post(`${groupsPath}/fraud/inject-batch`, {
      events: [...users, { event_type: 'Other', fields: {} }, { fields: 1 }],
    });
    expect([batch.status, batch.body]).toMatchObject([
      200,
      {
        routed_to: ['b'],
        accepted: 20,
        rejected: 2,
        errors: [
          { index: 20, code: 'no_route' },
          { index: 21, code: 'invalid_event' },
        ],
      },
    ]);
    const seen = workers.flatMap(({ held }) => [...held].filter(([id]) => id.includes(':b:')).map(([, { seen }]) => seen.length));
    expect(seen.reduce((sum, n) => sum + n, 0)).toBe(20);
    expect(Math.min(...seen)).toBeGreaterThan(0);
    expect(await coordinator.post(`${groupsPath}/fraud/inject`, { event_type: 'Other', fields: {} })).toMatchObject({
      status: 400,
      body: { code: 'no_route' },
    });
    const named = await coordinator.post(`${groupsPath}/fraud/inject`, { event_type: 'Other', fields: {}, pipeline: 'a' });
    expect(named.body).toMatchObject({ routed_to: ['a'], accepted: true });
    expect(await coordinator.post(`${groupsPath}/fraud/inject`, { event_type: 'X', fields: {}, pipeline: 'z' })).toMatchObject({
      status: 404,
      body: { code: 'pipeline_not_found' },
    });
  });

  it('count once under the same key', async () => {
    await start(1);
    await deploy();
    const first = await inject(1, { 'idempotency-key': 'k1' });
    const again = await inject(1, { 'idempotency-key': 'k1' });
    expect([counts(first), counts(again)]).toEqual([[1], [1]]);
    expect(await inject(2, { 'idempotency-key': 'k1' })).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    expect(counts(await inject(3))).toEqual([2]);
  });

  it('are told as they were under the same key, whatever the group has become by then', async () => {
    await start(1);
    await deploy({ routes: [{ from_pipeline: '_external', to_pipeline: 'p', event_types: ['*'] }] });
    const first = await inject(1, { 'idempotency-key': 'k1' });
    expect(counts(first)).toEqual([1]);
    const routes = [{ from_pipeline: '_external', to_pipeline: 'p', event_types: ['Other'] }];
    await coordinator.request('PUT', `${groupsPath}/fraud`, { body: { pipelines: [{ name: 'p', source }], routes } });
    const again = await inject(1, { 'idempotency-key': 'k1' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(await inject(1, { 'idempotency-key': 'k2' })).toMatchObject({ status: 400, body: { code: 'no_route' } });
    await workerNamed('w1').kill();
    await until(`${groupsPath}/fraud`, ({ deployments: [now] }) => now.status === 'pending');
    const later = await inject(1, { 'idempotency-key': 'k1' });
    expect([later.status, later.body]).toEqual([200, first.body]);
  });

  it('come as lines of an event file too', async () => {
    await start(1);
    await deploy();
    const text = '@0 Login { user: "ada" }\nno event\n@5 Login { user: "bob" }\n';
    const batch = await coordinator.post(`${groupsPath}/fraud/inject-batch`, { events_text: text });
    expect(batch.body).toMatchObject({ accepted: 2, rejected: 1, errors: [{ index: 1, code: 'invalid_event' }] });
  });

  it('come as lines of an event file that are read by what the pipeline declares to which they go', async () => {
    await start(1);
    const declared = (fields: string) => `event P: ${fields}\nstream S = P.emit()`;
    const pipelines = [
      { name: 'a', source: declared('other: str') },
      { name: 'b', source: declared('a: str, n: int, at: timestamp?') },
      { name: 'c', source: `${declared('no: int')}\nevent Q: q: int` },
    ];
    const routes = ['b', 'c'].map((name) => ({ from_pipeline: '_external', to_pipeline: name, event_types: [name === 'b' ? 'P' : 'Q'] }));
    await deploy({ pipelines, routes });
    const at = '2026-01-31T10:00:00Z';
    const text = `@5s P("x", 2)\n@6s P { at: "${at}" }\nP("y", 3, null, 4)\n@7s {"event_type":"P","data":{},"timestamp":1769853600}\n@8s Q(1)\n`;
    const before = Date.now();
    const batch = await coordinator.post(`${groupsPath}/fraud/inject-batch`, { events_text: text });
    const error = 'line 3: found 4 values, expected at most 3: P has a, n, at';
    expect(batch.body).toMatchObject({ accepted: 4, rejected: 1, errors: [{ index: 2, code: 'invalid_event', error }] });
    const { taken } = workerNamed('w1');
    expect(taken).toHaveLength(4);
    expect(taken).toEqual(
      expect.arrayContaining([
        { event_type: 'P', fields: { a: 'x', n: 2 }, timestamp: expect.any(Number) },
        { event_type: 'P', fields: { at } },
        { event_type: 'P', fields: {}, timestamp: 1_769_853_600_000 },
        { event_type: 'Q', fields: { q: 1 }, timestamp: expect.any(Number) },
      ]),
    );
    const first = taken.find((event) => (event as { fields: { a?: string } }).fields.a === 'x') as { readonly timestamp: number };
    expect(first.timestamp).toBeGreaterThanOrEqual(before + 5_000);
  });

  it('may have members beside those of an event, as on a server', async () => {
    await start(1);
    await deploy();
    const event = { event_type: 'Login', fields: { user: 'ada' }, colour: 'red' };
    const inject = (body: object) => coordinator.post(`${groupsPath}/fraud/inject`, body);
    const batch = (body: object) => coordinator.post(`${groupsPath}/fraud/inject-batch`, body);
    const unknown = (events: number) => [{ member: 'colour', events }];
    expect(await inject({ ...event, pipeline: 'p' })).toMatchObject({ status: 200, body: { accepted: true, unknown_members: unknown(1) } });
    const meant = { ...event, colour: undefined, timestmap: 5, id: 'a' };
    expect((await batch({ events: [event, event, meant] })).body).toMatchObject({
      ...{ accepted: 3, rejected: 0 },
      unknown_members: [...unknown(2), { member: 'timestmap', events: 1, did_you_mean: 'timestamp' }],
    });
    const line = JSON.stringify({ event_type: 'Login', data: event.fields, colour: 'red' });
    expect((await batch({ events_text: `${line}\n` })).body).toMatchObject({ accepted: 1, unknown_members: unknown(1) });
    for (const usual of [
      { ...event, colour: undefined },
      { ...event, colour: undefined, timestamp: 5, id: 'a' },
    ]) {
      expect((await inject(usual)).body).not.toHaveProperty('unknown_members');
      expect((await batch({ events: [usual] })).body).not.toHaveProperty('unknown_members');
    }
  });

  it('with more beside a batch than it may have are refused, and none of them is taken', async () => {
    await start(1);
    await deploy();
    const event = { event_type: 'Login', fields: { user: 'ada' } };
    for (const [body, name, hint] of [
      [{ events: [event], durable: true }, 'durable', undefined],
      [{ events_text: 'Login { user: "ada" }', pipelines: 'p' }, 'pipelines', "did you mean 'pipeline'?"],
    ] as const) {
      const { status, body: answer } = await coordinator.post(`${groupsPath}/fraud/inject-batch`, body);
      expect([status, answer.code, answer.error, answer.hint]).toEqual([
        ...[400, 'validation_error'],
        ...[`unknown member '${name}': expected events, events_text, pipeline`, hint],
      ]);
    }
    expect(workerNamed('w1').taken).toEqual([]);
  });

  it.each([
    ['events', (bad: number) => ({ events: [{ event_type: 'Login', fields: { user: 'ada' } }, ...Array(bad).fill(1)] })],
    ['lines', (bad: number) => ({ events_text: `Login { user: "ada" }\n${'1\n'.repeat(bad)}` })],
  ])('in a batch of %s are refused as a whole where more than 100,000 entries are none', async (_what, batchOf) => {
    await start(1);
    await deploy();
    const inject = (bad: number) => coordinator.post(`${groupsPath}/fraud/inject-batch`, batchOf(bad));
    expect(await inject(100_001)).toMatchObject({
      status: 400,
      body: { code: 'validation_error', error: 'more than 100000 entries of the batch are no events, so none of it was taken' },
    });
    expect(workerNamed('w1').taken).toEqual([]);
    const { body } = await inject(100_000);
    expect([body.accepted, body.rejected, body.errors.length, body.errors.at(-1).index]).toEqual([1, 100_000, 100_000, 100_000]);
  });

  it('for a pipeline that the group lacks are answered 404, however many they are', async () => {
    await start(1);
    await deploy();
    const event = { event_type: 'Login', fields: { user: 'ada' } };
    for (const [route, body] of [
      ['inject', event],
      ['inject-batch', { events: [event] }],
      ['inject-batch', { events: [] }],
      ['inject-batch', { events_text: 'Login { user: "ada" }' }],
    ] as const)
      expect(await coordinator.post(`${groupsPath}/fraud/${route}`, { ...body, pipeline: 'none' })).toMatchObject({
        status: 404,
        body: { code: 'pipeline_not_found' },
      });
    const named = await coordinator.post(`${groupsPath}/fraud/inject-batch`, { events: [event], pipeline: 'p' });
    expect(named).toMatchObject({ status: 200, body: { accepted: 1, routed_to: ['p'] } });
  });

  it('that their worker does not take are refused, and hold up nothing that comes with them', async () => {
    await start(1);
    await deploy();
    workerNamed('w1').refusesField = 'poison';
    const bad = (n: number) =>
      coordinator.post(`${groupsPath}/fraud/inject`, { event_type: 'Login', fields: { user: `u${n}`, poison: 1 } });
    const answers = await Promise.all([inject(1), bad(2), inject(3), bad(4), inject(5)]);
    expect(answers.map(({ status, body }) => (status === 200 ? 200 : `${status} ${body.code}: ${body.error}`))).toEqual([
      200,
      "400 validation_error: a field 'poison'",
      200,
      "400 validation_error: a field 'poison'",
      200,
    ]);
    expect(counts(await inject(6))).toEqual([4]);
  });

  it('that are none, or have a wrong field, are refused as by a server, with the name of it', async () => {
    await start(1);
    await deploy();
    workerNamed('w1').invalidField = 'age';
    const event = { event_type: 'Login', fields: { user: 'ada' } };
    const wrong: readonly (readonly [unknown, string])[] = [
      [{ fields: {} }, 'event_type'],
      [{ event_type: 5, fields: {} }, 'event_type'],
      [{ event_type: 'Login' }, 'fields'],
      [{ event_type: 'Login', fields: [] }, 'fields'],
      [{ ...event, timestamp: null }, 'timestamp'],
      [[], ''],
      [null, ''],
      [{ ...event, fields: { age: 'x' } }, 'age'],
    ];
    for (const [body, field] of wrong) {
      expect([body, await coordinator.post(`${groupsPath}/fraud/inject`, body)]).toMatchObject([
        body,
        {
          status: 400,
          body: { code: 'invalid_event', error: expect.stringMatching(`^(${field}: )?found |^it is wrong$`), details: { field } },
        },
      ]);
    }
    const named = await coordinator.post(`${groupsPath}/fraud/inject`, { ...event, pipeline: 5 });
    expect(named).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    const batch = await coordinator.post(`${groupsPath}/fraud/inject-batch`, { events: [event, { ...event, fields: { age: 1 } }] });
    expect(batch.body).toMatchObject({ accepted: 1, rejected: 1 });
    expect(batch.body.errors).toEqual([{ index: 1, code: 'invalid_event', error: 'it is wrong' }]);
  });

  it('that are too large for the log are refused one by one', async () => {
    await start(1);
    await deploy();
    const events = [1, 400_000, 1_100_000, 2].map((length) => ({ event_type: 'Login', fields: { user: '"'.repeat(length) } }));
    const { status, body } = await coordinator.post(`${groupsPath}/fraud/inject-batch`, { events });
    expect([status, body.accepted, body.errors]).toMatchObject([200, 3, [{ index: 2, code: 'invalid_event' }]]);
    expect(body.errors[0].error).toMatch(/has 2200\d+ bytes, and no more than 1000000 are taken/);
  });

  it('for a pipeline without a worker are refused for now', async () => {
    await start(0);
    await deploy({}, '?wait=false');
    expect(await inject(1)).toMatchObject({ status: 503, body: { code: 'pipeline_moving', retry_after_seconds: 1 } });
  }, 15_000);
});

describe('a worker that dies', () => {
  it('loses nothing that was acknowledged, with a checkpoint and without', async () => {
    await start(2);
    const { body } = await deploy();
    const [{ worker_id: first, epoch }] = body.deployments;
    for (const n of [1, 2]) await inject(n);
    await workerNamed(first).checkpoint(`${body.id}:p:0`);
    for (const n of [3, 4]) await inject(n);
    await workerNamed(first).kill();
    expect(counts(await inject(5))).toEqual([5]);
    const [now] = (await coordinator.get(`${groupsPath}/fraud`)).body.deployments;
    expect(now).toMatchObject({ status: 'running', worker_id: first === 'w1' ? 'w2' : 'w1' });
    expect(now.epoch).toBeGreaterThan(epoch);
    const { held } = workerNamed(now.worker_id);
    expect(held.get(`${body.id}:p:0`)?.seen).toEqual([1, 2, 3, 4, 5].map((n) => `{"user":"u${n}"}`));
    expect(await scrape()).toContain('\ncep_cluster_failovers_total 1\n');
  });

  it('and is there again at once, as another process, gets its pipelines anew', async () => {
    await start(1);
    const { body } = await deploy();
    await inject(1);
    const worker = workerNamed('w1');
    // The coordinator finds the other process by the connection with which it watches the first.
    await worker.replace();
    await until(`${groupsPath}/fraud`, ({ deployments: [now] }) => now.status === 'running' && now.epoch > body.deployments[0].epoch);
    expect(counts(await inject(2))).toEqual([2]);
    expect(worker.running).toEqual([`${body.id}:p:0`]);
  });

  it('that comes when the leader has led for long is not taken for lost', async () => {
    await start(1, 600);
    await new Promise((resolve) => setTimeout(resolve, 900));
    await startWorker('w2', 150);
    await until('/api/v1/cluster/workers', (body) => body.filter(({ status }: { status: string }) => status === 'ready').length === 2);
    const { body } = await coordinator.get('/api/v1/cluster/events');
    const said = body.filter(({ type, id }: { type: string; id: string }) => type === 'WorkerStatusChanged' && id === 'w2');
    expect(said).toHaveLength(1);
  });

  it('by going silent is waited for, and nobody runs a pipeline twice meanwhile', async () => {
    await start(2, 1_500);
    const { body } = await deploy();
    const id = `${body.id}:p:0`;
    const silent = workerNamed(body.deployments[0].worker_id);
    const other = workers.find((worker) => worker !== silent) as ModelWorker;
    await inject(1);
    silent.hang();
    let owners = 0;
    await vi.waitFor(
      () => {
        owners = Math.max(owners, [silent, other].filter(({ running }) => running.includes(id)).length);
        expect(other.running).toEqual([id]);
      },
      { timeout: 10_000, interval: 5 },
    );
    expect(owners).toBe(1);
    expect(counts(await inject(2))).toEqual([2]);
  });
});

describe('a migration', () => {
  it('moves a pipeline with its state to the named worker', async () => {
    await start(2);
    const { body } = await deploy();
    const from = body.deployments[0].worker_id;
    const to = from === 'w1' ? 'w2' : 'w1';
    await inject(1);
    const started = await coordinator.post('/api/v1/cluster/pipelines/fraud/p/migrate', { target_worker_id: to });
    expect([started.status, started.body]).toMatchObject([202, { source_worker: from, target_worker: to, group: 'fraud', pipeline: 'p' }]);
    await until(`/api/v1/cluster/migrations/${started.body.id}`, ({ status }) => status === 'completed');
    expect(await scrape()).toMatch(
      /\ncep_cluster_migrations_total\{result="completed"\} 1\n(.*\n)*?cep_cluster_migration_seconds_count 1\n/,
    );
    expect(counts(await inject(2))).toEqual([2]);
    expect([workerNamed(from).running, workerNamed(to).running]).toEqual([[], [`${body.id}:p:0`]]);
    expect((await coordinator.get('/api/v1/cluster/migrations')).body).toHaveLength(1);
    expect(await coordinator.post('/api/v1/cluster/pipelines/fraud/z/migrate')).toMatchObject({
      status: 404,
      body: { code: 'pipeline_not_found' },
    });
    expect(await coordinator.get('/api/v1/cluster/migrations/m_1')).toMatchObject({ status: 404, body: { code: 'migration_not_found' } });
  });

  it('that is asked for again with its key is the first one, also when no worker is left to move to', async () => {
    await start(2);
    const { body } = await deploy();
    const from = body.deployments[0].worker_id;
    const migrate = (more?: object) =>
      coordinator.post('/api/v1/cluster/pipelines/fraud/p/migrate', more, { headers: { 'idempotency-key': 'k' } });
    const first = await migrate();
    expect(first.status).toBe(202);
    await until(`/api/v1/cluster/migrations/${first.body.id}`, ({ status }) => status === 'completed');
    expect(await migrate()).toMatchObject({ status: 202, body: { id: first.body.id, source_worker: from } });
    await coordinator.request('DELETE', `/api/v1/cluster/workers/${from}`);
    expect(await migrate()).toMatchObject({ status: 202, body: { id: first.body.id } });
    expect(await migrate({ replica: 0 })).toMatchObject({ status: 422, body: { code: 'idempotency_conflict' } });
    expect((await coordinator.get('/api/v1/cluster/migrations')).body).toHaveLength(1);
  });

  it('is another one when it is taken out of its group and comes again, which only workers are told that all know it', async () => {
    await start(2);
    const [one, two] = [workerNamed('w1'), workerNamed('w2')];
    one.stateFormat = 5;
    await one.heartbeat();
    const { body } = await deploy({ pipelines: [{ name: 'p', source }] });
    const group = `${groupsPath}/${body.id}`;
    const isPlaced = (count: number) => (shown: { deployments: { status: string }[] }) =>
      shown.deployments.length === count && shown.deployments.every(({ status }) => status === 'running');
    const change = async (...names: string[]): Promise<void> => {
      const answer = await coordinator.request('PUT', group, { body: { pipelines: names.map((name) => ({ name, source })) } });
      expect(answer.status).toBe(200);
      await until(group, isPlaced(names.length));
    };
    const told = () => [...one.created.splice(0), ...two.created.splice(0)].filter(([id]) => id.includes(':q:')).map(([, index]) => index);
    await change('p', 'q');
    expect(new Set(told())).toEqual(new Set([undefined]));
    two.stateFormat = 5;
    await two.heartbeat();
    const heard: (number | undefined)[] = [];
    for (let time = 0; time < 2; time++) {
      await change('p');
      told();
      await change('p', 'q');
      await change('p', 'q', 'r');
      const [index, ...others] = new Set(told());
      expect([typeof index, others]).toEqual(['number', []]);
      heard.push(index);
      await change('p', 'q');
    }
    expect(heard[1]).toBeGreaterThan(heard[0] as number);
  });

  it('has its last checkpoint written so that every worker reads it', async () => {
    await start(2);
    workerNamed('w1').stateFormat = 2;
    await workerNamed('w1').heartbeat();
    const { body } = await deploy();
    const move = async (to: string): Promise<void> => {
      const { body } = await coordinator.post('/api/v1/cluster/pipelines/fraud/p/migrate', { target_worker_id: to });
      await until(`/api/v1/cluster/migrations/${body.id}`, ({ status }) => status === 'completed');
    };
    if (body.deployments[0].worker_id === 'w2') await move('w1');
    await move('w2');
    await move('w1');
    workerNamed('w2').stateFormat = 3;
    await workerNamed('w2').heartbeat();
    await move('w2');
    const told = ({ closings }: ModelWorker): (number | undefined)[] =>
      closings.map((closing) => (closing as { state_format?: number }).state_format);
    expect(told(workerNamed('w1'))).toEqual([1, 2]);
    // A version that knows of no formats would refuse a member that it does not know.
    expect(new Set(told(workerNamed('w2')))).toEqual(new Set([undefined]));
  });

  it('drains a worker while events come in, and loses none of them', async () => {
    await start(2);
    const pipelines = Array.from({ length: 6 }, (_, n) => ({ name: `p${n}`, source }));
    await deploy({
      pipelines,
      routes: pipelines.map(({ name }) => ({ from_pipeline: '_external', to_pipeline: name, event_types: ['*'] })),
    });
    let isDone = false;
    let sent = 0;
    const feeding = (async () => {
      while (!isDone) expect((await inject(++sent)).status).toBe(200);
    })();
    const drained = await coordinator.post('/api/v1/cluster/workers/w1/drain');
    isDone = true;
    await feeding;
    expect([drained.status, drained.body]).toMatchObject([200, { worker_id: 'w1', pipelines_migrated: 3, status: 'drained' }]);
    const seen = [...workerNamed('w2').held.values()].map(({ seen }) => seen.length);
    expect(seen).toEqual(Array(6).fill(sent));
    expect(await coordinator.post('/api/v1/cluster/workers/w2/drain', { timeout_secs: 0.2 })).toMatchObject({
      status: 409,
      body: { code: 'drain_incomplete' },
    });
  }, 30_000);

  it('evens the load when it is asked for', async () => {
    await start(1);
    await deploy({ pipelines: Array.from({ length: 4 }, (_, n) => ({ name: `p${n}`, source })) });
    await startWorker('w2');
    await until('/api/v1/cluster/workers', (body) => body.every(({ status }: { status: string }) => status === 'ready'));
    const rebalance = () => coordinator.post('/api/v1/cluster/rebalance', undefined, { headers: { 'idempotency-key': 'k' } });
    const idsIn = (body: { migrations: { id: string }[] }) => body.migrations.map(({ id }) => id);
    const { body } = await rebalance();
    expect(body.migrations).toHaveLength(2);
    await until('/api/v1/cluster/workers', (body) => body.every(({ pipelines }: { pipelines: string[] }) => pipelines.length === 2));
    expect(idsIn((await rebalance()).body)).toEqual(idsIn(body));
  });

  it('evens the load without a key, also when the member that is asked was asked for nothing for so long that it is forgotten', async () => {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    let nowMs = 1_000_000;
    await start(1, 3_000, { group: new GroupMember({ member, replica, clock: () => nowMs }) });
    const allReady = () => until('/api/v1/cluster/workers', (body) => body.every(({ status }: { status: string }) => status === 'ready'));
    await deploy({ pipelines: Array.from({ length: 4 }, (_, n) => ({ name: `p${n}`, source })) });
    await startWorker('w2');
    await allReady();
    nowMs += 11 * 60_000;
    await coordinator.post(
      '/api/v1/cluster/connectors',
      { name: 'K', connector_type: 'kafka', params: { brokers: 'k:9092' } },
      { headers: { 'idempotency-key': 'k' } },
    );
    expect((await coordinator.post('/api/v1/cluster/rebalance')).body.migrations).toHaveLength(2);
  });

  it('tells of the moves that have begun when another one is refused', async () => {
    const replica = new Replica();
    const member = new MemoryMember({ nodeId: 1, url: 'http://127.0.0.1:1', state: replica });
    const group = new GroupMember({ member, replica, clock: () => 0 });
    await start(1, 3_000, { group });
    const { body: made } = await deploy({ pipelines: Array.from({ length: 5 }, (_, n) => ({ name: `p${n}`, source })) });
    await startWorker('w2');
    await until('/api/v1/cluster/workers', (body) => body.every(({ status }: { status: string }) => status === 'ready'));
    // The pipelines that are to be moved are asked for one after another, and between them all but the first leave the group.
    const stop = group.onChange((_state, [event]) => {
      if (event?.type !== 'MigrationStarted') return;
      stop();
      const [migration] = group.state.migrations.values();
      const kept = made.pipelines.filter(({ name }: { name: string }) => migration?.placementId.includes(`:${name}:`));
      const pipelines = kept.map(({ name }: { name: string }) => ({ name, source, replicas: 1 }));
      void group.propose({ type: 'UpdateGroup', payload: { id: made.id, pipelines, routes: [] } }, undefined);
    });
    const answer = await coordinator.post('/api/v1/cluster/rebalance');
    expect([answer.status, answer.body]).toMatchObject([202, { migrations: [{ source_worker: 'w1', target_worker: 'w2' }] }]);
  });
});

describe('the cluster as a whole', () => {
  it('shows who runs what, what was counted, and what has happened', async () => {
    await start(1);
    const pipelines = [
      { name: 'a', source },
      { name: 'b', source },
    ];
    const { body } = await deploy({ pipelines, routes: [{ from_pipeline: 'a', to_pipeline: 'b', event_types: ['*'] }] });
    expect((await coordinator.get('/api/v1/cluster/topology')).body).toMatchObject({
      workers: [{ id: 'w1', pipeline_groups: ['fraud'] }],
      groups: [{ id: body.id, pipelines: [{ name: 'a', worker_id: 'w1', replica: 0 }, { name: 'b' }] }],
      routes: [{ source_worker: 'w1', source_pipeline: 'a', target_worker: 'w1', target_pipeline: 'b', event_types: ['*'] }],
    });
    expect((await coordinator.get('/api/v1/cluster/metrics')).body.totals).toMatchObject({
      workers: 1,
      pipeline_groups: 1,
      deployments: 2,
    });
    expect((await coordinator.get('/api/v1/cluster/scaling')).body).toMatchObject({
      action: 'stable',
      reason: 'Load within thresholds',
      total_pipelines: 2,
    });
    const events = '/api/v1/cluster/events';
    const all = await coordinator.get(events);
    expect(all.body.map(({ type }: { type: string }) => type)).toContain('GroupCreated');
    const second = await coordinator.get(`${events}?limit=1&offset=1`);
    expect([second.body, Number(second.headers.get('x-total-count'))]).toEqual([[all.body[1]], all.body.length]);
  });
});
