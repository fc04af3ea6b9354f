import { afterEach, describe, expect, it, vi } from 'vitest';
import { LATEST_STATE_FORMAT } from '../../../worker/engine/state/format.ts';
import { CREATION_STATE_FORMAT } from '../../../worker/runtime/placed/placed-state.ts';
import { HttpSink } from './sink.ts';
import { StubCoordinator } from './stub-coordinator.ts';
import { place, placing, WorkerUnderTest } from './worker-under-test.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function coordinator(): Promise<StubCoordinator> {
  const stub = await StubCoordinator.start();
  ends.push(() => stub.close());
  return stub;
}

async function worker(stub: StubCoordinator, options: Parameters<typeof WorkerUnderTest.start>[1] = {}): Promise<WorkerUnderTest> {
  const started = await WorkerUnderTest.start([stub.url], options);
  ends.push(() => started.server.close(5_000));
  return started;
}

async function sink(): Promise<HttpSink> {
  const started = await HttpSink.start();
  ends.push(() => started.close());
  return started;
}

const id = 'g_1:p:0';
const until = (condition: () => unknown, timeout = 15_000): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error('not yet');
    },
    { timeout, interval: 20 },
  );
const statusOf = async (one: WorkerUnderTest): Promise<string> => (await one.get(id)).body.status;
const isRunning = (one: WorkerUnderTest): Promise<void> => until(async () => (await statusOf(one)) === 'running');

/** Alerts when B follows A of the same key; sends it to the sink. */
const pairs = (url: string): string => `
connector Hook = http (url: "${url}")
stream Pairs = A as a -> B as b where key == a.key .within(1h)
    .emit(key: a.key, n: b.n)
    .to(Hook)
`;
const event = (type: 'A' | 'B', key: string, n = 0): object => ({ event_type: type, fields: { key, n }, timestamp: 1_700_000_000_000 + n });

describe('a placement', () => {
  it('runs once a heartbeat that reports it is acknowledged, and its alerts reach the sink', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    const { status, body } = await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1), event('B', 'k', 2)] });
    expect([status, body.received, body.durable]).toEqual([200, 2, 0]);
    expect(body.results[1]).toMatchObject({ sequence: 2, is_repeat: false, accepted: 1, output_events: [{ fields: { key: 'k', n: 2 } }] });
    await until(() => hook.delivered.length === 1);
  });

  it('names the field of an event that is none of its type', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('event A:\n    n: int\n\nstream S = A .emit(n: n)\n'));
    await isRunning(one);
    const { body } = await one.inject(id, { epoch: 1, first: 1, events: [{ event_type: 'A', fields: { n: 'x' } }] });
    expect(body.results[0]).toMatchObject({ accepted: 0, errors: [{ index: 0, code: 'invalid_event', field: 'n' }] });
  });
});

describe('who has the key of the worker', () => {
  it('sees what a placement does and has its dead letters, after it has gone too, and changes nothing of it', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    hook.status = 400;
    const one = await worker(stub);
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1), event('B', 'k', 2)] });
    const path = `/api/v1/pipelines/${(await one.get(id)).body.pipeline_id}`;
    const lettersOf = async () => (await one.ask('GET', `${path}/dlq`)).body.entries;
    await until(async () => (await lettersOf()).length === 1);
    expect((await one.ask('GET', `${path}/metrics`)).body).toMatchObject({ events_processed: 2, dlq_events: 1 });
    expect((await one.ask('GET', path)).body).toMatchObject({ status: 'running' });
    const changes = [
      await one.ask('DELETE', path),
      await one.ask('POST', `${path}/stop`),
      await one.ask('POST', `${path}/events`, { event_type: 'A', fields: {} }),
    ];
    const { api_key: tenantKey } = (await one.ask('POST', '/api/v1/tenants', { name: 'acme' })).body;
    const reads = ['', '/metrics', '/logs', '/topology', '/dlq'].map((at) => ['GET', at] as const);
    for (const [method, at] of [...reads, ['POST', '/dlq/replay'], ['DELETE', '/dlq']] as const) {
      const { status, body } = await one.ask(method, `${path}${at}`, undefined, tenantKey);
      expect([at, status, body.code]).toEqual([at, 404, 'pipeline_not_found']);
    }
    for (const { status, body } of changes) {
      expect([status, body.code, body.error]).toEqual([403, 'forbidden', expect.stringContaining('placed here by the cluster')]);
      expect(body.hint).toContain('POST /api/v1/cluster/pipeline-groups/{group}/inject');
    }
    hook.status = 200;
    expect((await one.ask('POST', `${path}/dlq/replay`)).body).toEqual({ replayed: 1, failed: 0 });
    expect(hook.delivered.map(({ data }) => data)).toEqual([{ key: 'k', n: 2 }]);

    hook.status = 400;
    await one.inject(id, { epoch: 1, first: 3, events: [event('A', 'm', 3), event('B', 'm', 4)] });
    await until(async () => (await lettersOf()).length === 1);
    await one.ask('DELETE', `/api/v1/worker/placements/${encodeURIComponent(id)}?epoch=2`);
    expect((await one.ask('GET', path)).status).toBe(404);
    expect(await lettersOf()).toHaveLength(1);
    expect((await one.ask('DELETE', `${path}/dlq`)).body).toEqual({ cleared: 1 });
    expect((await one.ask('GET', `${path}/dlq`)).status).toBe(404);
  });
});

describe('a checkpoint of a placement', () => {
  it('is all that another worker needs: what had begun completes there, and nothing is said twice', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1), event('B', 'x', 2), event('A', 'y', 3)] });
    await until(() => hook.delivered.length === 1);
    const closed = await one.post(id, 'close', { epoch: 1 });
    expect(closed.body).toMatchObject({ status: 'closed', checkpoint: { sequence: 1, epoch: 1, received: { _external: 3 } } });
    expect((await one.inject(id, { epoch: 1, first: 4, events: [event('B', 'y', 4)] })).body.code).toBe('pipeline_not_running');
    await place(stub, two, id, placing(pairs(hook.url), { epoch: 2, checkpoint: closed.body.checkpoint }));
    await isRunning(two);
    const repeated = await two.inject(id, { epoch: 2, first: 3, events: [event('A', 'y', 3), event('B', 'y', 4)] });
    expect(repeated.body.results.map(({ is_repeat }: { is_repeat: boolean }) => is_repeat)).toEqual([true, false]);
    await until(() => hook.delivered.length === 2);
    expect(hook.delivered.map(({ data }) => data['key'])).toEqual(['x', 'y']);
    expect((await two.get(id)).body).toMatchObject({ epoch: 2, received: { _external: 4 }, checkpoint_sequence: 1 });
  });

  it('keeps the ids of outputs as they were, whatever is said of when the placement came; without one they are of what came then', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    const program = `connector Hook = http (url: "${hook.url}")\nstream All = A .emit(key: key) .to(Hook)\n`;
    await place(stub, one, id, placing(program, { created_index: 70 }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    await until(() => hook.delivered.length === 1);
    const { body } = await one.post(id, 'close', { epoch: 1 });
    await place(stub, two, id, placing(program, { epoch: 2, created_index: 80, checkpoint: body.checkpoint }));
    await isRunning(two);
    await two.inject(id, { epoch: 2, first: 2, events: [event('A', 'y', 2)] });
    await until(() => hook.delivered.length === 2);
    expect(hook.delivered.map(({ id }) => id.slice(0, 'g_1-p-0-1y-'.length))).toEqual(['g_1-p-0-1y-', 'g_1-p-0-1y-']);
  });

  it('that is not there as it was fails the placement, which never goes on without its state', async () => {
    const stub = await coordinator();
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x')] });
    const { checkpoint } = (await one.post(id, 'close', { epoch: 1 })).body;
    const key = `${id}/1/1`;
    const bytes = stub.bytes.get(key) as Buffer;
    bytes[40] = (bytes[40] as number) ^ 1;
    await place(stub, two, id, placing('stream S = A .emit(n: n)\n', { epoch: 2, checkpoint }));
    await until(async () => (await statusOf(two)) === 'failed');
    expect((await two.get(id)).body.error).toMatch(/its bytes are not those that were committed/);
    await until(() => stub.heartbeats.some(({ pipelines }) => pipelines.some(({ status }) => status === 'failed')));
  });

  it('that cannot be committed leaves the placement running', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    stub.isFull = true;
    expect((await one.post(id, 'close', { epoch: 1 })).body.code).toBe('storage_unavailable');
    expect(await statusOf(one)).toBe('running');
    expect((await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x')] })).status).toBe(200);
    stub.isFull = false;
    expect((await one.post(id, 'close', { epoch: 1 })).body.checkpoint.received).toEqual({ _external: 1 });
    expect((await one.post(id, 'reopen', { epoch: 1 })).body.status).toBe('starting');
    await isRunning(one);
    expect((await one.inject(id, { epoch: 1, first: 2, events: [event('A', 'y')] })).body.received).toBe(2);
  });

  it('is refused under an epoch that is over: the placement goes on under the next one, or until it is heard that it is elsewhere', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    const program = 'stream S = A .emit(n: n)\n';
    await place(stub, one, id, placing(program));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x')] });
    const heard = stub.heartbeats.length;
    stub.epochs.set(id, 2);
    expect((await one.post(id, 'checkpoint', { epoch: 1 })).body.code).toBe('storage_unavailable');
    await until(() => stub.heartbeats.length > heard);
    expect(await statusOf(one)).toBe('running');
    await place(stub, one, id, placing(program, { epoch: 2, tenure: 1 }));
    expect((await one.post(id, 'checkpoint', { epoch: 2 })).body.checkpoint).toMatchObject({ epoch: 2, received: { _external: 1 } });
    stub.epochs.set(id, 3);
    expect((await one.post(id, 'checkpoint', { epoch: 2 })).body.code).toBe('storage_unavailable');
    stub.fenced.add(id);
    await until(async () => (await statusOf(one)) === 'fenced');
  });
});

describe('the format of a state', () => {
  const program = 'stream Pairs = A as a -> B as b where key == a.key .within(1h) .emit(key: a.key, n: b.n)\n';
  const newest = (stub: StubCoordinator): string => stub.bytes.get(`${id}/1/${stub.manifests.get(id)?.sequence}`)?.toString('latin1') ?? '';
  const heartbeat = async (stub: StubCoordinator): Promise<void> => {
    const seen = stub.heartbeats.length;
    await until(() => stub.heartbeats.length > seen + 1);
  };

  it('is the first one until the cluster says that all workers read a later one', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing(program));
    await isRunning(one);
    expect(stub.heartbeats.at(-1)).toMatchObject({ state_format: LATEST_STATE_FORMAT });
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1)] });
    await one.post(id, 'checkpoint', { epoch: 1 });
    expect(newest(stub)).toContain('"pattern 1"');
    stub.stateFormat = LATEST_STATE_FORMAT + 7; // Of a later version yet: what this one has not, it cannot write.
    await heartbeat(stub);
    await one.post(id, 'checkpoint', { epoch: 1 });
    expect(newest(stub)).toContain('"pattern 4"');
  });

  it('is an earlier one again, with no event, once a worker is there that reads no later one', async () => {
    const stub = await coordinator();
    stub.stateFormat = LATEST_STATE_FORMAT;
    const one = await worker(stub);
    await place(stub, one, id, placing(program));
    await isRunning(one);
    await heartbeat(stub);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1)] });
    await one.post(id, 'checkpoint', { epoch: 1 });
    expect(newest(stub)).toContain('"pattern 4"');
    stub.stateFormat = 1;
    await until(() => newest(stub).includes('"pattern 1"'));
    const { sequence } = stub.manifests.get(id) as { sequence: number };
    await heartbeat(stub);
    await heartbeat(stub);
    expect(stub.manifests.get(id)?.sequence).toBe(sequence); // Once is enough.
  });

  it('that is an earlier one again makes ids as a worker of it does, so that it repeats none under another, with a checkpoint or without', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    stub.stateFormat = CREATION_STATE_FORMAT;
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    const program = `connector Hook = http (url: "${hook.url}")\nstream All = A .emit(key: key) .to(Hook)\n`;
    await place(stub, one, id, placing(program, { created_index: 70 }));
    await isRunning(one);
    await heartbeat(stub);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    await until(() => hook.delivered.length === 1);
    expect(stub.manifests.get(id)).toBeUndefined();
    stub.isFull = true;
    stub.stateFormat = CREATION_STATE_FORMAT - 1;
    await until(() => stub.refusals > 0);
    await one.inject(id, { epoch: 1, first: 2, events: [event('A', 'y', 2)] });
    await heartbeat(stub);
    expect(hook.delivered).toHaveLength(1); // Whoever went on now would begin from nothing.
    stub.isFull = false;
    await until(() => hook.delivered.length === 2);
    const checkpoint = stub.manifests.get(id) as NonNullable<ReturnType<typeof stub.manifests.get>>;
    await one.inject(id, { epoch: 1, first: 3, events: [event('A', 'z', 3)] });
    await until(() => hook.delivered.length === 3);
    await place(stub, two, id, placing(program, { epoch: 2, checkpoint }));
    await isRunning(two);
    await two.inject(id, { epoch: 2, first: 3, events: [event('A', 'z', 3)] });
    const idsOf = (key: string) => hook.delivered.filter(({ data }) => data['key'] === key).map(({ id }) => id);
    await until(() => idsOf('z').length === 2);
    expect(idsOf('x')[0]).toMatch(/^g_1-p-0-1y-/);
    expect(new Set(idsOf('z'))).toEqual(new Set([expect.stringMatching(/^g_1-p-0-[\w-]{16}$/)]));
    expect(new Set(idsOf('y')).size).toBe(1);
  });

  it('that is an earlier one changes no ids before what was said since the checkpoint was said again', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    stub.stateFormat = CREATION_STATE_FORMAT;
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    const program = `connector Hook = http (url: "${hook.url}")\nstream All = A .emit(key: key) .to(Hook)\n`;
    await place(stub, one, id, placing(program, { created_index: 70 }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    const { checkpoint } = (await one.post(id, 'checkpoint', { epoch: 1 })).body;
    await one.inject(id, { epoch: 1, first: 2, events: [event('A', 'y', 2)] });
    await until(() => hook.delivered.length === 2);
    stub.stateFormat = CREATION_STATE_FORMAT - 1;
    await place(stub, two, id, placing(program, { epoch: 2, checkpoint, ingress_sequence: 2 }));
    await isRunning(two);
    const close = { epoch: 2, state_format: CREATION_STATE_FORMAT - 1 };
    expect(await two.post(id, 'close', close)).toMatchObject({ status: 503, body: { code: 'storage_unavailable' } });
    expect((await two.post(id, 'checkpoint', { epoch: 2 })).status).toBe(200);
    await two.inject(id, { epoch: 2, first: 2, events: [event('A', 'y', 2)] });
    await until(() => hook.delivered.length >= 3);
    const said = hook.delivered.filter(({ data }) => data['key'] === 'y').map((alert) => alert.id);
    expect([said.length, new Set(said).size]).toEqual([2, 1]);
    expect((await two.post(id, 'close', close)).body.status).toBe('closed');
    expect(newest(stub)).not.toContain('createdIndex');
  });

  it('of the last checkpoint is what the coordinator says who knows the next worker, and what it holds goes on there', async () => {
    const stub = await coordinator();
    stub.stateFormat = LATEST_STATE_FORMAT;
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, one, id, placing(program));
    await isRunning(one);
    await heartbeat(stub);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1)] });
    const { checkpoint } = (await one.post(id, 'close', { epoch: 1, state_format: 1 })).body;
    expect(newest(stub)).toContain('"pattern 1"');
    await place(stub, two, id, placing(program, { epoch: 2, checkpoint }));
    await isRunning(two);
    const { body } = await two.inject(id, { epoch: 2, first: 2, events: [event('B', 'k', 2)] });
    expect(body.results[0].output_events).toMatchObject([{ fields: { key: 'k', n: 2 } }]);
  });

  it('is kept to when the program is changed', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing(program));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'k', 1)] });
    const before = stub.manifests.get(id)?.sequence ?? 0;
    await one.put(id, placing(`${program}stream All = C .emit(key: key)\n`, { epoch: 1, revision: '2' }));
    await until(() => (stub.manifests.get(id)?.sequence ?? 0) > before);
    expect(newest(stub)).toContain('"pattern 1"');
  });
});

describe('a program that is changed while no coordinator takes a checkpoint', () => {
  it('runs on as it was, and is the new one once somebody does', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    stub.isFull = true;
    const refused = stub.refusals;
    await one.put(id, placing('stream S = A .emit(n: n + 100)\n', { epoch: 1, revision: '2' }));
    await until(() => stub.refusals > refused);
    const before = await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    expect(before.body.results[0].output_events).toMatchObject([{ fields: { n: 1 } }]);
    stub.isFull = false;
    let first = 1;
    await until(async () => {
      const { body } = await one.inject(id, { epoch: 1, first: ++first, events: [event('A', 'x', 1)] });
      return body.results[0].output_events[0].fields.n === 101;
    });
    expect(await statusOf(one)).toBe('running');
  });
});

describe('a program that is changed just before its worker dies', () => {
  const program = (url: string, version: number): string =>
    `connector Hook = http (url: "${url}")\nstream All = A .emit(n: n, version: ${version}) .to(Hook)\n`;
  const said = (hook: HttpSink) => hook.delivered.map(({ data: { n, version } }) => `${n} by ${version}`);

  it('works nothing of what was worked by the one before: that has the ids that it had', async () => {
    const stub = await coordinator();
    const hook = await sink();
    const one = await worker(stub);
    const two = await worker(stub, { workerId: 'w2' });
    const all = [event('A', 'x', 1), event('A', 'x', 2)];
    await place(stub, one, id, placing(program(hook.url, 1), { created_index: 1 }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: all });
    await until(() => hook.delivered.length === 2);
    const changed = { former_source: program(hook.url, 1), ingress_sequence: 2, created_index: 1 };
    await place(stub, two, id, placing(program(hook.url, 2), { epoch: 2, ...changed }));
    await isRunning(two);
    expect((await two.get(id)).body.revision).not.toBe('1');
    await two.inject(id, { epoch: 2, first: 1, events: all });
    await until(async () => (await two.get(id)).body.revision === '1');
    await two.inject(id, { epoch: 2, first: 3, events: [event('A', 'x', 3)] });
    await until(() => hook.delivered.length === 5);
    expect(said(hook)).toEqual(['1 by 1', '2 by 1', '1 by 1', '2 by 1', '3 by 2']);
    expect(new Set(hook.delivered.map((one) => one.id)).size).toBe(3);
  });
});

it('has its new program once it goes on, when that came while it was closed', async () => {
  const stub = await coordinator();
  const one = await worker(stub);
  await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
  await isRunning(one);
  expect((await one.post(id, 'close', { epoch: 1 })).status).toBe(200);
  await one.put(id, placing('stream S = A .emit(n: n + 100)\n', { epoch: 1, revision: '2' }));
  expect((await one.post(id, 'reopen', { epoch: 1 })).body.status).toBe('starting');
  await isRunning(one);
  let first = 0;
  await until(async () => {
    const { body } = await one.inject(id, { epoch: 1, first: ++first, events: [event('A', 'x', 1)] });
    return body.results[0].output_events[0].fields.n === 101;
  });
});

describe('a placement that was prepared', () => {
  it('goes on with its state as any other, and a program that cannot run is refused before', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    const refused = await two.post(id, 'prepare', { source: 'stream S = A .emit(n: nothing(1))', connectors: [] });
    expect([refused.status, refused.body.code]).toEqual([400, 'validation_error']);
    expect(await two.post(id, 'prepare', { source: pairs(hook.url), connectors: [] })).toEqual({ status: 200, body: { prepared: true } });
    expect((await two.get(id)).status).toBe(404);
    const { checkpoint } = (await one.post(id, 'close', { epoch: 1 })).body;
    await place(stub, two, id, placing(pairs(hook.url), { epoch: 2, checkpoint }));
    await isRunning(two);
    await two.inject(id, { epoch: 2, first: 2, events: [event('B', 'x', 2)] });
    await until(() => hook.delivered.length === 1);
    expect(hook.delivered.map(({ data }) => data['key'])).toEqual(['x']);
  });
});

describe('what the clock has made', () => {
  const windows = (url: string): string => `
connector Hook = http (url: "${url}")
stream Sums = A .watermark(idle: 100ms) .window(10s) .aggregate(n: sum(n), events: count()) .emit(n: n, events: events) .to(Hook)
`;
  const at = (offsetMs: number, n: number): object => ({ event_type: 'A', fields: { n }, timestamp: 1_700_000_000_000 + offsetMs });

  it('is said once a checkpoint has it, so that a worker that goes on says nothing else about the same window', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, one, id, placing(windows(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [at(1_000, 1), at(9_950, 2)] });
    await until(() => hook.delivered.length === 1, 60_000);
    expect(hook.delivered.map(({ data }) => data)).toEqual([{ n: 3, events: 2 }]);
    // It is late for the window, and the worker is gone before it makes another checkpoint.
    await one.inject(id, { epoch: 1, first: 3, events: [at(5_000, 4)] });
    const checkpoint = stub.manifests.get(id);
    await place(stub, two, id, placing(windows(hook.url), { epoch: 2, checkpoint, ingress_sequence: 3 } as object));
    await isRunning(two);
    const first = ((await two.get(id)).body.received._external as number) + 1;
    const again = [at(1_000, 1), at(9_950, 2), at(5_000, 4), at(29_950, 8)].slice(first - 1);
    await two.inject(id, { epoch: 2, first, events: again });
    await until(() => hook.byId.size === 2, 60_000);
    expect([...hook.byId.values()].map(({ data }) => data)).toEqual([
      { n: 3, events: 2 },
      { n: 8, events: 1 },
    ]);
  }, 90_000);
});

describe('events without a time that ticks could overtake', () => {
  const program = 'stream Sums = A .window(1s) .aggregate(n: sum(n), events: count()) .emit(n: n, events: events)\n';
  const of = (n: number): object => ({ event_type: 'A', fields: { n } });
  const other = 'g_1:other:0';

  /** Ticks have come to every placement when they have closed the window of one to which nothing more comes. */
  const isTicked = async (stub: StubCoordinator, one: WorkerUnderTest, received: number): Promise<void> => {
    await place(stub, one, other, placing(program, { pipeline: 'other' }));
    await until(async () => (await one.get(other)).body.status === 'running');
    await one.inject(other, { epoch: 1, first: 1, events: [of(1)], at: received });
    const { pipeline_id: pipeline } = (await one.get(other)).body;
    await until(async () => (await one.ask('GET', `/api/v1/pipelines/${pipeline}/metrics`)).body.output_events_emitted === 1);
  };

  it('wait at the coordinator, which says so: ticks wait for them', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing(program));
    await isRunning(one);
    const received = Date.now();
    await one.inject(id, { epoch: 1, first: 1, events: [of(1)], at: received, logEnd: 3 });
    await isTicked(stub, one, received);
    await one.inject(id, { epoch: 1, first: 2, events: [of(2)], at: received, logEnd: 3 });
    const { body } = await one.inject(id, { epoch: 1, first: 3, events: [of(0)], at: received + 10_000, logEnd: 3 });
    expect(body.results[0].output_events).toMatchObject([{ fields: { n: 3, events: 2 } }]);
  });

  it('come when ticks have gone on, since nobody said that they wait: they arrive with the last tick', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    const sent = `connector Hook = http (url: "${hook.url}")\n${program.trim()} .to(Hook)\n`;
    await place(stub, one, id, placing(sent));
    await isRunning(one);
    const received = Date.now();
    await one.inject(id, { epoch: 1, first: 1, events: [of(1)], at: received });
    await until(() => hook.delivered.length === 1);
    const { body } = await one.inject(id, { epoch: 1, first: 2, events: [of(2)], at: received });
    expect(body.results[0]).toMatchObject({ accepted: 1 });
    expect(body.results[0].events_late).toBeUndefined();
    await until(() => hook.delivered.length === 2);
    expect(hook.delivered.map(({ data }) => data)).toEqual([
      { n: 1, events: 1 },
      { n: 2, events: 1 },
    ]);
    // It is said behind the checkpoint that has it.
    expect(stub.manifests.get(id)?.received).toEqual({ _external: 2 });
  });

  it('are said although another one comes during each checkpoint', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    await place(stub, one, id, placing(`connector Hook = http (url: "${hook.url}")\nstream Seen = A .emit(n: n) .to(Hook)\n${program}`));
    await isRunning(one);
    const received = Date.now();
    await isTicked(stub, one, received);
    let [sent, isRefused] = [0, false];
    const send = async (): Promise<void> => {
      const { body } = await one.inject(id, { epoch: 1, first: sent + 1, events: [of(sent + 1)], at: received });
      isRefused = body.code === 'queue_full';
      if (!isRefused) sent++;
    };
    stub.onCommit = async (placement) => {
      if (placement === id && !isRefused) await send();
    };
    await send();
    await until(() => hook.delivered.length === 4);
    expect(hook.delivered.map(({ data }) => data)).toEqual([1, 2, 3, 4].map((n) => ({ n })));
    // All that was said is in the checkpoint that the input has waited for.
    expect(stub.manifests.get(id)?.received).toEqual({ _external: 4 });
  });
});

describe('epochs', () => {
  it('that are over are refused, whatever is asked', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    const program = 'stream S = A .emit(n: n)\n';
    await place(stub, one, id, placing(program, { epoch: 5 }));
    await isRunning(one);
    const answers = [
      await one.put(id, placing(program, { epoch: 4 })),
      await one.post(id, 'close', { epoch: 4 }),
      await one.post(id, 'reopen', { epoch: 6 }),
      await one.post(id, 'checkpoint', { epoch: 4 }),
      await one.inject(id, { epoch: 4, first: 1, events: [event('A', 'x')] }),
      await one.ask('DELETE', `/api/v1/worker/placements/${encodeURIComponent(id)}?epoch=4`),
    ];
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual(Array(6).fill('409 stale_epoch'));
    expect(await statusOf(one)).toBe('running');
    expect((await one.put(id, placing(program, { epoch: 5 }))).body).toMatchObject({ epoch: 5, status: 'running' });
    const deleted = await one.ask('DELETE', `/api/v1/worker/placements/${encodeURIComponent(id)}?epoch=5`);
    expect([deleted.body, (await one.get(id)).body.code]).toEqual([
      { deleted: true, incarnation: expect.any(String) },
      'pipeline_not_found',
    ]);
  });

  it('that are new keep what runs where nobody else has had it, with another program too', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1)] });
    const changed = `${pairs(hook.url)}\nstream Also = C .emit(n: n)\n`;
    await place(stub, one, id, placing(changed, { epoch: 9, tenure: 1, revision: '2' }));
    await until(async () => (await one.get(id)).body.epoch === 9 && (await statusOf(one)) === 'running');
    await one.inject(id, { epoch: 9, first: 2, events: [event('B', 'x', 2)] });
    await until(() => hook.delivered.length === 1);
  });
});

describe('leases', () => {
  it('that end stop the placement by itself: it takes nothing, and nothing more of it is sent', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    stub.leaseMs = 1_000;
    const one = await worker(stub);
    await place(stub, one, id, placing(pairs(hook.url)));
    await isRunning(one);
    hook.status = 503;
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 1), event('B', 'x', 2)] });
    stub.isSilent = true;
    await until(async () => (await statusOf(one)) === 'fenced');
    hook.status = 200;
    expect((await one.inject(id, { epoch: 1, first: 3, events: [event('A', 'y')] })).body.code).toBe('pipeline_not_running');
    const ready = await fetch(`${one.url}/ready`);
    expect([ready.status, ((await ready.json()) as { cluster: object }).cluster]).toMatchObject([
      200,
      { status: 'registered', placements: 1 },
    ]);
    // The coordinator is back, and asks for it again under the same epoch: it does not begin a second time.
    stub.isSilent = false;
    await until(() => stub.heartbeats.at(-1)?.pipelines.some(({ status }) => status === 'fenced'));
    expect(hook.delivered).toEqual([]);
    expect((await one.put(id, placing(pairs(hook.url)))).body.status).toBe('fenced');
    // Under a newer one it begins where its last checkpoint was, which is nowhere.
    await place(stub, one, id, placing(pairs(hook.url), { epoch: 2 }));
    await isRunning(one);
    await one.inject(id, { epoch: 2, first: 1, events: [event('A', 'x', 1), event('B', 'x', 2)] });
    await until(() => hook.delivered.length === 1);
  });

  it('are not given to what a coordinator says is elsewhere: that stops, and is forgotten when it is deleted', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    stub.fenced.add(id);
    await until(async () => (await statusOf(one)) === 'fenced');
    await one.ask('DELETE', `/api/v1/worker/placements/${encodeURIComponent(id)}?epoch=1`);
    expect((await one.get(id)).status).toBe(404);
  });

  it('go on with another coordinator, and with the same one after it was away', async () => {
    const [first, second] = [await coordinator(), await coordinator()];
    const one = await WorkerUnderTest.start([first.url, second.url]);
    ends.push(() => one.server.close(5_000));
    await until(() => first.heartbeats.length > 0);
    await first.close();
    await until(() => second.heartbeats.length > 0 || second.registrations.length > 0);
    await until(() => second.heartbeats.length > 0);
    expect(one.log.join('')).toMatch(/ERROR.*Heartbeat failed/);
    await first.listen();
    await second.close();
    const before = first.heartbeats.length;
    await until(() => first.heartbeats.length > before);
  });

  it('are for who has the key of the cluster: with another one the server serves its own API, and says why', async () => {
    const stub = await coordinator();
    const one = await worker(stub, { apiKey: 'another-key-than-that' });
    await until(() => one.log.some((line) => /ERROR.*does not know its key/.test(line)));
    const own = await one.ask('GET', '/api/v1/pipelines', undefined, 'another-key-than-that');
    expect([own.status, stub.registrations.length]).toEqual([200, 0]);
  });

  it('end for good when another process has the place of this one', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    stub.refusal = { status: 409, code: 'stale_incarnation' };
    await until(async () => (await one.get(id)).status === 404);
    expect(one.log.join('')).toMatch(/ERROR.*Another process has taken the place of this worker/);
    expect((await one.put(id, placing('stream S = A .emit(n: n)\n'))).body.code).toBe('not_ready');
  });
});

describe('pipelines of the cluster', () => {
  it('are in nobody’s list, and nobody but the cluster changes them', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    const { pipeline_id: pipeline } = (await one.get(id)).body;
    expect((await one.ask('GET', '/api/v1/pipelines')).body.pipelines).toEqual([]);
    expect((await one.ask('DELETE', `/api/v1/pipelines/${pipeline}`)).status).toBe(403);
    expect((await one.ask('GET', '/api/v1/worker/placements')).body).toMatchObject({ worker_id: 'w1', placements: [{ placement_id: id }] });
    const tenant = (await one.ask('POST', '/api/v1/tenants', { name: 'acme' })).body;
    expect((await one.ask('GET', '/api/v1/worker/placements', undefined, tenant.api_key)).body.code).toBe('forbidden');
    expect((await one.ask('GET', '/api/v1/tenants')).body.tenants?.map(({ name }: { name: string }) => name)).not.toContain('cluster');
  });

  it('use connectors of the cluster that they name and do not declare', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    const connectors = [{ name: 'Hook', connector_type: 'http', params: { url: hook.url } }];
    await place(stub, one, id, placing('stream S = A .emit(n: n) .to(Hook)\n', { connectors }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x', 7)] });
    await until(() => hook.delivered.length === 1);
  });

  it('whose program is wrong fail and say why', async () => {
    const stub = await coordinator();
    const one = await worker(stub);
    await place(stub, one, id, placing('stream S = \n'));
    await until(async () => (await statusOf(one)) === 'failed');
    expect((await one.get(id)).body.error).toBeTruthy();
  });

  it('are handed over when the process ends', async () => {
    const stub = await coordinator();
    const one = await WorkerUnderTest.start([stub.url]);
    await place(stub, one, id, placing('stream S = A .emit(n: n)\n'));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: [event('A', 'x')] });
    stub.onDrain = async () => {
      expect((await one.post(id, 'close', { epoch: 1 })).status).toBe(200);
      expect((await one.ask('DELETE', `/api/v1/worker/placements/${encodeURIComponent(id)}?epoch=1`)).body).toMatchObject({
        deleted: true,
      });
    };
    expect(await one.server.close(20_000)).toBe(true);
    expect([stub.drained, stub.manifests.get(id)?.received]).toEqual([['w1'], { _external: 1 }]);
  });
});

describe('a placement with which nobody goes on', () => {
  const program = (url: string, more = ''): string => `
connector Hook = http (url: "${url}"${more})
stream Seen = A .emit(key: key, n: n) .to(Hook)
`;
  const events = Array.from({ length: 20 }, (_, n) => event('A', 'k', n));
  const path = `/api/v1/worker/placements/${encodeURIComponent(id)}`;
  const lettersOf = async (one: WorkerUnderTest): Promise<readonly { readonly code: string; readonly event: object }[]> =>
    (await one.ask('GET', '/api/v1/pipelines/g_1-p-0/dlq')).body.entries ?? [];
  const buried = (n: number) => expect.objectContaining({ code: 'given_up', event: expect.objectContaining({ data: { key: 'k', n } }) });

  it('does what it was given before it is gone, and a checkpoint has it', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    await place(stub, one, id, placing(program(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events });
    for (const flushMs of [600_001, -1, '1e3']) {
      const refused = await one.ask('DELETE', `${path}?epoch=1&flush_ms=${flushMs}`);
      expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('expected a whole number up to 600000')]);
    }
    expect((await one.ask('DELETE', `${path}?epoch=1&flush_ms=30000`)).body).toMatchObject({ deleted: true });
    expect([hook.delivered.length, (await one.get(id)).status, await lettersOf(one)]).toEqual([20, 404, []]);
    expect(stub.manifests.get(id)?.received).toEqual({ _external: 20 });
  });

  it('has as dead letters what its sink has not taken by then, and says so', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    hook.status = 503;
    const one = await worker(stub);
    await place(stub, one, id, placing(program(hook.url, ', retries: 1000, failure_threshold: 10000')));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events });
    await one.ask('DELETE', `${path}?epoch=1&flush_ms=0`);
    await until(async () => (await lettersOf(one)).length === 20);
    expect(await lettersOf(one)).toEqual(events.map((_, n) => buried(n)));
    await until(() => one.log.some((line) => /WARN +DLQ write.* code=given_up.* events=20/.test(line)));
    expect(hook.delivered).toEqual([]);
  });

  it('is closed with all in a checkpoint, and as dead letters what its sink has not taken in the time that it had', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    hook.status = 503;
    const one = await worker(stub);
    await place(stub, one, id, placing(program(hook.url, ', retries: 1000, failure_threshold: 10000')));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events });
    const closed = await one.post(id, 'close', { epoch: 1, flush_ms: 0 });
    expect([closed.body.status, closed.body.checkpoint.received]).toEqual(['closed', { _external: 20 }]);
    expect(await lettersOf(one)).toHaveLength(20);
    expect((await one.post(id, 'close', { epoch: 1, flush_ms: 0 })).body.status).toBe('closed');
    await one.ask('DELETE', `${path}?epoch=1&flush_ms=0`);
    expect(await lettersOf(one)).toHaveLength(20);
  });

  it('waits for its sinks no longer when it is to stay after all, and has lost nothing', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    hook.status = 503;
    const one = await worker(stub);
    const retried = program(hook.url, ', retries: 1000, failure_threshold: 10000');
    await place(stub, one, id, placing(retried));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events });
    const closing = one.post(id, 'close', { epoch: 1, flush_ms: 600_000 });
    await until(async () => (await one.ask('GET', '/api/v1/pipelines/g_1-p-0')).body.status === 'draining');
    await place(stub, one, id, placing(retried, { epoch: 2, tenure: 1 }));
    expect((await closing).body.code).toBe('stale_epoch');
    await isRunning(one);
    hook.status = 200;
    await one.inject(id, { epoch: 2, first: 21, events: [event('A', 'k', 20)] });
    await until(() => hook.delivered.length === 21);
    expect(hook.delivered.map(({ data }) => data['n'])).toEqual(Array.from({ length: 21 }, (_, n) => n));
    expect(await lettersOf(one)).toEqual([]);
  });

  it('goes on under a newer epoch all the same, from its last checkpoint', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const one = await worker(stub);
    await place(stub, one, id, placing(program(hook.url)));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events });
    const { checkpoint } = (await one.post(id, 'close', { epoch: 1, flush_ms: 30_000 })).body;
    await place(stub, one, id, placing(program(hook.url), { epoch: 2, tenure: 1, checkpoint }));
    await isRunning(one);
    await one.inject(id, { epoch: 2, first: 21, events: [event('A', 'k', 99)] });
    await until(() => hook.delivered.length === 21);
    expect(hook.delivered.at(-1)?.data['n']).toBe(99);
  });
});

describe('routes between placements', () => {
  const other = 'g_1:q:0';
  const first = 'stream Big = A .where(n > 0) .emit(key: key, n: n)\n';
  const second = (url: string): string => `connector Hook = http (url: "${url}")\nstream Out = Big .emit(key: key, n: n) .to(Hook)\n`;
  const routes = (to: WorkerUnderTest, epoch: number): object[] => [
    { event_types: ['Bi*'], targets: [{ placement_id: other, replica: 0, address: to.url, epoch }] },
  ];
  const events = (from: number, count: number): object[] =>
    Array.from({ length: count }, (_, at) => event('A', `k${from + at}`, from + at));

  it('deliver what one makes to the other, in order, and over moves of either one nothing is lost or twice', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    const q = { pipeline: 'q' };
    const isRoutedRunning = (on: WorkerUnderTest): Promise<void> => until(async () => (await on.get(other)).body.status === 'running');
    await place(stub, two, other, placing(second(hook.url), q));
    await isRoutedRunning(two);
    await place(stub, one, id, placing(first, { routes: routes(two, 1) as never }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: events(1, 20) });
    await until(() => hook.delivered.length === 20);

    // The receiver moves, with half of the events on the way.
    const moving = one.inject(id, { epoch: 1, first: 21, events: events(21, 40) });
    const closed = await two.post(other, 'close', { epoch: 1 });
    await place(stub, one, other, placing(second(hook.url), { ...q, epoch: 2, checkpoint: closed.body.checkpoint }));
    await isRoutedRunning(one);
    await one.put(id, placing(first, { revision: '2', routes: routes(one, 2) as never }));
    await moving;
    await until(() => hook.byId.size === 60);

    // The sender is gone without a word since its last checkpoint, and what it was given comes again.
    const { checkpoint } = (await one.post(id, 'checkpoint', { epoch: 1 })).body;
    await one.inject(id, { epoch: 1, first: 61, events: events(61, 20) });
    await until(() => hook.byId.size === 80);
    stub.epochs.set(id, 3);
    stub.fenced.add(id);
    await until(async () => (await statusOf(one)) === 'fenced');
    stub.fenced.clear();
    await place(stub, two, id, placing(first, { epoch: 3, checkpoint, routes: routes(one, 2) as never }));
    await isRunning(two);
    await two.inject(id, { epoch: 3, first: 61, events: events(61, 40) });
    await until(() => hook.byId.size === 100);
    const keys = hook.delivered.map(({ data }) => data['n'] as number);
    expect(keys).toEqual(Array.from({ length: 100 }, (_, at) => at + 1));
  });

  it('are waited for by a placement that leaves, until the receiver has in a checkpoint what it was sent', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2' })];
    await place(stub, two, other, placing(second(hook.url), { pipeline: 'q' }));
    await until(async () => (await two.get(other)).body.status === 'running');
    await place(stub, one, id, placing(first, { routes: routes(two, 1) as never }));
    await isRunning(one);
    await one.inject(id, { epoch: 1, first: 1, events: events(1, 20) });
    const closing = one.post(id, 'close', { epoch: 1, flush_ms: 600_000 });
    await until(() => hook.delivered.length === 20);
    expect([await statusOf(one), stub.manifests.has(other)]).toEqual(['running', false]);
    await two.post(other, 'checkpoint', { epoch: 1 });
    expect((await closing).body.status).toBe('closed');
    expect(one.log.some((line) => line.includes('Routed events given up'))).toBe(false);
  });

  it('are no way for more than the receiver knows again: who sends makes a checkpoint before', async () => {
    const [stub, hook] = [await coordinator(), await sink()];
    const [one, two] = [await worker(stub), await worker(stub, { workerId: 'w2', checkpointIntervalMs: 200 })];
    const rounds = 56;
    const last = `connector Hook = http (url: "${hook.url}")\nstream Out = Big .where(n == ${rounds * 1_000}) .emit(key: key, n: n) .to(Hook)\n`;
    await place(stub, two, other, placing(last, { pipeline: 'q' }));
    await until(async () => (await two.get(other)).body.status === 'running');
    await place(stub, one, id, placing(first, { routes: routes(two, 1) as never }));
    await isRunning(one);
    for (let sequence = 1; sequence <= rounds; sequence++) {
      const batches = [{ sequence, received_at: 1, events: events((sequence - 1) * 1_000 + 1, 1_000) }];
      const body = { epoch: 1, from: { placement_id: '_external', epoch: 0 }, batches };
      // It may be held back.
      await until(async () => (await one.post(id, 'events', body)).status === 200);
    }
    await until(() => hook.delivered.length === 1, 40_000);
    await until(() => stub.manifests.has(id));
  }, 60_000);
});
