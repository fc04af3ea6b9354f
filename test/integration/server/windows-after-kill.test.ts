import { afterEach, expect, it, vi } from 'vitest';
import { HttpSink } from '../worker/sink.ts';
import { path, post, type Served, serve } from './serving.ts';

const sinks: HttpSink[] = [];
afterEach(async () => {
  for (const sink of sinks.splice(0)) await sink.close();
});

const windows = (url: string): string => `
connector Hook = http (url: "${url}")
stream Sums = A.watermark(idle: 100ms).window(10s).aggregate(n: sum(n), events: count()).emit(n: n, events: events).to(Hook)
`;
const at = (offsetMs: number, n: number): object => ({ event_type: 'A', fields: { n }, timestamp: 1_700_000_000_000 + offsetMs });
const waiting = { timeout: 60_000, interval: 20 };

it('what came late for a window that the clock had closed is late after a crash too', async () => {
  const hook = await HttpSink.start();
  sinks.push(hook);
  const stateDir = path('windows');
  const start = (): Promise<Served> => serve(['--state-dir', stateDir, '--checkpoint-interval', '3600']);
  const inject = async ({ url }: Served, id: string, ...events: object[]): Promise<void> => {
    expect(await post(`${url}/api/v1/pipelines/${id}/events-batch?durable=true`, { events })).toMatchObject({ accepted: events.length });
  };
  const first = await start();
  const { id } = (await post(`${first.url}/api/v1/pipelines`, { name: 'windows', source: windows(hook.url) })) as { id: string };
  await inject(first, id, at(1_000, 1), at(9_950, 2));
  await vi.waitUntil(() => hook.byId.size === 1, waiting);
  await inject(first, id, at(5_000, 4));
  first.cep.kill('SIGKILL');
  const second = await start();
  await inject(second, id, at(29_950, 8));
  await vi.waitUntil(() => hook.byId.size === 2, waiting);
  expect([...hook.byId.values()].map(({ data }) => data)).toEqual([
    { n: 3, events: 2 },
    { n: 8, events: 1 },
  ]);
}, 150_000);
