import { afterEach, describe, expect, it, vi } from 'vitest';
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
});
