import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebDoor } from '../../shared/outbound/web-door.ts';
import { CoordinatorGroup, coordinatorKey } from './coordinator.ts';
import { ModelWorker } from './model-worker.ts';
import { uniqueName } from './service.ts';

const path = '/api/v1/cluster/connectors';
const kafka = (name = uniqueName().replace('-', '_')): { name: string; connector_type: string; params: object } => ({
  ...{ name, connector_type: 'kafka', params: { brokers: 'k:9092' } },
});
const wait = { timeout: 30_000, interval: 20 };
/** All that a member shows of the cluster, and not one thing of it by its name. */
const shown = [
  ...['connectors', 'pipeline-groups', 'workers', 'topology', 'metrics', 'scaling', 'events', 'migrations'],
  ...['raft', 'raft/status', 'raft/members'],
].map((name) => `/api/v1/cluster/${name}`);

describe('a group of coordinators', () => {
  let group: CoordinatorGroup;

  beforeAll(async () => {
    group = await CoordinatorGroup.start();
  }, 60_000);

  afterAll(() => group.close());

  it('hands on what follows a refusal, although the group keeps nothing of that', async () => {
    const unknown = `${path}/nobody_made_this`;
    for (const id of [1, 2, 3]) {
      const refused = await Promise.all([1, 2, 3].map(() => group.ask(id, 'DELETE', unknown)));
      expect(refused.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect((await group.ask(id, 'POST', path, { body: kafka() })).status).toBe(201);
    }
  });

  it('takes changes through any member, which shows them from then on', async () => {
    for (const id of [1, 2, 3]) {
      const connector = kafka();
      const made = await group.ask(id, 'POST', path, { body: connector, headers: { 'x-request-id': `made-by-${id}` } });
      expect([made.status, made.body.name, made.headers.get('x-request-id')]).toEqual([201, connector.name, `made-by-${id}`]);
      expect((await group.ask(id, 'GET', `${path}/${connector.name}`)).status).toBe(200);
      for (const other of [1, 2, 3]) {
        const read = await group.ask(other, 'GET', `${path}/${connector.name}?consistency=strong`);
        expect([read.status, read.headers.get('x-cep-consistency')]).toEqual([200, 'strong']);
      }
    }
  });

  it('shows all that it shows as fresh as it is asked to', async () => {
    const follower = await group.follower();
    const ways = async (consistency: string): Promise<unknown> => {
      const answers = await Promise.all(shown.map((at) => group.ask(follower, 'GET', `${at}?consistency=${consistency}`)));
      return answers.map(({ status, headers }) => `${status} ${headers.get('x-cep-consistency')}`);
    };
    expect([await ways('strong'), await ways('stale')]).toEqual(['200 strong', '200 stale'].map((way) => shown.map(() => way)));
    for (const at of ['workers/nobody', 'migrations/none']) {
      expect((await group.ask(follower, 'GET', `/api/v1/cluster/${at}?consistency=strong`)).status).toBe(404);
    }
    const { body } = await group.ask(follower, 'GET', '/api/v1/cluster/raft/status?consistency=strong');
    expect(body.role).toBe('leader');
  });

  it('hands on refusals as the leader says them', async () => {
    const follower = await group.follower();
    const connector = kafka();
    await group.ask(follower, 'POST', path, { body: connector });
    const taken = await group.ask(follower, 'POST', path, { body: connector, headers: { 'x-request-id': 'mine-8' } });
    expect([taken.status, taken.body.code, taken.body.request_id]).toEqual([409, 'name_taken', 'mine-8']);
  });

  it('knows a repeat through another member', async () => {
    const headers = { 'idempotency-key': uniqueName() };
    const body = kafka();
    const answers = await Promise.all([1, 2, 3].map((id) => group.ask(id, 'POST', path, { body, headers })));
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual(Array(3).fill(`201 ${answers[0]?.text}`));
    const other = await group.ask(1, 'POST', path, { body: kafka(), headers });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_conflict']);
  });

  it('hands a request on once, and names the leader to whom that is not enough', async () => {
    const follower = await group.follower();
    const answer = await group.ask(follower, 'POST', path, { body: kafka(), headers: { 'x-cep-forwarded': '9' } });
    expect([answer.status, answer.body.code, answer.body.details.leader_url]).toEqual([421, 'not_leader', group.url(await group.leader())]);
  });

  it('names pipelines alike at every member, and tells a client that repeats an injection what came of it when another leads', async () => {
    const groups = '/api/v1/cluster/pipeline-groups';
    const worker = await ModelWorker.start('w1', group.url(await group.follower()), { key: coordinatorKey, intervalMs: 1_000 });
    const pipelines = [{ name: 'p', source: 'stream S = Login .emit(user: user)' }];
    const made = await vi.waitFor(async () => {
      const answer = await group.ask(1, 'POST', groups, { body: { name: 'fraud', pipelines } });
      if (answer.status === 503) throw new Error(answer.text); // The worker is not ready yet.
      return answer;
    }, wait);
    await vi.waitFor(async () => {
      const asked = [1, 2, 3].flatMap((at) => [`${groups}/fraud`, groups].map((path) => group.ask(at, 'GET', path)));
      const shownBy = (await Promise.all(asked)).flatMap(({ body }) => body);
      const ids = [made.body, ...shownBy].map(({ deployments }) => deployments[0].pipeline_id);
      expect(ids).toEqual(Array(7).fill(`${made.body.id}-p-0`));
    }, wait);
    const inject = async (key: string): Promise<unknown> => {
      const body = { event_type: 'Login', fields: { user: key } };
      const answer = await group.ask(await group.leader(), 'POST', `${groups}/fraud/inject`, { body, headers: { 'idempotency-key': key } });
      return [answer.status, answer.body.accepted];
    };
    const id = `${made.body.id}:p:0`;
    expect([await inject('in a checkpoint'), await inject('only in memory')]).toEqual(Array(2).fill([200, true]));
    await group.ask(1, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: await group.follower() } });
    expect(await inject('only in memory')).toEqual([200, true]);
    await worker.checkpoint(id);
    await group.ask(1, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: await group.follower() } });
    expect(await inject('in a checkpoint')).toEqual([200, true]);
    expect(worker.held.get(id)?.seen).toHaveLength(2);
    await worker.kill();
    await group.ask(1, 'DELETE', `${groups}/fraud`);
    await group.ask(1, 'DELETE', '/api/v1/cluster/workers/w1');
  }, 60_000);

  it('hands a request on with its path as it came', async () => {
    const follower = await group.follower();
    const post = (path: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const headers = { 'x-api-key': coordinatorKey, 'content-type': 'application/json' };
        const sent = request(group.url(follower), { method: 'POST', path, headers }, (answer) => {
          void json(answer).then((body) => resolve((body as { error?: string }).error));
        });
        sent.on('error', reject).end(JSON.stringify({ event_type: 'Login', fields: {} }));
      });
    const groups = '/api/v1/cluster/pipeline-groups';
    for (const [path, name] of [
      [`${groups}/%2e%2e/inject`, '..'],
      [`${groups}/../inject`, '..'],
      [`${groups}/a%2Fb%23%3f%25/inject`, 'a/b#?%'],
      // As it is sent to a proxy, which a server takes as well.
      [`${group.url(follower)}${groups}/whole/inject`, 'whole'],
    ] as const) {
      expect(await post(path)).toBe(`the cluster has no pipeline group '${name}'`);
    }
  });

  it('judges a change by what any member has acknowledged before, wherever it is asked', async () => {
    const [leader, follower] = [await group.leader(), await group.follower()];
    const groups = '/api/v1/cluster/pipeline-groups';
    const pipelines = (source: string) => [{ name: 'p', source }];
    const source = 'stream S = Login .emit(user: user)';
    const found: unknown[] = [];
    for (let round = 0; round < 10; round++) {
      const [name, connector] = [`seen-${round}`, `Seen${round}`];
      const statuses: number[] = [];
      const told = async (...[at, method, path, body]: [at: number, method: string, path: string, body?: object]): Promise<void> => {
        statuses.push((await group.ask(at, method, path, body && { body })).status);
      };
      await told(leader, 'POST', `${groups}?wait=false`, { name, pipelines: pipelines(source) });
      await told(follower, 'PUT', `${groups}/${name}?wait=false`, { pipelines: pipelines(`${source}\n`) });
      await told(leader, 'DELETE', `${groups}/${name}`);
      await told(leader, 'POST', `${groups}?wait=false`, { name, pipelines: pipelines(source) });
      await told(follower, 'DELETE', `${groups}/${name}`);
      await told(leader, 'POST', path, { name: connector, connector_type: 'console', params: {} });
      await told(follower, 'POST', `${groups}?wait=false`, { name, pipelines: pipelines(`${source} .to(${connector})`) });
      await told(follower, 'DELETE', `${groups}/${name}`);
      await told(leader, 'DELETE', `${path}/${connector}`);
      await told(follower, 'POST', `${groups}?wait=false`, { name, pipelines: pipelines(`${source} .to(${connector})`) });
      found.push(statuses);
    }
    expect(found).toEqual(Array(10).fill([202, 202, 200, 202, 200, 201, 202, 200, 200, 400]));
    expect((await group.ask(follower, 'DELETE', `${groups}/seen-0`)).body.code).toBe('group_not_found');
    const unknown = await group.ask(follower, 'PUT', `${groups}/seen-0`, { body: { pipelines: pipelines(source) } });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'group_not_found']);
  }, 60_000);

  it('says through any member what a change means for the state of a group', async () => {
    const groups = '/api/v1/cluster/pipeline-groups';
    const name = uniqueName();
    const bodyOf = (replicas: number) => ({
      pipelines: [{ name: 'p', source: 'stream S = Login .emit(user: user)', replicas, partition_key: 'user' }],
    });
    await group.ask(await group.leader(), 'POST', `${groups}?wait=false`, { body: { name, ...bodyOf(1) } });
    for (const [at, id] of [await group.leader(), await group.follower()].entries()) {
      const { status, body } = await group.ask(id, 'PUT', `${groups}/${name}?wait=false`, { body: bodyOf(at + 2) });
      expect([status, body.version, (body as { warnings?: unknown[] }).warnings?.length]).toEqual([202, at + 2, 1]);
    }
    await group.ask(await group.leader(), 'DELETE', `${groups}/${name}?wait=false`);
  });

  it('checks a program by the connectors that any member has acknowledged before, wherever it is asked', async () => {
    const [leader, follower] = [await group.leader(), await group.follower()];
    const found: unknown[] = [];
    for (let round = 0; round < 10; round++) {
      const name = `Checked${round}`;
      const check = async (): Promise<unknown> => {
        const source = `stream S = Login .emit(user: user) .to(${name})`;
        const { status, headers, body } = await group.ask(follower, 'POST', '/api/v1/cluster/validate', { body: { source } });
        return [status, (body as { valid?: boolean }).valid, headers.get('x-cep-consistency')];
      };
      await group.ask(leader, 'POST', path, { body: { name, connector_type: 'console', params: {} } });
      const made = await check();
      await group.ask(leader, 'DELETE', `${path}/${name}`);
      found.push([made, await check()]);
    }
    expect(found).toEqual(
      Array(10).fill([
        [200, true, null],
        [200, false, null],
      ]),
    );
  });

  it('judges a change where the log has gone on without a command, as when another member begins to lead', async () => {
    const groups = '/api/v1/cluster/pipeline-groups';
    const pipelines = [{ name: 'p', source: 'stream S = Login .emit(user: user)' }];
    for (const id of [1, 2, 3]) {
      await group.ask(id, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: await group.follower() } });
      await group.leader();
      const made = await group.ask(id, 'POST', `${groups}?wait=false`, { body: { name: `led-${id}`, pipelines } });
      expect([made.status, made.body.code]).toEqual([202, undefined]);
      expect((await group.ask(id, 'DELETE', `${groups}/led-${id}`)).status).toBe(200);
    }
  }, 60_000);

  it('drains a worker through any member, which waits itself', async () => {
    const [leader, follower] = [await group.leader(), await group.follower()];
    const start = (id: string) => ModelWorker.start(id, group.url(follower), { key: coordinatorKey, intervalMs: 1_000 });
    const drain = (id: number, seconds: number, headers = {}) =>
      group.ask(id, 'POST', '/api/v1/cluster/workers/w3/drain', { body: { timeout_secs: seconds }, headers });
    const workers = [await start('w3')];
    const groups = '/api/v1/cluster/pipeline-groups';
    const body = { name: 'drained', pipelines: [{ name: 'p', source: 'stream S = Login .emit(user: user)' }] };
    await vi.waitFor(async () => expect((await group.ask(follower, 'POST', groups, { body })).status).toBe(201), wait);
    // What a member hands on is answered at once, however long its client waits.
    const handedOn = await drain(leader, 600, { 'x-cep-forwarded': String(follower), 'x-cep-waits': 'true' });
    expect([handedOn.status, handedOn.body]).toEqual([202, { worker_id: 'w3', status: 'draining' }]);
    // A member of the version before leaves the waiting to the leader.
    expect(await drain(leader, 0.1, { 'x-cep-forwarded': String(follower) })).toMatchObject({
      status: 409,
      body: { code: 'drain_incomplete' },
    });
    const left = await drain(follower, 0.1);
    expect([left.status, left.body.code, left.body.details?.pipelines.length]).toEqual([409, 'drain_incomplete', 1]);
    const waiting = drain(follower, 30);
    workers.push(await start('w4'));
    const done = await waiting;
    expect([done.status, done.body]).toEqual([200, { worker_id: 'w3', pipelines_migrated: 1, status: 'drained' }]);
    expect(await drain(follower, 1)).toMatchObject({ status: 200, body: { pipelines_migrated: 0 } });
    await Promise.all(workers.map((worker) => worker.kill()));
    await group.ask(follower, 'DELETE', `${groups}/drained?wait=false`);
    for (const id of ['w3', 'w4']) await group.ask(follower, 'DELETE', `/api/v1/cluster/workers/${id}`);
  }, 60_000);

  it('judges a change of a connector for as long as it takes, and no longer than its client waits, whichever member was asked', async () => {
    const follower = await group.follower();
    const [connector, { validate }] = [kafka(), group];
    const pipelines = [{ name: 'p', source: `stream S = Login.from(${connector.name}, topic: "t") .emit(user: user)` }];
    const groups = '/api/v1/cluster/pipeline-groups';
    await group.ask(follower, 'POST', path, { body: connector });
    expect((await group.ask(follower, 'POST', `${groups}?wait=false`, { body: { name: 'judging', pipelines } })).status).toBe(202);
    let judged: AbortSignal | undefined;
    group.validate = (_, { signal }) => {
      judged = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('nobody waits any more'))));
    };
    const sent = vi.spyOn(WebDoor.prototype, 'request');
    const url = `${group.url(follower)}${path}/${connector.name}`;
    const client = new AbortController();
    const asked = fetch(url, { method: 'DELETE', headers: { 'x-api-key': coordinatorKey }, signal: client.signal });
    await vi.waitFor(() => expect(judged).toBeDefined(), wait);
    const [, forwarded] =
      sent.mock.calls.find(([{ pathname }, { method }]) => method === 'DELETE' && pathname.endsWith(connector.name)) ?? [];
    expect([forwarded?.deadlineMs, forwarded?.headersMs]).toEqual([600_000, 600_000]);
    client.abort();
    await expect(asked).rejects.toThrow();
    await vi.waitFor(() => expect(judged?.aborted).toBe(true), wait);
    group.validate = validate;
    sent.mockRestore();
    const refused = await group.ask(follower, 'DELETE', `${path}/${connector.name}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'transition_refused']);
    await group.ask(follower, 'DELETE', `${groups}/judging?wait=false`);
  });

  it('asks the next leader for a change of a connector that the one before has not judged yet', async () => {
    const [leader, follower, connector, { validate }] = [await group.leader(), await group.follower(), kafka(), group];
    const other = [1, 2, 3].find((id) => id !== leader && id !== follower) as number;
    const pipelines = [{ name: 'p', source: `stream S = Login.from(${connector.name}, topic: "t") .emit(user: user)` }];
    const groups = '/api/v1/cluster/pipeline-groups';
    await group.ask(leader, 'POST', path, { body: connector });
    expect((await group.ask(leader, 'POST', `${groups}?wait=false`, { body: { name: 'judging', pipelines } })).status).toBe(202);
    let isJudging = false;
    group.validate = () => {
      isJudging = true;
      return new Promise(() => undefined);
    };
    const asked = group.ask(follower, 'DELETE', `${path}/${connector.name}`);
    await vi.waitFor(() => expect(isJudging).toBe(true), wait);
    group.validate = validate;
    expect((await group.ask(other, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: other } })).status).toBe(200);
    const { status, body } = await asked;
    expect([status, body.code]).toEqual([409, 'transition_refused']);
    await group.ask(other, 'DELETE', `${groups}/judging?wait=false`);
  }, 60_000);

  it('says who its members are', async () => {
    const leader = await group.leader();
    const { body } = await group.ask(await group.follower(), 'GET', '/api/v1/cluster/raft/members');
    expect(body).toEqual([1, 2, 3].map((id) => ({ id, url: group.url(id), role: id === leader ? 'leader' : 'follower', reachable: true })));
    const page = await group.ask(leader, 'GET', '/api/v1/cluster/raft/members?limit=1&offset=1');
    expect([page.body, page.headers.get('x-total-count')]).toMatchObject([[{ id: 2 }], '3']);
  });

  it('refuses members that it cannot have, and changes that it cannot bear', async () => {
    const leader = await group.leader();
    const members = '/api/v1/cluster/raft/members';
    const ask = async (method: string, at: string, body?: object): Promise<unknown> => {
      const answer = await group.ask(1, method, at, body === undefined ? {} : { body });
      return [answer.status, answer.body.code];
    };
    expect(await ask('POST', members, { id: 9, url: 'ftp://a' })).toEqual([400, 'validation_error']);
    expect(await ask('POST', members, { id: 9, url: group.url(2) })).toEqual([409, 'member_conflict']);
    const voting = await group.ask(1, 'POST', members, { body: { id: leader, url: group.url(leader) } });
    expect([voting.status, voting.body.role]).toEqual([201, 'leader']);
    const headers = { 'idempotency-key': uniqueName() };
    const [known, another] = [leader, await group.follower()].map((id) => ({ body: { id, url: group.url(id) }, headers }));
    expect((await group.ask(2, 'POST', members, known)).status).toBe(201);
    expect((await group.ask(1, 'POST', members, another)).body.code).toBe('idempotency_conflict');
    expect(await ask('POST', `${members}/9/promote`)).toEqual([404, 'member_not_found']);
    expect(await ask('DELETE', `${members}/9`)).toEqual([404, 'member_not_found']);
    expect(await ask('DELETE', `${members}/${leader}`)).toEqual([409, 'member_conflict']);
  });

  it('lets another one lead when it is asked to', async () => {
    const follower = await group.follower();
    const { status, body } = await group.ask(1, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: follower } });
    expect([status, body]).toEqual([200, { leader_id: follower }]);
    expect(await group.leader()).toBe(follower);
  });
});

describe('a group that loses members', () => {
  let group: CoordinatorGroup;

  afterEach(() => group.close());

  it('goes on when its leader ends, with everything that it answered', async () => {
    group = await CoordinatorGroup.start();
    const headers = { 'idempotency-key': uniqueName() };
    const body = kafka();
    const follower = await group.follower();
    const first = await group.ask(follower, 'POST', path, { body, headers });
    await group.stop(await group.leader());
    const again = await group.ask(follower, 'POST', path, { body, headers });
    expect([again.status, again.body]).toEqual([201, first.body]);
    const { body: all } = await group.ask(follower, 'GET', `${path}?consistency=strong`);
    expect(all).toEqual([first.body]);
  }, 60_000);

  it('says of a checkpoint that it cannot be asked for now, not that there is none, while those are away that have it', async () => {
    group = await CoordinatorGroup.start();
    const at = (id: number, name: string): string => `${group.url(id)}/api/v1/cluster/checkpoints/${name}`;
    const headers = { 'x-api-key': coordinatorKey, 'content-type': 'application/octet-stream' };
    const put = await fetch(at(1, 'g:p:0/7/1'), { method: 'PUT', headers, body: 'its state' });
    const { locations } = (await put.json()) as { locations: string[] };
    const third = [1, 2, 3].find((id) => !locations.includes(`node-${id}`)) as number;
    const get = async (name: string): Promise<unknown> => {
      const answer = await fetch(at(third, name), { headers });
      return [answer.status, answer.ok ? await answer.text() : ((await answer.json()) as { code: string }).code];
    };
    expect([locations.length, await get('g:p:0/7/1'), await get('g:p:0/7/2')]).toEqual([
      2,
      [200, 'its state'],
      [404, 'checkpoint_not_found'],
    ]);
    const holders = [1, 2, 3].filter((id) => id !== third);
    for (const id of holders) await group.stop(id);
    expect(await get('g:p:0/7/1')).toEqual([503, 'storage_unavailable']);
    for (const id of holders) await group.startMember(id);
    await vi.waitFor(async () => expect(await get('g:p:0/7/1')).toEqual([200, 'its state']), wait);
  }, 60_000);

  it('says that it has no leader, does nothing, and shows what it has', async () => {
    group = await CoordinatorGroup.start();
    const kept = kafka();
    const [last, ...others] = [await group.follower(), await group.leader()] as const;
    await group.ask(last, 'POST', path, { body: kept });
    for (const id of [...others, ...[1, 2, 3].filter((one) => one !== last && !(others as number[]).includes(one))]) await group.stop(id);
    await vi.waitFor(async () => {
      const { body } = await group.ask(last, 'GET', '/api/v1/cluster/raft/status');
      expect(body.leader_id).toBeNull();
    }, wait);
    const refused = await group.ask(last, 'POST', path, { body: kafka() });
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'no_leader', '1']);
    const strong = await group.ask(last, 'GET', `${path}?consistency=strong`);
    expect([strong.status, strong.body.code]).toEqual([503, 'no_leader']);
    const old = await Promise.all(shown.map((at) => group.ask(last, 'GET', at)));
    expect(old.map(({ headers }) => headers.get('x-cep-consistency'))).toEqual(shown.map(() => 'stale'));
    const stale = await group.ask(last, 'GET', path);
    expect([stale.body.map(({ name }: { name: string }) => name), stale.headers.get('x-cep-consistency')]).toEqual([[kept.name], 'stale']);
    expect((await group.ask(last, 'GET', '/health')).body.status).toBe('critical');
    expect(await group.ask(last, 'GET', '/ready')).toMatchObject({
      status: 503,
      body: { code: 'not_ready', status: 'not_ready', reason: 'no_leader', retry_after_seconds: 1 },
    });
  }, 60_000);

  it('takes a fourth member in, lets it vote, and lets another one go whose number is used up', async () => {
    group = await CoordinatorGroup.start(4);
    const members = '/api/v1/cluster/raft/members';
    const connector = kafka();
    await group.ask(1, 'POST', path, { body: connector });
    await group.startMember(4);
    const add = { body: { id: 4, url: group.url(4) }, headers: { 'idempotency-key': 'add-4' } };
    const added = await group.ask(1, 'POST', members, add);
    expect([added.status, added.body]).toEqual([201, { id: 4, url: group.url(4), role: 'learner' }]);
    await vi.waitFor(async () => expect((await group.ask(4, 'GET', `${path}/${connector.name}`)).status).toBe(200), wait);
    await vi.waitFor(async () => expect((await group.ask(4, 'POST', `${members}/4/promote`)).status).toBe(200), wait);
    const gone = await group.follower();
    await group.stop(gone);
    await vi.waitFor(async () => expect((await group.ask(4, 'DELETE', `${members}/${gone}`)).body).toEqual({ removed: true }), wait);
    const again = await group.ask(4, 'POST', members, { body: { id: gone, url: group.url(gone) } });
    expect([again.status, again.body.code]).toEqual([409, 'member_conflict']);
    const { body } = await group.ask(4, 'GET', members);
    expect(body.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3, 4].filter((id) => id !== gone));
    const other = [1, 2, 3].find((id) => id !== gone) as number;
    await vi.waitFor(async () => expect((await group.ask(other, 'DELETE', `${members}/4`)).body).toEqual({ removed: true }), wait);
    const repeated = await group.ask(other, 'POST', members, add);
    expect([repeated.status, repeated.body.code]).toEqual([409, 'member_conflict']);
    const { body: left } = await group.ask(other, 'GET', members);
    expect(left.map(({ id }: { id: number }) => id)).not.toContain(4);
  }, 60_000);

  it('tells a member that was removed and still runs that it is none any more, in its probes', async () => {
    group = await CoordinatorGroup.start();
    const gone = await group.follower();
    const removed = await group.ask(await group.leader(), 'DELETE', `/api/v1/cluster/raft/members/${gone}`);
    expect(removed.body).toEqual({ removed: true });
    await vi.waitFor(async () => expect((await group.ask(gone, 'GET', '/health')).body.raft).toMatchObject({ removed: true }), wait);
    const ready = await group.ask(gone, 'GET', '/ready');
    expect([ready.status, ready.body.error]).toEqual([503, 'this member was removed from the group: stop it']);
    expect(ready.body).toMatchObject({ status: 'not_ready', reason: 'removed' });
    expect((await group.ask(gone, 'GET', '/api/v1/cluster/raft/status')).body.removed).toBe(true);
    const { body } = await group.ask(await group.leader(), 'GET', '/health');
    expect(body.raft).not.toHaveProperty('removed');
  }, 60_000);

  it('gives no vote to a member that was never started, which would be missing from every majority', async () => {
    group = await CoordinatorGroup.start(4);
    const members = '/api/v1/cluster/raft/members';
    await group.ask(1, 'POST', members, { body: { id: 4, url: group.url(4) } });
    const early = await group.ask(1, 'POST', `${members}/4/promote`);
    expect([early.status, early.body.code, early.body.error]).toEqual([
      ...[409, 'member_conflict'],
      `member 4 at ${group.url(4)} cannot be reached, and its vote would be missing`,
    ]);
    await group.startMember(4);
    await vi.waitFor(async () => expect((await group.ask(1, 'POST', `${members}/4/promote`)).status).toBe(200), wait);
  }, 60_000);

  it('of five members has the checkpoint of a pipeline whose worker is lost with two that had it', async () => {
    group = await CoordinatorGroup.start(5);
    const members = '/api/v1/cluster/raft/members';
    for (const id of [4, 5]) {
      await group.startMember(id);
      await group.ask(1, 'POST', members, { body: { id, url: group.url(id) } });
      await vi.waitFor(async () => expect((await group.ask(1, 'POST', `${members}/${id}/promote`)).status).toBe(200), wait);
    }
    const worker = await ModelWorker.start('w1', group.url(1), { key: coordinatorKey, intervalMs: 1_000 });
    const body = { name: 'five', pipelines: [{ name: 'p', source: 'stream S = Login .emit(user: user)' }] };
    const id = await vi.waitFor(async () => {
      const answer = await group.ask(1, 'POST', '/api/v1/cluster/pipeline-groups', { body });
      if (answer.status !== 201) throw new Error(answer.text); // The worker is not ready yet.
      return `${answer.body.id}:p:0`;
    }, wait);
    await worker.checkpoint(id);
    const at = `/api/v1/cluster/checkpoints/${encodeURIComponent(id)}`;
    const { body: written } = await group.ask(1, 'GET', `${at}?consistency=strong`);
    const holders = (written.locations as string[]).map((name) => Number(name.slice('node-'.length)));
    await worker.kill();
    for (const holder of holders.slice(0, 2)) await group.stop(holder);
    await group.leader();
    const answers = await Promise.all(
      [...group.running.keys()].map((left) => group.ask(left, 'GET', `${at}/${written.epoch}/${written.sequence}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }, 90_000);

  it('keeps the checkpoint of a pipeline that has nothing to do on two members, while all that had it are replaced', async () => {
    group = await CoordinatorGroup.start(5);
    const members = '/api/v1/cluster/raft/members';
    const worker = await ModelWorker.start('w1', group.url(1), { key: coordinatorKey, intervalMs: 1_000 });
    const body = { name: 'idle', pipelines: [{ name: 'p', source: 'stream S = Login .emit(user: user)' }] };
    const made = await vi.waitFor(async () => {
      const answer = await group.ask(1, 'POST', '/api/v1/cluster/pipeline-groups', { body });
      if (answer.status !== 201) throw new Error(answer.text); // The worker is not ready yet.
      return answer.body.id as string;
    }, wait);
    const name = encodeURIComponent(`${made}:p:0`);
    await worker.checkpoint(`${made}:p:0`);
    // As a worker asks that does not know whether its commit counts.
    const asked = await group.ask(1, 'GET', `/api/v1/cluster/checkpoints/${name}?consistency=strong`);
    expect([asked.status, asked.headers.get('x-cep-consistency')]).toEqual([200, 'strong']);
    const { body: written } = asked;
    const holders = [1, 2, 3].filter((id) => written.locations.includes(`node-${id}`));
    expect(holders).toHaveLength(2);
    const staying = [1, 2, 3].find((id) => !holders.includes(id)) as number;
    await vi.waitFor(async () => {
      await group.ask(staying, 'POST', '/api/v1/cluster/raft/transfer', { body: { to: staying } });
      expect(await group.leader()).toBe(staying);
    }, wait);
    for (const [at, gone] of holders.entries()) {
      const fresh = 4 + at;
      await group.startMember(fresh);
      await group.ask(staying, 'POST', members, { body: { id: fresh, url: group.url(fresh) } });
      await vi.waitFor(async () => expect((await group.ask(staying, 'POST', `${members}/${fresh}/promote`)).status).toBe(200), wait);
      await vi.waitFor(
        async () => expect((await group.ask(staying, 'DELETE', `${members}/${gone}`)).body).toEqual({ removed: true }),
        wait,
      );
      await group.stop(gone);
    }
    const bytesAt = `/api/v1/cluster/checkpoints/${name}/${written.epoch}/${written.sequence}`;
    const own = await Promise.all([staying, 4, 5].map((id) => group.ask(id, 'GET', bytesAt, { headers: { 'x-cep-member': '9' } })));
    expect(own.filter(({ status }) => status === 200)).toHaveLength(2);
    const any = await Promise.all([staying, 4, 5].map((id) => group.ask(id, 'GET', bytesAt)));
    expect(any.map(({ status }) => status)).toEqual([200, 200, 200]);
    await worker.kill();
  }, 60_000);
});
