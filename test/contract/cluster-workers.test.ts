import { afterEach, describe, expect, it, vi } from 'vitest';
import { Coordinator } from './coordinator.ts';

const path = '/api/v1/cluster/workers';
const heartbeatTimeoutMs = 400;
let coordinator: Coordinator;

afterEach(() => coordinator.close());

const registration = (id: string, more: object = {}): object => ({
  ...{ worker_id: id, address: 'http://127.0.0.1:1', incarnation: 'i1', version: '0.1.0' },
  capacity: { cpu_cores: 2, pipelines_running: 0, max_pipelines: 10 },
  ...more,
});
const start = async (timeoutMs = heartbeatTimeoutMs): Promise<void> => {
  const workers = { heartbeatIntervalMs: timeoutMs / 4, heartbeatTimeoutMs: timeoutMs, strategy: 'least-loaded' } as const;
  coordinator = await Coordinator.start({ workers });
};
const heartbeat = (id: string, body: object = { incarnation: 'i1' }) => coordinator.post(`${path}/${id}/heartbeat`, body);
const statusOf = async (id: string): Promise<unknown> => (await coordinator.get(`${path}/${id}`)).body.status;
const becomes = (id: string, status: string) =>
  vi.waitFor(async () => expect(await statusOf(id)).toBe(status), { timeout: 5_000, interval: 10 });

describe('a worker', () => {
  it('has a name of up to 128 characters', async () => {
    await start();
    const id = 'w'.repeat(128);
    expect((await coordinator.post(`${path}/register`, registration(id))).status).toBe(201);
    expect((await heartbeat(id)).status).toBe(200);
    await becomes(id, 'ready');
    // What a worker says of a pipeline whose name is as long: its id is that of the placement.
    const pipeline = { ...{ group: 'g', pipeline: 'p'.repeat(128), epoch: 1, status: 'running' }, pipeline_id: `g:${'p'.repeat(128)}:0` };
    expect((await heartbeat(id, { incarnation: 'i1', pipelines: [pipeline] })).status).toBe(200);
  });

  it('registers, is ready with its first heartbeat, and is listed', async () => {
    await start(15_000);
    const registered = await coordinator.post(`${path}/register`, registration('w1'));
    expect([registered.status, registered.body]).toEqual([
      201,
      {
        ...{ worker_id: 'w1', status: 'registered', heartbeat_interval_secs: 3.75, heartbeat_timeout_secs: 15 },
        ...{ lease_ms: 13_500, epoch: expect.any(Number), coordinators: [coordinator.url] },
      },
    ]);
    expect(await statusOf('w1')).toBe('registering');
    const answer = await heartbeat('w1', { incarnation: 'i1', events_processed: 7 });
    expect([answer.status, answer.body]).toEqual([
      200,
      { acknowledged: true, lease_ms: 13_500, fenced: [], state_format: 1, coordinators: [coordinator.url] },
    ]);
    await becomes('w1', 'ready');
    const list = await coordinator.get(path);
    expect([list.headers.get('x-total-count'), list.body]).toMatchObject([
      '1',
      [
        {
          id: 'w1',
          address: 'http://127.0.0.1:1',
          pipelines: [],
          events_processed: 7,
          last_heartbeat: expect.any(Number),
          max_pipelines: 10,
        },
      ],
    ]);
    expect((await coordinator.get('/health')).body).toMatchObject({ status: 'healthy', workers: { total: 1, ready: 1 } });
  });

  it('that is drained of nothing is drained, however short the wait', async () => {
    await start(600_000);
    await coordinator.post(`${path}/register`, registration('w1'));
    await heartbeat('w1');
    await becomes('w1', 'ready');
    const drained = await coordinator.post(`${path}/w1/drain`, { timeout_secs: 0 });
    expect([drained.status, drained.body]).toEqual([200, { worker_id: 'w1', pipelines_migrated: 0, status: 'drained' }]);
    await becomes('w1', 'drained');
  });

  it('that goes silent is unhealthy after the timeout, and ready again when it is heard', async () => {
    await start();
    await coordinator.post(`${path}/register`, registration('w1'));
    await heartbeat('w1');
    await becomes('w1', 'ready');
    await becomes('w1', 'unhealthy');
    expect((await coordinator.get('/health')).body).toMatchObject({ status: 'degraded', workers: { unhealthy: 1 } });
    await heartbeat('w1');
    await becomes('w1', 'ready');
  });

  it('is told to stop what is not its own', async () => {
    await start(15_000);
    await coordinator.post(`${path}/register`, registration('w1'));
    const pipelines = [{ placement_id: 'g_1:p:0', group: 'g', pipeline: 'p', replica: 0, epoch: 3, status: 'running' }];
    expect((await heartbeat('w1', { incarnation: 'i1', pipelines })).body.fenced).toEqual(['g_1:p:0']);
  });

  it('that another process has replaced, or that was removed, is refused until it starts anew', async () => {
    await start(15_000);
    await coordinator.post(`${path}/register`, registration('w1'));
    await coordinator.post(`${path}/register`, registration('w1', { incarnation: 'i2' }));
    const refused = { status: 409, body: { code: 'stale_incarnation' } };
    expect(await heartbeat('w1')).toMatchObject(refused);
    expect(await coordinator.post(`${path}/register`, registration('w1'))).toMatchObject(refused);
    expect((await coordinator.request('DELETE', `${path}/w1`)).body).toEqual({ deleted: true, reassigned: 0 });
    expect(await heartbeat('w1', { incarnation: 'i2' })).toMatchObject(refused);
    expect(await coordinator.get(`${path}/w1`)).toMatchObject({ status: 404, body: { code: 'worker_not_found' } });
    expect((await coordinator.post(`${path}/register`, registration('w1', { incarnation: 'i3' }))).status).toBe(201);
  });

  it('that nobody knows is asked to register', async () => {
    await start(15_000);
    expect(await heartbeat('w9')).toMatchObject({ status: 404, body: { code: 'worker_not_found' } });
    for (const [method, at] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/drain'],
    ] as const) {
      expect(await coordinator.request(method, `${path}/w9${at}`)).toMatchObject({ status: 404, body: { code: 'worker_not_found' } });
    }
  });

  it('without pipelines is drained at once, and stays in the list', async () => {
    await start(15_000);
    await coordinator.post(`${path}/register`, registration('w1'));
    await heartbeat('w1');
    await becomes('w1', 'ready');
    const drained = await coordinator.post(`${path}/w1/drain`);
    expect([drained.status, drained.body]).toEqual([200, { worker_id: 'w1', pipelines_migrated: 0, status: 'drained' }]);
    expect(await statusOf('w1')).toBe('drained');
  });

  it.each([
    ['an address that is none', { address: 'nowhere' }],
    ['a login in its address', { address: 'http://me:secret@127.0.0.1:1' }],
    ['an id that no path can have', { worker_id: 'a/b' }],
    ['an id that an address takes for the folder above', { worker_id: '..' }],
    ['no incarnation', { incarnation: '' }],
  ])('is refused with %s', async (_what, more) => {
    await start(15_000);
    expect(await coordinator.post(`${path}/register`, registration('w1', more))).toMatchObject({
      status: 400,
      body: { code: 'validation_error' },
    });
  });
});

describe('the format of states', () => {
  const format = async (id: string, reads?: number): Promise<number | undefined> =>
    (await heartbeat(id, { incarnation: 'i1', ...(reads !== undefined && { state_format: reads }) })).body.state_format;

  it('is the latest that every worker reads, and the first one while there is a worker that says nothing of formats', async () => {
    await start(600_000);
    for (const id of ['w1', 'w2']) await coordinator.post(`${path}/register`, registration(id));
    expect(await format('w1', 3)).toBeUndefined(); // Nobody knows what the other one reads.
    expect(await format('w2', 2)).toBe(2);
    expect(await format('w1', 3)).toBe(2);
    await coordinator.post(`${path}/register`, registration('w3'));
    expect(await format('w3')).toBe(1);
    expect(await format('w1', 3)).toBe(1);
    await coordinator.request('DELETE', `${path}/w3`);
    expect(await format('w1', 3)).toBe(2);
    await coordinator.post(`${path}/register`, registration('w2', { incarnation: 'i2' }));
    expect(await format('w1', 3)).toBeUndefined(); // Another process, which may be of another version.
    await heartbeat('w2', { incarnation: 'i2', state_format: 3 });
    expect(await format('w1', 3)).toBe(3);
  });

  it('is not held up by a worker that is lost', async () => {
    await start();
    for (const id of ['w1', 'w2']) await coordinator.post(`${path}/register`, registration(id));
    await heartbeat('w2');
    await vi.waitFor(async () => expect(await format('w1', 2)).toBe(2), { timeout: 5_000, interval: 10 });
    expect(await statusOf('w2')).toBe('unhealthy');
  });
});
