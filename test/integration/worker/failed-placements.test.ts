import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { spinFunctions } from '../runtime/spin-functions.ts';
import { StubCoordinator } from './stub-coordinator.ts';
import { type Answer, place, placing, WorkerUnderTest } from './worker-under-test.ts';

/** An event with `rounds` above 0 keeps the engine busy for longer than it may. */
const spinner = `${spinFunctions}
stream Spin = Job
  .emit(n: n, spun: spin(rounds))
`;
const id = 'g_1:p:0';

let stub: StubCoordinator;
let worker: WorkerUnderTest;

beforeEach(async () => {
  stub = await StubCoordinator.start();
  worker = await WorkerUnderTest.start([stub.url], { eventBudgetMs: 300 });
  await place(stub, worker, id, placing(spinner));
  await becomes('running');
});

afterEach(async () => {
  await worker.server.close(5_000);
  await stub.close();
});

const becomes = (status: string): Promise<void> =>
  vi.waitFor(async () => expect((await worker.get(id)).body.status).toBe(status), { timeout: 15_000, interval: 20 });

const jobs = (epoch: number, rounds: readonly number[]): Promise<Answer> =>
  worker.inject(id, {
    epoch,
    first: 1,
    events: rounds.map((times, n) => ({ event_type: 'Job', fields: { n, rounds: times }, timestamp: n })),
  });

describe('a placement whose pipeline has failed', () => {
  it.each([
    ['before it is closed', () => becomes('failed')],
    [
      'while it is closed',
      () => vi.waitFor(async () => expect((await worker.get(id)).body.status).toBe('degraded'), { timeout: 15_000, interval: 20 }),
    ],
  ])('%s is not run again under its epoch, and takes all that it has not worked through under the next', async (_when, isReady) => {
    const refused = jobs(1, [100, 100, 100, 0]);
    await isReady();
    const closed = await worker.post(id, 'close', { epoch: 1 });
    expect(closed.body).toMatchObject({ code: 'pipeline_not_running', error: expect.stringContaining('3 events were given up') });
    expect((await refused).status).toBe(409);
    expect((await worker.get(id)).body).toMatchObject({ status: 'failed', error: expect.stringContaining('3 events were given up') });

    await place(stub, worker, id, placing(spinner, { epoch: 2 }));
    await becomes('running');
    const { results } = (await jobs(2, [0, 0, 0, 0])).body;
    expect(results.map((one: { is_repeat: boolean; accepted: number }) => [one.is_repeat, one.accepted])).toEqual([
      [false, 1],
      [false, 1],
      [false, 1],
      [false, 1],
    ]);
  });
});
