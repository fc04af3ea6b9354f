import { describe, expect, it } from 'vitest';
import { CepError } from '../../../shared/errors/error.ts';
import { type CoordinatorAnswer, type CoordinatorRequest, NoCoordinator } from '../../../worker/membership/coordinator-client.ts';
import { PlacementTable } from '../../../worker/placements/placement-table.ts';
import { SimulatedHost } from '../coordinator/reconcile/simulated-pipeline.ts';

const id = 'g_1:p:0';
const request = (epoch: number, source: string, more: object = {}) => ({
  ...{ epoch, tenure: 1, revision: `${epoch}`, group: 'g', group_id: 'g_1', pipeline: 'p', replica: 0, replicas: 1 },
  ...{ source, connectors: [], routes: [], ...more },
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const delivery = (sequence: number) => ({
  ...{ epoch: 3, from: { placement_id: '_external', epoch: 0 } },
  batches: [{ sequence, received_at: 0, events: Buffer.from('[]') }],
});

/** A placement that has been asked for. Programs take the place of others when the test says so, and pauses end then. */
async function started(first: ReturnType<typeof request>) {
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const changes: { readonly source: string; readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  /** What was said of checkpoints that were to count, without what the store makes of each. */
  const commits: object[] = [];
  /** Of commits: there is none. */
  const answers: 'none'[] = [];
  const host = new SimulatedHost();
  host.replacing = ({ source }) => new Promise((done, fail) => changes.push({ source, done, fail }));
  const ask = async ({ path, method, body }: CoordinatorRequest): Promise<CoordinatorAnswer> => {
    if (method === 'GET') return { ...taken, status: 404 };
    if (!path.endsWith('/commit')) return taken;
    const { is_former } = body as { readonly is_former?: boolean };
    commits.push(is_former === undefined ? {} : { is_former });
    if (answers.pop() === 'none') throw new NoCoordinator('nobody answers');
    return taken;
  };
  const table = new PlacementTable({
    host,
    coordinators: { url: 'any', learn: () => undefined, ask },
    ...{ now: () => 0, clusterTime: () => 0, post: () => Promise.reject(new Error('there are no routes')) },
    wait: (ms) => new Promise((end) => pauses.push({ ms, end })),
    ...{ report: () => undefined, changed: () => undefined, fenced: () => undefined },
  });
  const beat = async (): Promise<void> => {
    table.acknowledged(table.report(), { sentAt: 0, leaseMs: 1_000, fenced: [] });
    await turns();
  };
  table.put(id, first);
  await turns();
  const told = () => {
    const { epoch, revision, status, error } = table.get(id).view();
    return { epoch, revision, status, ...(error === undefined ? {} : { error }) };
  };
  return { table, host, changes, pauses, commits, answers, beat, told };
}

/** It runs `old` under epoch 1. */
async function running() {
  const all = await started(request(1, 'old'));
  await all.beat();
  return all;
}

const taken = { status: 200, bytes: Buffer.from('{"locations":["node-1"]}'), code: undefined, message: undefined };
const wrong = new CepError('quota_exceeded', 'the program has 501 streams');
const refused = 'its new program cannot run, and the one before runs on: the program has 501 streams';

describe('a placement whose program changes', () => {
  it('has the revision of the program before until the new one has taken its place', async () => {
    const { table, changes, told } = await running();
    expect(told()).toEqual({ epoch: 1, revision: '1', status: 'running' });
    expect(table.put(id, request(2, 'new'))).toMatchObject({ epoch: 2, revision: '1', status: 'running' });
    await turns();
    expect([changes.map(({ source }) => source), told().revision]).toEqual([['new'], '1']);
    changes[0]?.done();
    await turns();
    expect(told()).toEqual({ epoch: 2, revision: '2', status: 'running' });
  });

  it('has the revision of other routes at once, and not while a program is on its way', async () => {
    const { table, changes, told } = await running();
    expect(table.put(id, request(2, 'old')).revision).toBe('2');
    table.put(id, request(3, 'new'));
    await turns();
    expect(table.put(id, request(4, 'old')).revision).toBe('2');
    changes[0]?.done();
    await turns();
    expect([changes.map(({ source }) => source), told().revision]).toEqual([['new', 'old'], '3']);
    changes[1]?.done();
    await turns();
    expect(told().revision).toBe('4');
  });

  it('runs on where the new one cannot run, says so, and tries it again at growing intervals', async () => {
    const { table, host, changes, pauses, told, beat } = await running();
    table.put(id, request(2, 'wrong'));
    await turns();
    changes[0]?.fail(wrong);
    await turns();
    expect(told()).toEqual({ epoch: 2, revision: '2', status: 'degraded', error: refused });
    expect([[...host.pipelines].map(({ isAbandoned }) => isAbandoned), pauses.map(({ ms }) => ms)]).toEqual([[false], [5_000]]);
    pauses.pop()?.end();
    await turns();
    changes[1]?.fail(wrong);
    await turns();
    expect(pauses.map(({ ms }) => ms)).toEqual([10_000]);
    await beat();
    expect(told().status).toBe('degraded');
    pauses.pop()?.end();
    await turns();
    changes[2]?.done();
    await turns();
    expect(told()).toEqual({ epoch: 2, revision: '2', status: 'running' });
  });

  it('is as it was when the program of before is asked for again', async () => {
    const { table, changes, pauses, told } = await running();
    table.put(id, request(2, 'wrong'));
    await turns();
    changes[0]?.fail(wrong);
    await turns();
    table.put(id, request(2, 'wrong', { revision: 'other routes' }));
    expect(told()).toEqual({ epoch: 2, revision: 'other routes', status: 'degraded', error: refused });
    table.put(id, request(3, 'old'));
    await turns();
    expect(told()).toEqual({ epoch: 3, revision: '3', status: 'running' });
    pauses.pop()?.end();
    await turns();
    expect([changes.length, told().status]).toEqual([1, 'running']);
  });

  it('tries a program that it refused at once when it is asked for again', async () => {
    const { table, changes, told } = await running();
    table.put(id, request(2, 'wrong'));
    await turns();
    changes[0]?.fail(wrong);
    await turns();
    expect(table.put(id, request(3, 'wrong'))).toMatchObject({ epoch: 3, revision: '2', status: 'degraded' });
    await turns();
    changes[1]?.done();
    await turns();
    expect(told()).toEqual({ epoch: 3, revision: '3', status: 'running' });
  });

  it('has the revision of before while no coordinator takes the state with which the new one begins', async () => {
    const { table, changes, pauses, told } = await running();
    table.put(id, request(2, 'new'));
    await turns();
    changes[0]?.fail(new CepError('storage_unavailable', 'it is full'));
    await turns();
    expect([told(), pauses.map(({ ms }) => ms)]).toEqual([{ epoch: 2, revision: '1', status: 'running' }, [500]]);
    pauses.pop()?.end();
    await turns();
    changes[1]?.done();
    await turns();
    expect(told()).toEqual({ epoch: 2, revision: '2', status: 'running' });
  });

  it('fails where its pipeline has', async () => {
    const { table, host, changes, told } = await running();
    table.put(id, request(2, 'new'));
    await turns();
    for (const pipeline of host.pipelines) pipeline.status = 'failed';
    changes[0]?.fail(new CepError('pipeline_not_running', 'it broke'));
    await turns();
    expect(told()).toMatchObject({ epoch: 2, status: 'failed', error: 'it broke' });
  });

  it('is not what it was when its lease ends meanwhile', async () => {
    const { table, changes, told } = await running();
    table.put(id, request(2, 'new'));
    await turns();
    table.get(id).fence();
    changes[0]?.fail(new CepError('pipeline_not_found', 'it is gone'));
    await turns();
    expect(told()).toEqual({ epoch: 2, revision: '1', status: 'fenced' });
  });

  it('works what was injected before it came with the program of before, and then changes', async () => {
    const { table, host, changes, pauses, beat, told } = await started(request(3, 'new', { former_source: 'old', ingress_sequence: 2 }));
    await beat();
    expect(told()).toEqual({ epoch: 3, revision: 'former', status: 'running' });
    for (const sequence of [1, 2]) {
      pauses.pop()?.end();
      await turns();
      expect(changes).toEqual([]);
      await table.deliver(id, delivery(sequence) as never);
    }
    pauses.pop()?.end();
    await turns();
    changes[0]?.done();
    await turns();
    expect(told()).toEqual({ epoch: 3, revision: '3', status: 'running' });
    await table.deliver(id, delivery(3) as never);
    expect(host.worked.map(({ sequence, program }) => [sequence, program])).toEqual([
      [1, 'old'],
      [2, 'old'],
      [3, 'new'],
    ]);
  });

  it('changes only behind what was injected before it came, whenever it is asked for', async () => {
    const { table, changes, pauses, beat } = await started(request(1, 'old', { ingress_sequence: 1 }));
    await beat();
    table.put(id, request(2, 'new', { former_source: 'old', ingress_sequence: 5 }));
    await turns();
    expect(changes).toEqual([]);
    await table.deliver(id, { ...delivery(1), epoch: 2 } as never);
    pauses.pop()?.end();
    await turns();
    expect(changes.map(({ source }) => source)).toEqual(['new']);
  });

  it('says of which program its checkpoints are', async () => {
    const { table, changes, commits } = await running();
    table.put(id, request(2, 'new', { former_source: 'old' }));
    await table.get(id).pipeline?.saveNow();
    await turns();
    changes[0]?.done();
    await turns();
    await table.get(id).pipeline?.saveNow();
    expect(commits).toEqual([{ is_former: true }, {}, {}]);
  });

  it('waits for what became of the checkpoint with which its program changes, and only of that', async () => {
    const { table, changes, pauses, commits, answers, told, host } = await running();
    answers.push('none');
    expect(await table.get(id).pipeline?.saveNow()).toBe(false);
    table.put(id, request(2, 'new'));
    await turns();
    answers.push('none', 'none');
    changes[0]?.done();
    await turns();
    const worked = table.deliver(id, { ...delivery(1), epoch: 2 } as never);
    for (const revision of ['1', '1', '2']) {
      expect([told().revision, host.worked.length]).toEqual([revision, revision === '1' ? 0 : 1]);
      pauses.pop()?.end();
      await turns();
    }
    await worked;
    expect([commits.length, host.worked.map(({ program }) => program)]).toEqual([4, ['new']]);
  });
});
